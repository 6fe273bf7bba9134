// How good is the space? The measures that were taken of it, with their intervals.

import { element, svg } from "../dom.js";
import { kindWords } from "../kinds.js";
import { percent } from "../numbers.js";
import { call } from "../server.js";
import { Answer, nothing } from "../telling.js";

export const measures = { id: "measures", title: "Measures", explain: "How often the space is right, on items that the training did not see. The range says how sure a number is: 95 of 100 such ranges hold the true one.", make };

const ASKED = {
  classification: "Which class is it?", verification: "Are these two the same?", retrieval: "What is most like this?",
  "few-shot": "Which of a few new classes is it?", clustering: "Which belong together?", "open set": "Is it none of these?",
};

function make() {
  const answer = new Answer();
  answer.show(shown, "Reading the measures …");
  return { element: answer.element };
}

async function shown() {
  try {
    const { rows } = await call("/measures");
    const questions = Map.groupBy(rows, (row) => row.question);
    return [...questions].map(([question, about]) => section(question, about));
  } catch (error) {
    if (error.status !== 404) throw error;
    return nothing("Nothing is measured yet", error.message, "samekind evaluate RUN");
  }
}

function section(question, rows) {
  const title = ASKED[question] ?? question.charAt(0).toUpperCase() + question.slice(1);
  const head = [["Measure"], ["Items"], ["Score"], ["Value", "number"], ["95 % range", "number"], [""]];
  return element("section", { class: "card stack", "aria-label": title },
    element("h2", {}, title),
    element("div", { class: "table-scroll" }, element("table", { class: "measures" },
      element("thead", {}, element("tr", {}, head.map(([words, kind]) => words ? element("th", { scope: "col", class: kind }, words) : element("td", {})))),
      element("tbody", {}, rows.map(line)))));
}

function line(row) {
  const write = row.share ? percent : (value) => value.toFixed(3);
  const known = row.low !== null && row.high !== null;
  return element("tr", {},
    element("th", { scope: "row", title: row.meaning || null }, row.measure, row.note ? element("span", { class: "muted small note-of" }, row.note) : null),
    element("td", {}, row.items), element("td", {}, kindWords(row.kind)),
    element("td", { class: "number" }, element("b", {}, write(row.value))),
    element("td", { class: "number muted" }, known ? `${write(row.low)} – ${write(row.high)}` : "–"),
    element("td", { class: "range" }, row.share ? range(row, known) : null));
}

// The value as a dot on a line from 0 to 100 %, its range as a bar.
function range({ value, low, high }, known) {
  return svg("svg", { viewBox: "0 0 104 12", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 2, x2: 102, y1: 6, y2: 6 }),
    known ? svg("rect", { x: 2 + 100 * low, y: 3.5, width: Math.max(1, 100 * (high - low)), height: 5, rx: 2 }) : null,
    svg("circle", { cx: 2 + 100 * value, cy: 6, r: 3 }));
}
