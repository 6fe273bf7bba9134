// A place for items: dropped, chosen, or taken with the camera, the microphone or the keyboard.

import { button, element, freshId, replace } from "../dom.js";
import { failure, speak } from "../telling.js";
import { takePicture } from "./camera.js";
import { words } from "./medium.js";
import { recordSound } from "./microphone.js";
import { typeNumbers } from "./numbers.js";
import { preview } from "./preview.js";

const TAKE = {
  camera: ["Use the camera", takePicture],
  microphone: ["Record", recordSound],
  numbers: ["Type numbers", typeNumbers],
};

// label: the name of the place. several: whether it takes more than one item. changed(files): told after each change.
// rest(files): gets what was dropped beyond the one that fits, if given.
export class Picker {
  constructor(info, { label, several = false, changed, rest = null }) {
    Object.assign(this, { info, label, several, changed, rest, files: [] });
    this.shown = element("div", { class: "picked" });
    this.problem = element("div", {});
    this.taking = element("div", { class: "taking" });
    this.element = element(
      "div",
      { class: "picker", role: "group", "aria-label": label },
      element("p", { class: "picker-label" }, label),
      this.shown,
      this.taking,
      this.controls(),
      this.problem,
    );
    this.listen();
    this.draw();
  }

  controls() {
    const called = words(this.info);
    const id = freshId("files");
    this.input = element("input", {
      id,
      type: "file",
      class: "hidden-input",
      multiple: this.several || this.rest !== null,
      accept: (this.info.endings ?? []).join(","),
      "aria-label": `${this.label}: choose ${called.a} from this machine`,
      onchange: () => {
        this.take([...this.input.files]);
        this.input.value = "";
      },
    });
    const take = TAKE[called.take];
    this.hint = element("p", { class: "hint" }, `Drop ${this.several ? called.many : called.a} here`);
    return element(
      "div",
      { class: "picker-controls" },
      this.hint,
      element(
        "div",
        { class: "row" },
        this.input,
        element("label", { for: id, class: "button" }, this.several ? "Choose files" : "Choose a file"),
        take && button(take[0], () => this.start(take[1]), { "aria-label": `${this.label}: ${take[0]}` }),
      ),
    );
  }

  listen() {
    const over = (event) => {
      event.preventDefault();
      this.element.classList.add("over");
    };
    const out = () => this.element.classList.remove("over");
    this.element.addEventListener("dragenter", over);
    this.element.addEventListener("dragover", over);
    this.element.addEventListener("dragleave", out);
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      out();
      this.take([...event.dataTransfer.files]);
    });
  }

  // Camera, microphone or keyboard, in place of the buttons until done.
  async start(taker) {
    this.element.classList.add("is-taking");
    replace(this.problem);
    try {
      const file = await taker(this.taking, this.info);
      if (file) this.take([file]);
    } catch (error) {
      replace(this.problem, failure(error));
    } finally {
      replace(this.taking);
      this.element.classList.remove("is-taking");
    }
  }

  take(files) {
    replace(this.problem);
    if (files.length === 0) return;
    if (this.several) this.files = [...this.files, ...files];
    else {
      this.files = files.slice(0, 1);
      if (files.length > 1) this.rest?.(files.slice(1));
    }
    speak(`${this.label}: ${this.files.map((file) => file.name).join(", ")}`);
    this.draw();
    this.changed(this.files);
  }

  remove(file) {
    this.files = this.files.filter((other) => other !== file);
    this.draw();
    this.changed(this.files);
    this.input.focus();
  }

  clear() {
    this.files = [];
    this.draw();
  }

  draw() {
    this.element.classList.toggle("filled", this.files.length > 0);
    for (const image of this.shown.querySelectorAll("[data-address]"))
      URL.revokeObjectURL(image.dataset.address);
    replace(
      this.shown,
      this.files.map((file) => preview(file, this.info, () => this.remove(file))),
    );
  }
}
