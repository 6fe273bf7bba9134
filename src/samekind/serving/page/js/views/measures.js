// How good is the space? The measures that were taken of it, with their intervals.

import { element, svg } from "../dom.js";
import { kindWords } from "../kinds.js";
import { call, sentence } from "../server.js";
import { Answer, nothing } from "../telling.js";

export const measures = {
  id: "measures",
  title: "Measures",
  explain:
    "How often the space is right, on items that the training did not see. The range says how sure a number is: 95 of 100 such ranges hold the true one.",
  make,
};

const ASKED = {
  classification: "Which class is it?",
  verification: "Are these two the same?",
  retrieval: "What is most like this?",
  "few-shot": "Which of a few new classes is it?",
  clustering: "Which belong together?",
  "open set": "Is it none of these?",
};

// Which of the space's choices answers a question.
const CHOICES = {
  classification: "classes",
  "few-shot": "classes",
  "open set": "classes",
  verification: "pairs",
  retrieval: "neighbours",
};
const ITEMS = { seen: "known classes", unseen: "new classes", "seen, unseen": "known and new classes" };

function make(space) {
  const answer = new Answer();
  const every = element("input", { type: "checkbox", onchange: () => show() });
  const choice = element(
    "label",
    { class: "check", hidden: true },
    every,
    "Every score, not only the one that the space chose",
  );
  const show = () =>
    answer.show(async () => {
      const content = await shown(space.info, every.checked);
      choice.hidden = !Array.isArray(content);
      return content;
    }, "Reading the measures …");
  show();
  return { element: element("div", { class: "wide" }, answer.element, choice) };
}

// Tables in a list; where nothing is measured, one element that says so.
async function shown(info, every) {
  try {
    const { rows } = await call("/measures");
    const questions = Map.groupBy(rows, (row) => row.question);
    return [
      ...[...questions].map(([question, about]) =>
        section(question, every ? about : chosen(question, about, info)),
      ),
      meanings(rows),
    ];
  } catch (error) {
    if (error.status !== 404) throw error;
    return nothing("Nothing is measured yet", error.message, "samekind evaluate RUN");
  }
}

// The rows of the score that the space chose for the question; all of them where it chose none.
function chosen(question, rows, info) {
  const kind = info.kind_for?.[CHOICES[question]];
  const own = rows.filter((row) => row.kind === kind || row.note === `by ${kind}`);
  return own.length ? own : rows;
}

function meanings(rows) {
  const words = new Map(rows.filter((row) => row.meaning).map((row) => [row.measure, row.meaning]));
  return words.size === 0
    ? null
    : element(
        "details",
        {},
        element("summary", {}, "What the measures mean"),
        element(
          "dl",
          { class: "meanings" },
          [...words].map(([name, meaning]) =>
            element("div", {}, element("dt", {}, name), element("dd", {}, sentence(meaning))),
          ),
        ),
      );
}

function section(question, rows) {
  const title = ASKED[question] ?? question.charAt(0).toUpperCase() + question.slice(1);
  const head = [["Measure"], ["Items"], ["Score"], ["Value", "number"], ["95 % range", "number"], [""]];
  return element(
    "section",
    { class: "card stack", "aria-label": title },
    element("h2", {}, title),
    element(
      "div",
      { class: "table-scroll" },
      element(
        "table",
        { class: "measures" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            head.map(([words, kind]) =>
              words ? element("th", { scope: "col", class: kind }, words) : element("td", {}),
            ),
          ),
        ),
        element("tbody", {}, rows.map(line)),
      ),
    ),
  );
}

function line(row) {
  const write = row.share ? (value) => `${(100 * value).toFixed(1)}\u00a0%` : (value) => value.toFixed(3);
  const known = row.low !== null && row.high !== null;
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row", title: row.meaning || null },
      row.measure,
      row.note ? element("span", { class: "muted small note-of" }, row.note) : null,
    ),
    element("td", {}, ITEMS[row.items] ?? row.items),
    element("td", {}, kindWords(row.kind)),
    element("td", { class: "number" }, element("b", {}, write(row.value))),
    element("td", { class: "number muted" }, known ? `${write(row.low)} – ${write(row.high)}` : "–"),
    element("td", { class: "range" }, row.share ? range(row, known) : null),
  );
}

// The value as a dot on a line from 0 to 100 %, its range as a bar.
function range({ value, low, high }, known) {
  return svg(
    "svg",
    { viewBox: "0 0 104 12", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 2, x2: 102, y1: 6, y2: 6 }),
    known
      ? svg("rect", { x: 2 + 100 * low, y: 3.5, width: Math.max(1, 100 * (high - low)), height: 5, rx: 2 })
      : null,
    svg("circle", { cx: 2 + 100 * value, cy: 6, r: 3 }),
  );
}
