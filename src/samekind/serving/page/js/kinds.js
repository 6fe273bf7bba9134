// Which score is compared: the space's choice, or one the reader names.

import { element, freshId } from "./dom.js";
import { field } from "./fields.js";

const WORDS = {
  similarity: "the space's own similarity",
  cosine: "cosine",
  fused: "both, fused",
  fitted: "fitted (PLDA)",
  normalised: "normalised by a cohort",
};

export const kindWords = (kind) => WORDS[kind] ?? kind;

// A choice among kinds; nothing where there is one alone. Its value "" is the space's choice, which
// is left out where it is none of them.
export function kindChoice(kinds, changed, preferred = null) {
  const id = freshId("kind");
  const select = element(
    "select",
    { id, onchange: changed },
    preferred === null || kinds.includes(preferred)
      ? element("option", { value: "" }, "the space's choice")
      : null,
    kinds.map((kind) => element("option", { value: kind }, kindWords(kind))),
  );
  return { value: () => select.value, element: kinds.length > 1 ? field("Score", select) : null };
}
