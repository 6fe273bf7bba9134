// Rows of numbers: typed or pasted, and how they look.

import { button, element, freshId, replace, svg } from "../dom.js";
import { failure } from "../telling.js";
import { npy, numbersOf } from "./npy.js";

const MOST_BARS = 128;

export function typeNumbers(place, info) {
  return new Promise((resolve) => {
    const id = freshId("numbers");
    const text = element("textarea", { id, rows: 4, spellcheck: "false", placeholder: "0.2, 1.5, -0.7 …" });
    const problem = element("div", {});
    const use = () => {
      try {
        resolve(new File([npy(parsed(text.value, info))], "typed.npy"));
      } catch (error) {
        replace(problem, failure(error));
      }
    };
    replace(
      place,
      element("label", { for: id }, "Numbers, with commas, spaces or new lines between"),
      text,
      problem,
      element(
        "div",
        { class: "row" },
        button("Use these numbers", use, { class: "button primary" }),
        button("Cancel", () => resolve(null)),
      ),
    );
    text.focus();
  });
}

function parsed(text, info) {
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  const wrong = parts.find((part) => !Number.isFinite(Number(part)));
  if (wrong !== undefined) throw new Error(`"${wrong}" is not a number. Write 0.5, not 0,5.`);
  const wanted = info.shape?.length === 1 ? info.shape[0] : null;
  if (parts.length === 0) throw new Error("Type or paste numbers first.");
  if (wanted && parts.length !== wanted)
    throw new Error(`This space reads ${wanted} numbers; these are ${parts.length}.`);
  return parts.map(Number);
}

// A file of numbers, each as a bar; nothing for a file that is more than one row.
export function bars(file) {
  const place = element("div", { class: "number-bars" });
  numbersOf(file).then((values) => values && place.append(drawn(values)));
  return place;
}

function drawn(values) {
  const shown = values.slice(0, MOST_BARS);
  const largest = Math.max(...shown.map(Math.abs)) || 1;
  return svg(
    "svg",
    {
      viewBox: `0 -1 ${shown.length} 2`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${values.length} numbers, from ${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)}`,
    },
    shown.map((value, i) =>
      svg("rect", {
        class: value < 0 ? "below" : "above",
        x: i + 0.1,
        width: 0.8,
        y: value < 0 ? 0 : -value / largest,
        height: Math.abs(value) / largest,
      }),
    ),
  );
}
