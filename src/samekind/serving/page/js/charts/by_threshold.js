// Both errors against the threshold: what a stricter one gains and costs.

import { svg } from "../dom.js";
import { percent, score as asText } from "../numbers.js";
import { BOTTOM, frame, LEFT, line, roundNumbers, TOP } from "./frame.js";

const WIDTH = 420;
const HEIGHT = 340;
const SHARES = [0, 0.25, 0.5, 0.75, 1];

// pair: { score, same } of two items that were compared, or null.
export function byThreshold(rates, threshold, pair = null) {
  const low = Math.min(rates.lowest, threshold, pair?.score ?? threshold);
  const high = Math.max(rates.highest, threshold, pair?.score ?? threshold);
  const floor = HEIGHT - BOTTOM;
  const x = (value) => LEFT + ((value - low) / (high - low || 1)) * (WIDTH - LEFT);
  const y = (share) => floor - share * (floor - TOP);
  const path = (name) =>
    rates.rows
      .map((row, i) => `${i ? "L" : "M"}${x(row.threshold).toFixed(1)} ${y(row[name]).toFixed(1)}`)
      .join("");
  return svg(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": described(rates, threshold, pair),
    },
    frame({
      width: WIDTH,
      height: HEIGHT,
      xTitle: "score",
      yTitle: null,
      x: roundNumbers(low, high).map(([value, words]) => [x(value), words]),
      y: SHARES.map((share) => [y(share), `${100 * share} %`]),
    }),
    svg("path", { class: "curve accepts", d: path("accepts") }),
    svg("path", { class: "curve rejects", d: path("rejects") }),
    line("threshold", x(threshold), TOP, x(threshold), floor),
    pair && line(`pair ${pair.same ? "" : "different"}`, x(pair.score), TOP + 20, x(pair.score), floor),
    pair &&
      svg("circle", {
        class: `pair-dot ${pair.same ? "" : "different"}`,
        cx: x(pair.score),
        cy: TOP + 20,
        r: 6,
      }),
  );
}

function described(rates, threshold, pair) {
  const { accepts, rejects } = rates.at(threshold);
  const about = `At the threshold ${asText(threshold)}, ${percent(accepts)} of different pairs are called the same and ${percent(rejects)} of same pairs are missed.`;
  return pair ? `${about} This pair has the score ${asText(pair.score)}.` : about;
}
