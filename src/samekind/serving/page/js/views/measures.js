// How good is the space? The measures that were taken of it, with their intervals.

import { element } from "../dom.js";
import { call } from "../server.js";
import { Answer, nothing } from "../telling.js";

export const measures = { id: "measures", title: "Measures", explain: "How often the space is right, on items that the training did not see. The range says how sure the number is.", make };

function make() {
  const answer = new Answer();
  answer.show(shown, "Reading the measures …");
  return { element: answer.element };
}

async function shown() {
  try {
    return tables(await call("/measures"));
  } catch (error) {
    if (error.status !== 404) throw error;
    return nothing("Nothing is measured yet", error.message);
  }
}

function tables(result) {
  return element("pre", {}, JSON.stringify(result, null, 1));
}
