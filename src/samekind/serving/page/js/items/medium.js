// What the items of a space are called, and how they can be taken.

const WORDS = {
  pictures: { one: "picture", many: "pictures", a: "a picture", take: "camera" },
  sounds: { one: "sound", many: "sounds", a: "a sound", take: "microphone" },
  vectors: { one: "row of numbers", many: "rows of numbers", a: "a row of numbers", take: "numbers" },
  arrays: { one: "array", many: "arrays", a: "an array", take: null },
};

export const words = (info) => WORDS[info.medium] ?? { one: "item", many: "items", a: "an item", take: null };
