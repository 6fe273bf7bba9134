// The frame of a chart: lines and numbers beside it.

import { svg } from "../dom.js";

export const LEFT = 46;
export const BOTTOM = 44;
export const TOP = 14;

export const line = (kind, x1, y1, x2, y2) => svg("line", { class: kind, x1, y1, x2, y2 });

export const text = (words, x, y, attributes = {}) => svg("text", { x, y, ...attributes }, words);

// ticks: [place, words]. The chart is width x height with the frame inside.
export function frame({ width, height, x, y, xTitle, yTitle }) {
  const floor = height - BOTTOM;
  return svg(
    "g",
    { "aria-hidden": "true" },
    y
      .map(([place, words]) => [
        line("grid-line", LEFT, place, width, place),
        text(words, LEFT - 8, place + 4, { "text-anchor": "end" }),
      ])
      .flat(),
    x
      .map(([place, words]) => [
        line("axis", place, floor, place, floor + 5),
        text(words, place, floor + 19, { "text-anchor": "middle" }),
      ])
      .flat(),
    line("axis", LEFT, floor, width, floor),
    text(xTitle, (LEFT + width) / 2, height - 4, { "text-anchor": "middle", class: "axis-title" }),
    yTitle &&
      text(yTitle, -(floor + TOP) / 2, 12, {
        transform: "rotate(-90)",
        "text-anchor": "middle",
        class: "axis-title",
      }),
  );
}

// About so many round numbers between two.
export function roundNumbers(low, high, wanted = 5) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => {
    const value = (first + i) * step;
    return [value, value.toFixed(digits)];
  });
}
