// The tree of the classes.

import { button, element } from "../dom.js";
import { call } from "../server.js";
import { Answer, note } from "../telling.js";
import { TreeDrawing } from "../tree/drawing.js";

export const tree = {
  id: "tree",
  title: "Class tree",
  explain: "How the classes are related: the nearer two names join, the more alike they are.",
  make,
};

function make(space) {
  const answer = new Answer();
  let shown = null;
  const show = () => {
    const names = space.info.classes.join("\n");
    if (names === shown) return;
    shown = names;
    answer.show(drawn, "Drawing the tree …");
  };
  show();
  return { element: answer.element, shown: show };
}

async function drawn() {
  const { nodes, known, newick } = await call("/tree");
  const drawing = new TreeDrawing(nodes, known);
  const file = element(
    "a",
    { class: "button", download: "classes.nwk", href: URL.createObjectURL(new Blob([newick])) },
    "Save as Newick",
  );
  return [
    note(
      known ? "This tree came with the space." : "This tree is made of the distances between the classes.",
    ),
    element(
      "div",
      { class: "row" },
      button("Open all", () => drawing.openAll()),
      button("Close all", () => drawing.closeAll()),
      file,
    ),
    element("p", { class: "muted small" }, "Keys: arrows move, left closes a group, right opens it."),
    element("div", { class: "tree-scroll" }, drawing.element),
  ];
}
