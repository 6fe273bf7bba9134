// What happens, told to eyes and to screen readers.

import { element, replace } from "./dom.js";

// Spoken by a screen reader, not shown: an answer that has appeared elsewhere on the page.
export function speak(words) {
  document.getElementById("spoken").textContent = words;
}

export const failure = (error) => element("p", { class: "error", role: "alert" }, error.message);

export const note = (...words) => element("p", { class: "note" }, ...words);

// Where there is nothing yet: why, and the command that changes it.
export function nothing(title, words, command = null) {
  return element(
    "div",
    { class: "empty" },
    element("h2", {}, title),
    element("p", {}, words),
    command && element("pre", {}, element("code", {}, command)),
  );
}

// A place for the answer of a question: busy, then the answer or the sentence of the error.
export class Answer {
  constructor() {
    this.element = element("div", { class: "answer", "aria-busy": "false" });
    this.asked = 0;
  }

  clear() {
    this.asked += 1;
    this.element.setAttribute("aria-busy", "false");
    replace(this.element);
  }

  // make() gives the elements of the answer; only the latest question is answered.
  async show(make, words = "Working …") {
    const asked = ++this.asked;
    this.element.setAttribute("aria-busy", "true");
    if (!this.element.hasChildNodes()) replace(this.element, element("p", { class: "muted working" }, words));
    try {
      const content = await make();
      if (asked === this.asked) replace(this.element, content);
    } catch (error) {
      if (asked === this.asked && error.name !== "AbortError") replace(this.element, failure(error));
    } finally {
      if (asked === this.asked) this.element.setAttribute("aria-busy", "false");
    }
  }
}
