// The items that were chosen on the map, as a list.

import { button, element, replace } from "../dom.js";
import { counted, percent } from "../numbers.js";
import { thumbnail } from "../thumbnails.js";

const MOST = 60;

// look(place): told when the reader points at an item of the list.
export class Chosen {
  constructor(points, look) {
    Object.assign(this, { points, look });
    this.element = element("section", { class: "stack", "aria-label": "Chosen items" });
    this.show([], "");
  }

  show(places, title) {
    if (places.length === 0) {
      replace(
        this.element,
        element(
          "p",
          { class: "muted small" },
          title || "Point at a dot to see its item. Draw around dots with the lasso to list them here.",
        ),
      );
      return;
    }
    const rest = places.length > MOST ? `, the first ${MOST} here` : "";
    replace(
      this.element,
      element(
        "div",
        { class: "row between" },
        element("h2", {}, title),
        button("Save the list", () => this.save(places), { class: "button quiet" }),
      ),
      element("p", { class: "muted small" }, `${counted(places.length, "item")}${rest}`),
      element(
        "ul",
        { class: "chosen-list" },
        places.slice(0, MOST).map((place) => this.row(place)),
      ),
    );
  }

  row(place) {
    const doubt = this.points.doubt?.[place];
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", onclick: () => this.look(place) },
        thumbnail(this.points.ids[place], ""),
        element(
          "span",
          {},
          element("b", {}, this.points.name(place)),
          doubt
            ? element(
                "span",
                { class: "muted" },
                element("br", {}),
                `${percent(doubt)} of its neighbours differ`,
              )
            : null,
        ),
      ),
    );
  }

  save(places) {
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const rows = places.map((place) =>
      [
        quoted(this.points.ids[place]),
        quoted(this.points.name(place)),
        this.points.doubt?.[place] ?? "",
      ].join(","),
    );
    const address = URL.createObjectURL(
      new Blob([["id,label,doubt", ...rows, ""].join("\n")], { type: "text/csv" }),
    );
    element("a", { href: address, download: "items.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}
