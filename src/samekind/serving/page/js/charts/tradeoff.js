// The error trade-off curve: false accepts against false rejects, on axes where small errors have room.
// Martin et al., "The DET Curve in Assessment of Detection Task Performance", Eurospeech 1997.

import { svg } from "../dom.js";
import { percent } from "../numbers.js";
import { BOTTOM, frame, LEFT, line, TOP } from "./frame.js";

const SIZE = 420;
const TICKS = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95];
const LOWEST = 0.0005;
const HIGHEST = 0.97;

// at: the threshold; pair: { score, same } or null.
export function tradeoff(rates, threshold, pair = null) {
  const height = SIZE - 80;
  const floor = height - BOTTOM;
  const share = (rate) =>
    (quantile(within(rate)) - quantile(LOWEST)) / (quantile(HIGHEST) - quantile(LOWEST));
  const x = (rate) => LEFT + share(rate) * (SIZE - LEFT);
  const y = (rate) => floor - share(rate) * (floor - TOP);
  const dot = (row, kind) => svg("circle", { class: kind, cx: x(row.accepts), cy: y(row.rejects), r: 6 });
  const chosen = rates.at(threshold);
  return svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${SIZE} ${height}`, role: "img", "aria-label": described(rates, chosen) },
    frame({
      width: SIZE,
      height,
      xTitle: "different pairs accepted, %",
      yTitle: "same pairs missed, %",
      x: TICKS.map((rate) => [x(rate), `${100 * rate}`]),
      y: TICKS.map((rate) => [y(rate), `${100 * rate}`]),
    }),
    line("diagonal", x(LOWEST), y(LOWEST), x(HIGHEST), y(HIGHEST)),
    svg("path", {
      class: "curve",
      d: thinned(seen(rates.rows).map((row) => [x(row.accepts).toFixed(1), y(row.rejects).toFixed(1)])),
    }),
    dot(chosen, "threshold-dot"),
    pair && dot(rates.at(pair.score), `pair-dot ${pair.same ? "" : "different"}`),
  );
}

// Errors too small for the axes are left out, unless there is nothing else.
function seen(rows) {
  const inside = rows.filter(({ accepts, rejects }) => Math.min(accepts, rejects) >= LOWEST);
  return inside.length > 1 ? inside : rows;
}

const within = (rate) => Math.min(HIGHEST, Math.max(LOWEST, rate));

const thinned = (points) =>
  points
    .filter(([x, y], i) => i === 0 || x !== points[i - 1][0] || y !== points[i - 1][1])
    .map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`)
    .join("");

function described(rates, chosen) {
  return (
    `Error trade-off curve. Equal errors at ${percent((rates.equal.accepts + rates.equal.rejects) / 2)}; ` +
    `now ${percent(chosen.accepts)} of different pairs accepted and ${percent(chosen.rejects)} of same pairs missed.`
  );
}

// The standard normal quantile, after Winitzki's approximation of the error function (2008): enough to draw by.
function quantile(share) {
  const inside = 2 * share - 1;
  const a = 0.147;
  const logarithm = Math.log(1 - inside * inside);
  const first = 2 / (Math.PI * a) + logarithm / 2;
  return Math.SQRT2 * Math.sign(inside) * Math.sqrt(Math.sqrt(first * first - logarithm / a) - first);
}
