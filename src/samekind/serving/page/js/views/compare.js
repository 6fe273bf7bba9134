// Are these two the same kind?

import { byThreshold } from "../charts/by_threshold.js";
import { Rates } from "../charts/rates.js";
import { tradeoff } from "../charts/tradeoff.js";
import { element } from "../dom.js";
import { field, settings } from "../fields.js";
import { Picker } from "../items/picker.js";
import { kindChoice, kindWords } from "../kinds.js";
import { interval, percent, probability, score } from "../numbers.js";
import { pointWords } from "../points.js";
import { call } from "../server.js";
import { Answer, nothing, speak } from "../telling.js";

export const compare = {
  id: "compare",
  title: "Compare two",
  explain: "Give two items. The answer says whether they are the same kind, and how sure it is.",
  make,
};

function make(space) {
  const { info } = space;
  const kinds = Object.keys(info.decisions);
  if (kinds.length === 0) return { element: withoutThreshold() };
  const answer = new Answer();
  const ask = () => {
    const [first, second] = [...pickers[0].files, ...pickers[1].files];
    if (!first || !second) return answer.clear();
    return answer.show(() => compared(first, second, kind.value(), Number(prior.value)));
  };
  const kind = kindChoice(kinds, ask, info.kind_for?.pairs);
  const prior = element(
    "select",
    { onchange: ask },
    [
      [0.5, "as often as not"],
      [0.1, "1 in 10"],
      [0.01, "1 in 100"],
      [0.001, "1 in 1,000"],
    ].map(([value, words]) => element("option", { value }, words)),
  );
  const pickers = ["First item", "Second item"].map(
    (label, i) =>
      new Picker(info, {
        label,
        changed: ask,
        rest: ([file]) => pickers[1 - i].take([file]), // two files dropped at once fill both places
      }),
  );
  return {
    element: element(
      "div",
      { class: "wide" },
      element(
        "div",
        { class: "two" },
        pickers.map((picker) => picker.element),
      ),
      settings(field("How often are two such items the same?", prior), kind.element),
      answer.element,
    ),
  };
}

const withoutThreshold = () =>
  nothing(
    "This space has no threshold yet",
    "A threshold says from which score on two items are the same. It is fitted on labelled items that the training did not see.",
    "samekind calibrate SPACE FOLDER",
  );

async function compared(first, second, kind, prior) {
  const result = await call("/compare", { method: "POST", query: { kind, prior }, form: { first, second } });
  const curve = await call("/tradeoff", { query: { kind: result.kind } }).catch(() => null);
  const words = result.same ? "The same kind" : "Different kinds";
  speak(`${words}. ${sureness(result)}`);
  return [verdict(result, words), curve && charts(new Rates(curve), result)];
}

function verdict(result, words) {
  return element(
    "div",
    { class: `verdict ${result.same ? "same" : "different"}` },
    element(
      "div",
      { class: "verdict-top" },
      element("p", { class: "verdict-words" }, words),
      element("p", {}, element("b", {}, probability(result.probability)), " probability of the same kind"),
    ),
    element(
      "p",
      {},
      `The score is ${score(result.score)}, the threshold ${score(result.threshold)} (${pointWords(result.point)}).`,
    ),
    result.false_accepts === undefined || result.false_accepts === null
      ? null
      : element("p", { class: "muted" }, errors(result)),
  );
}

const sureness = (result) => `Probability of the same kind: ${probability(result.probability)}.`;

function errors({ false_accepts: accepts, false_accept_interval: range, false_rejects: rejects, kind }) {
  const about = range ? ` (95 % sure: ${interval(range)})` : "";
  return `At this threshold, ${percent(accepts)}${about} of different pairs are called the same, and ${percent(rejects)} of same pairs are missed. Score: ${kindWords(kind)}.`;
}

function charts(rates, result) {
  const pair = { score: result.score, same: result.same };
  const drawn = (chart, title, words) =>
    element(
      "figure",
      { class: "with-chart card" },
      element("figcaption", {}, title, element("small", {}, words)),
      chart,
    );
  return element(
    "div",
    { class: "two" },
    drawn(byThreshold(rates, result.threshold, pair), "Where this pair lies", [
      "The dot is this pair, the dashed line the threshold. ",
      element("span", { class: "key accepts" }, "Solid: different pairs accepted"),
      ", ",
      element("span", { class: "key rejects" }, "dashed: same pairs missed"),
      ".",
    ]),
    drawn(
      tradeoff(rates, result.threshold, pair),
      "Error trade-off",
      "Fewer errors of one sort cost more of the other. The ring is the threshold, the dot what a threshold at this pair's score would give.",
    ),
  );
}
