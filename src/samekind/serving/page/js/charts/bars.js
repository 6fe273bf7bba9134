// A share as a bar, and names with theirs.

import { element, svg } from "../dom.js";
import { probability } from "../numbers.js";

export const bar = (share) =>
  element(
    "span",
    { class: "bar", "aria-hidden": "true" },
    svg(
      "svg",
      { viewBox: "0 0 100 10", preserveAspectRatio: "none" },
      svg("rect", { x: 0, y: 0, height: 10, width: 100 * Math.max(0, Math.min(1, share)) }),
    ),
  );

// rows: [name, share], best first.
export const namedBars = (rows) =>
  element(
    "ol",
    { class: "bars" },
    rows.map(([name, share], i) =>
      element(
        "li",
        { class: i ? "others" : "first" },
        element("span", { class: "name" }, name),
        bar(share),
        element("span", { class: "value" }, probability(share)),
      ),
    ),
  );
