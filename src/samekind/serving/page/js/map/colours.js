// Colours of classes, which can be told apart on light and dark paper, and of doubt from none to full.

export const CLASSES = [
  "#1f77b4",
  "#e0691a",
  "#2a9d6a",
  "#c65a9b",
  "#b58900",
  "#3aa6c9",
  "#8a6bbf",
  "#c23b3b",
  "#7d8f2b",
  "#7c8894",
];

const SURE = [122, 140, 153];
const DOUBTFUL = [214, 69, 20];
const STEPS = 12;

export const DOUBTS = Array.from({ length: STEPS }, (_, i) => mixed(i / (STEPS - 1)));

// Without a label: the last colour, a grey.
export const colourPlace = (label) => (label < 0 ? CLASSES.length - 1 : label % CLASSES.length);

export const classColour = (label) => CLASSES[colourPlace(label)];

function mixed(share) {
  const parts = SURE.map((value, i) => Math.round(value + share * (DOUBTFUL[i] - value)));
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
