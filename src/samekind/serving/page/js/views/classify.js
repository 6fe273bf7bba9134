// Which class is it, or none of these?

import { namedBars } from "../charts/bars.js";
import { element } from "../dom.js";
import { field, settings } from "../fields.js";
import { Picker } from "../items/picker.js";
import { preview } from "../items/preview.js";
import { kindChoice } from "../kinds.js";
import { probability, score } from "../numbers.js";
import { call, sentence } from "../server.js";
import { Answer, note, nothing, speak } from "../telling.js";

export const classify = {
  id: "classify",
  title: "Which class",
  explain: "Give one item or several. Each is named by its class, or by none of these.",
  make,
};

const NONE = "None of these";
const LEVELS = [
  [0.9, "90 % of answers right"],
  [0.95, "95 % of answers right"],
  [0.99, "99 % of answers right"],
];

function make(space) {
  const { info } = space;
  const answer = new Answer();
  const ask = () =>
    picker.files.length
      ? answer.show(() => classified(picker.files, level?.value, kind.value(), info))
      : answer.clear();
  const picker = new Picker(info, { label: "Items to name", several: true, changed: ask });
  const kind = kindChoice(info.kinds ?? [], ask);
  const level = info.tree
    ? element(
        "select",
        { onchange: ask },
        element("option", { value: "" }, "always a class"),
        LEVELS.map(([value, words]) => element("option", { value }, words)),
      )
    : null;
  const content = element(
    "div",
    { class: "wide" },
    picker.element,
    level && field("How sure", level, "Where the class is unsure, a group of the tree is named"),
    settings(kind.element),
    answer.element,
  );
  return {
    element: info.classes.length
      ? content
      : nothing("This space knows no class yet", "Enrol one: give it a name and a few examples."),
    shown: ask,
  };
}

async function classified(files, level, kind, info) {
  const result = await call("/classify", { method: "POST", query: { level, kind }, form: { files } });
  speak(
    result.items
      .map((item) => `${item.id}: ${item.class ?? NONE}, ${probability(item.probability)}`)
      .join(". "),
  );
  const warning = result["about level"];
  return [
    warning ? note(sentence(warning)) : null,
    result.threshold === null
      ? note("This space has no threshold for none of these, so every item gets its best class.")
      : null,
    ...result.skipped.map(([id, why]) => note(`${id}: ${why}`)),
    ...result.items.map((item, i) => card(item, files[i], info, result)),
  ];
}

function card(item, file, info, { threshold }) {
  const inside = threshold === null ? "" : `Score ${score(item.score)}, threshold ${score(threshold)}.`;
  return element(
    "article",
    { class: "card classified", "aria-label": item.id },
    file ? preview(file, info) : element("p", {}, item.id),
    element(
      "div",
      { class: "stack" },
      element(
        "p",
        { class: "named" },
        item.class ?? NONE,
        " ",
        item.inner ? element("span", { class: "badge" }, "a group of classes") : null,
      ),
      element(
        "p",
        { class: "muted" },
        item.class === null
          ? `Nothing it knows is near enough. ${inside}`
          : `Probability ${probability(item.probability)}. ${inside}`,
      ),
      item.best?.length
        ? namedBars(item.best.map(({ class: name, probability: share }) => [name, share]))
        : null,
    ),
  );
}
