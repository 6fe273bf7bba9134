// Numbers as people read them.

const UNIT = "\u00a0%"; // no line ends between a number and its unit

export const count = (value) => value.toLocaleString("en");

// "1 item", "2 items": the word is given for one.
export const counted = (value, word) => `${count(value)} ${word}${value === 1 ? "" : plural(word)}`;

const plural = (word) => (word.endsWith("s") || word.endsWith("h") ? "es" : "s");

// A share as per cent: more digits near 0 and 1, where they matter.
export function percent(share) {
  const value = 100 * share;
  const margin = Math.min(value, 100 - value);
  if (margin <= 0) return `${Math.round(value)}${UNIT}`;
  const digits = margin < 0.1 ? 2 : margin < 10 ? 1 : 0;
  const text = value.toFixed(digits);
  if (Number(text) === 0) return `< ${10 ** -digits}${UNIT}`;
  if (Number(text) === 100) return `> ${(100 - 10 ** -digits).toFixed(digits)}${UNIT}`;
  return `${text}${UNIT}`;
}

// A probability is never certain: 0 and 1 are only rounded to.
export function probability(value) {
  if (value > 0.999) return `> 99.9${UNIT}`;
  if (value < 0.001) return `< 0.1${UNIT}`;
  return percent(value);
}

export function interval(pair) {
  return pair ? `${percent(pair[0])} to ${percent(pair[1])}` : "";
}

export function score(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

// "about 3 in 1,000", for shares that per cent hide.
export function outOf(share) {
  const whole =
    share === 0 || share >= 0.01 ? 100 : share >= 0.001 ? 1000 : share >= 0.0001 ? 10_000 : 100_000;
  return `${count(Math.round(share * whole))} in ${count(whole)}`;
}
