// What is most like this?

import { bar } from "../charts/bars.js";
import { element } from "../dom.js";
import { field, settings } from "../fields.js";
import { Picker } from "../items/picker.js";
import { kindChoice, kindWords } from "../kinds.js";
import { count, counted, probability, score } from "../numbers.js";
import { call } from "../server.js";
import { Answer, note, nothing, speak } from "../telling.js";
import { thumbnail } from "../thumbnails.js";

export const search = {
  id: "search",
  title: "Search",
  explain: "Give one item. The answer is the items of the gallery that are most like it, best first.",
  make,
};

const COUNTS = [12, 24, 48, 96];

function make(space) {
  const { info } = space;
  if (!info.gallery) return { element: withoutGallery() };
  const answer = new Answer();
  const ask = () =>
    picker.files.length
      ? answer.show(() => matches(picker.files, Number(most.value), kind.value()))
      : answer.clear();
  const picker = new Picker(info, { label: "The item to look for", changed: ask });
  const most = element(
    "select",
    { onchange: ask },
    COUNTS.map((value) => element("option", { value }, String(value))),
  );
  const kind = kindChoice(info.kinds ?? [], ask);
  return {
    element: element(
      "div",
      { class: "wide" },
      picker.element,
      settings(field("How many to show", most), kind.element),
      answer.element,
    ),
  };
}

const withoutGallery = () =>
  nothing(
    "There is no gallery yet",
    "A gallery holds the items that are searched. Make one from a folder, and start the server with it.",
    "samekind index build SPACE FOLDER --out INDEX --thumbnails\nsamekind serve SPACE --index INDEX",
  );

async function matches(files, k, kind) {
  const result = await call("/search", { method: "POST", query: { k, kind }, form: { files } });
  const [query] = result.queries;
  speak(
    `${counted(query.found.length, "item")} found. The first is ${query.found[0]?.label ?? query.found[0]?.id ?? "none"}.`,
  );
  return [
    element(
      "p",
      { class: "muted" },
      `The ${count(query.found.length)} most like it of ${counted(result.gallery, "item")}, by ${kindWords(result.kind)}.`,
    ),
    result.skipped?.length ? note(result.skipped.map(([, why]) => why).join(" ")) : null,
    element("ol", { class: "grid" }, query.found.map(match)),
  ];
}

function match({ id, label, score: value, probability: share, thumbnail: stored }) {
  return element(
    "li",
    { class: "match" },
    stored === false ? element("div", { class: "thumbnail" }, "no picture") : thumbnail(id),
    element("span", { class: "label" }, label ?? "no label"),
    element("span", { class: "id", title: id }, element("bdi", {}, id)),
    share === undefined ? null : bar(share),
    element(
      "span",
      { class: "numbers" },
      element("span", { class: "muted", title: "score" }, score(value)),
      share === undefined
        ? null
        : element("span", { title: "probability of the same kind" }, probability(share)),
    ),
  );
}
