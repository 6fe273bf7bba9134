// How an item looks, or sounds, before it is sent.

import { button, element } from "../dom.js";
import { bars } from "./numbers.js";

export function preview(file, info, remove = null) {
  return element(
    "figure",
    { class: `item ${info.medium}` },
    element("div", { class: "item-view" }, view(file, info)),
    element(
      "figcaption",
      { class: "row between" },
      element("span", { class: "name", title: file.name }, file.name),
      remove && button("Remove", remove, { class: "button quiet", "aria-label": `Remove ${file.name}` }),
    ),
  );
}

function view(file, info) {
  if (info.medium === "pictures") return picture(file);
  if (info.medium === "sounds") {
    const address = URL.createObjectURL(file);
    return element("audio", {
      controls: true,
      src: address,
      "data-address": address,
      "aria-label": `Play ${file.name}`,
    });
  }
  return bars(file);
}

const TINY = 64; // pixels

export function showPixels({ currentTarget: image }) {
  image.classList.toggle("tiny", image.naturalWidth <= TINY && image.naturalHeight <= TINY);
}

function picture(file) {
  const address = URL.createObjectURL(file);
  const image = element("img", { src: address, alt: file.name, "data-address": address, onload: showPixels });
  // Browsers cannot show every format that the server reads, such as TIFF.
  image.addEventListener("error", () =>
    image.replaceWith(element("p", { class: "muted" }, "This browser cannot show the file.")),
  );
  return image;
}
