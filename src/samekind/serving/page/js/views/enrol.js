// A new class from a few examples; the classes of the space, renamed or deleted.

import { button, element, freshId } from "../dom.js";
import { field } from "../fields.js";
import { Picker } from "../items/picker.js";
import { words } from "../items/medium.js";
import { counted } from "../numbers.js";
import { call, sentence } from "../server.js";
import { Answer, note, speak } from "../telling.js";
import { ClassTable } from "./class_table.js";

export const enrol = {
  id: "enrol",
  title: "Enrol a class",
  explain:
    "Teach the space a new class: a name and a few examples. It can be used at once, without training.",
  make,
};

function make(space) {
  const table = new ClassTable(space);
  return {
    element: element(
      "div",
      { class: "wide" },
      space.info.can_enroll === false
        ? note("Your token may look, but not enrol. Ask for one that may enrol.")
        : form(space, table),
      table.element,
    ),
    shown: () => table.refresh(),
  };
}

function form(space, table) {
  const { info } = space;
  const answer = new Answer();
  const name = element("input", {
    id: freshId("name"),
    name: "name",
    required: true,
    maxlength: 200,
    autocomplete: "off",
  });
  const replaces = element("input", { type: "checkbox" });
  const under = info.tree
    ? element("input", { autocomplete: "off", placeholder: "left out: where it is nearest" })
    : null;
  const picker = new Picker(info, {
    label: `Examples: five ${words(info).many} or more are good`,
    several: true,
    changed: () => ready(),
  });
  const send = button("Enrol", null, { type: "submit", class: "button primary", disabled: true });
  const ready = () => {
    send.disabled = !name.value.trim() || picker.files.length === 0;
  };
  name.addEventListener("input", ready);
  const submit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    await answer.show(() =>
      enrolled({
        name: name.value.trim(),
        files: picker.files,
        replace: replaces.checked,
        under: under?.value,
      }),
    );
    if (!answer.element.querySelector(".error")) {
      picker.clear();
      name.value = "";
      await Promise.all([space.refresh(), table.refresh()]);
    }
    ready();
  };
  return element(
    "form",
    { class: "stack card", onsubmit: submit },
    field("Name of the class", name),
    picker.element,
    under && field("Group of the tree it belongs to", under),
    element("label", { class: "check" }, replaces, "Replace the class if there is one of this name"),
    element("div", { class: "row" }, send),
    answer.element,
  );
}

async function enrolled({ name, files, replace, under }) {
  const result = await call("/enroll", {
    method: "POST",
    form: { name, files, replace: replace || null, under },
  });
  const sure = `${result.class} is ${result.done}, from ${counted(result.examples, "example")}. It can be used now.`;
  speak(sure);
  return [element("p", { class: "done" }, sure), result.warning ? note(sentence(result.warning)) : null];
}
