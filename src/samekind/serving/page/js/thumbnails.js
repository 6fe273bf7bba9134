// Small pictures of the gallery's items. They are fetched with the token, once each.

import { element, replace } from "./dom.js";
import { showPixels } from "./items/preview.js";
import { call } from "./server.js";

const MOST = 400;
const addresses = new Map();

// A place that shows the item's picture as soon as it is there; words where none is stored.
export function thumbnail(id, words = "no picture") {
  const place = element("div", { class: "thumbnail" });
  address(id).then((source) =>
    replace(place, source ? element("img", { src: source, alt: "", onload: showPixels }) : words),
  );
  return place;
}

function address(id) {
  if (!addresses.has(id)) {
    addresses.set(
      id,
      call("/items/thumbnail", { query: { id }, as: "blob" }).then(
        ({ blob }) => URL.createObjectURL(blob),
        () => null,
      ),
    );
    forgetOldest();
  }
  return addresses.get(id);
}

function forgetOldest() {
  if (addresses.size <= MOST) return;
  const [oldest, source] = addresses.entries().next().value;
  addresses.delete(oldest);
  source.then((text) => text && URL.revokeObjectURL(text));
}
