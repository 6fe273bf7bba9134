// A control with its name, and settings that are folded away.

import { element, freshId } from "./dom.js";

// What most readers leave as it is.
export const settings = (...fields) =>
  fields.some(Boolean)
    ? element(
        "details",
        {},
        element("summary", {}, "Settings"),
        element("div", { class: "settings" }, fields),
      )
    : null;

export function field(words, control, hint = null) {
  control.id ||= freshId("field");
  return element(
    "div",
    { class: "field" },
    element("label", { for: control.id }, words),
    control,
    hint && element("span", { class: "hint" }, hint),
  );
}
