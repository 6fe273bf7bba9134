// The classes with their colours; one can be shown alone.

import { element, svg } from "../dom.js";
import { count } from "../numbers.js";
import { classColour } from "./colours.js";

const MOST = 300;

// alone(label or null): told when a class is to be shown alone, or all again.
export function legend(points, alone) {
  const list = element("ul", { class: "legend", "aria-label": "Classes" });
  const press = (button, label) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of list.querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(on));
    alone(on ? label : null);
  };
  list.append(
    ...points
      .counts()
      .slice(0, MOST)
      .map(([label, size]) =>
        element(
          "li",
          {},
          element(
            "button",
            {
              type: "button",
              "aria-pressed": "false",
              title: "Show this class alone",
              onclick: (event) => press(event.currentTarget, label),
            },
            svg(
              "svg",
              { viewBox: "0 0 12 12", "aria-hidden": "true" },
              svg("circle", { cx: 6, cy: 6, r: 5.5, fill: classColour(label) }),
            ),
            element("span", { class: "name" }, points.labels[label] ?? "no label"),
            element("span", { class: "count" }, count(size)),
          ),
        ),
      ),
  );
  return list;
}
