// Where a threshold was put, in words: "eer", "far=0.01", "threshold=0.5" …

import { percent } from "./numbers.js";

const WORDS = {
  eer: () => "where both errors are equal",
  far: (rate) => `at most ${percent(rate)} of different pairs accepted`,
  frr: (rate) => `at most ${percent(rate)} of same pairs missed`,
  cost: (prior) => `the least cost if ${percent(prior)} of pairs are the same`,
  threshold: () => "chosen by hand",
};

export function pointWords(point) {
  const [name, numbers = ""] = point.split("=");
  return WORDS[name]?.(Number(numbers.split(":")[0])) ?? point;
}
