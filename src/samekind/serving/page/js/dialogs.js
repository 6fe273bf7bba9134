// Short questions to the reader: are you sure, and which name?

import { button, element, freshId } from "./dom.js";

export async function confirmed(title, words, action) {
  return (await asked(title, [element("p", { class: "muted" }, words)], action)) !== null;
}

export function newName(name) {
  const input = element("input", {
    id: freshId("rename"),
    value: name,
    required: true,
    maxlength: 200,
    autocomplete: "off",
  });
  return asked(`Rename ${name}`, [element("label", { for: input.id }, "New name"), input], "Rename", () =>
    input.value.trim(),
  );
}

// What value() gives if the reader agrees; null if not.
function asked(title, content, action, value = () => true) {
  return new Promise((resolve) => {
    const id = freshId("title");
    const before = document.activeElement;
    const form = element(
      "form",
      { method: "dialog", class: "stack" },
      element("h2", { id }, title),
      content,
      element(
        "div",
        { class: "row end" },
        button("Cancel", () => box.close("")),
        button(action, null, { type: "submit", value: "yes", class: "button primary" }),
      ),
    );
    const box = element("dialog", { "aria-labelledby": id }, form);
    box.addEventListener("close", () => {
      resolve(box.returnValue === "yes" ? value() : null);
      box.remove();
      before?.focus?.();
    });
    document.body.append(box);
    box.showModal();
    form.querySelector("input")?.select();
  });
}
