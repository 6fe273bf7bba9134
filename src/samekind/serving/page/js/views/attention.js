// Where does the network look?

import { element } from "../dom.js";
import { Picker } from "../items/picker.js";
import { call } from "../server.js";
import { Answer, nothing, speak } from "../telling.js";

export const attention = {
  id: "attention",
  title: "Attention",
  explain: "Give a picture. The brighter the colour, the more this part speaks for the answer.",
  make,
};

function make(space) {
  const { info } = space;
  if (!info.attention) {
    return {
      element: nothing(
        "Not for this space",
        "Where a network looks can be drawn for pictures, and for networks with maps to look at.",
        "samekind train RECIPE --data FOLDER --set space.encoder.name=ResNet18",
      ),
    };
  }
  const answer = new Answer();
  const picker = new Picker(info, {
    label: "Picture",
    changed: ([file]) => (file ? answer.show(() => looked(file)) : answer.clear()),
  });
  return { element: element("div", { class: "wide" }, picker.element, answer.element) };
}

async function looked(file) {
  const { blob, headers } = await call("/attention", { method: "POST", form: { files: file }, as: "blob" });
  const name = headers.get("X-Class");
  const words = name ? `It was taken for ${decodeURIComponent(name)}.` : "";
  speak(`The overlay is drawn. ${words}`);
  return [
    words && element("p", { class: "named" }, words),
    element(
      "figure",
      { class: "overlay" },
      element("img", { src: URL.createObjectURL(blob), alt: `Where the network looks in ${file.name}` }),
    ),
  ];
}
