// The map of the space: every item of the gallery as a dot, those that are alike near each other.

import { button, element, replace } from "../dom.js";
import { field } from "../fields.js";
import { Chosen } from "../map/chosen.js";
import { CLASSES } from "../map/colours.js";
import { legend } from "../map/legend.js";
import { Plot } from "../map/plot.js";
import { Points } from "../map/points.js";
import { count, counted, percent } from "../numbers.js";
import { call } from "../server.js";
import { Answer, failure, note, nothing, speak } from "../telling.js";
import { thumbnail } from "../thumbnails.js";

export const map = {
  id: "map",
  title: "Map",
  explain: "Every item of the gallery is a dot. Items that are alike lie near each other.",
  make,
};

const NO_WEBGL = "This browser cannot draw the map: it needs WebGL, which is missing or switched off here.";
const UNKNOWN_CODE =
  "This browser cannot draw the map: its graphics need drawing code that the page does not have.";

function make(space) {
  const { info } = space;
  if (!info.gallery) {
    return {
      element: nothing(
        "There is no gallery yet",
        "The map shows the items of a gallery. Make one from a folder, and start the server with it.",
        "samekind index build SPACE FOLDER --out INDEX --thumbnails\nsamekind serve SPACE --index INDEX",
      ),
    };
  }
  const answer = new Answer();
  const sheet = { current: null };
  answer.show(async () => {
    sheet.current = new Sheet(new Points(await laidOut()));
    requestAnimationFrame(() => sheet.current.shown());
    return sheet.current.element;
  }, "Laying out the map … a large gallery takes a minute the first time.");
  return { element: answer.element, shown: () => sheet.current?.shown() };
}

// A large map takes the server some minutes; until then it says when to ask again.
async function laidOut() {
  for (;;) {
    try {
      return await call("/map");
    } catch (error) {
      if (error.status !== 503 || !error.wait) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * error.wait));
    }
  }
}

class Sheet {
  constructor(points) {
    this.points = points;
    this.plot = new Plot(points, {
      over: (place) => this.hover(place),
      chosen: (places) => this.choose(places),
    });
    this.card = element("div", { class: "map-card", hidden: true });
    this.stage = element("div", { class: "map-stage" }, this.plot.canvas, this.card);
    this.list = new Chosen(points, (place) => this.look(place));
    this.legend = element(
      "div",
      { class: "stack" },
      element("h2", {}, "Classes"),
      legend(points, (label) => this.alone(label)),
      points.labels.length > CLASSES.length
        ? element("p", { class: "muted small" }, `Colours repeat after ${CLASSES.length} classes.`)
        : null,
    );
    this.element = element(
      "div",
      { class: "wide" },
      this.tools(),
      points.items > points.length
        ? note(`${count(points.length)} of ${count(points.items)} items are shown.`)
        : null,
      element(
        "div",
        { class: "map-layout" },
        this.stage,
        element("div", { class: "map-side" }, this.list.element, this.legend),
      ),
    );
  }

  // The plot takes the size of its place, so it starts when it is seen for the first time.
  async shown() {
    if (!this.stage.isConnected) return;
    if (this.started) {
      this.plot.resized();
      return;
    }
    this.started = true;
    try {
      await this.plot.start();
      this.stage.dataset.drawn = "yes";
      speak(`The map shows ${counted(this.points.length, "item")}.`);
    } catch (error) {
      replace(this.stage, failure(new Error(error instanceof EvalError ? UNKNOWN_CODE : NO_WEBGL)));
    }
  }

  tools() {
    const by = element(
      "select",
      { onchange: () => this.plot.colourBy(by.value) },
      element("option", { value: "class" }, "class"),
      this.points.doubt && element("option", { value: "doubt" }, "doubt about the label"),
    );
    this.lasso = button("Lasso", () => this.toggleLasso(), { "aria-pressed": "false" });
    return element(
      "div",
      { class: "map-tools" },
      field("Colour by", by),
      this.lasso,
      this.points.doubt && button("Find mistakes", () => this.mistakes()),
      button("Show all", () => this.all()),
    );
  }

  toggleLasso() {
    const on = this.lasso.getAttribute("aria-pressed") !== "true";
    this.lasso.setAttribute("aria-pressed", String(on));
    this.plot.lasso(on);
  }

  hover(place) {
    this.card.hidden = place === null;
    if (place === null) return;
    const doubt = this.points.doubt?.[place];
    replace(
      this.card,
      thumbnail(this.points.ids[place]),
      element("b", {}, this.points.name(place)),
      element("span", { class: "muted" }, this.points.ids[place].split("/").at(-1)),
      doubt ? element("span", {}, `${percent(doubt)} of its neighbours differ`) : null,
    );
    const [x, y] = this.plot.position(place);
    const beside = (value, size, whole) =>
      value + size + 16 > whole ? Math.max(4, value - size - 12) : value + 12;
    const left = beside(x, this.card.offsetWidth, this.stage.clientWidth);
    const top = beside(y, this.card.offsetHeight, this.stage.clientHeight);
    this.card.style.transform = `translate(${left}px, ${top}px)`;
  }

  choose(places) {
    this.list.show(places, "Chosen");
    if (places.length) speak(`${counted(places.length, "item")} chosen.`);
    if (places.length && this.lasso.getAttribute("aria-pressed") === "true") this.toggleLasso();
  }

  async look(place) {
    await this.plot.look([place]);
    this.hover(place);
  }

  async alone(label) {
    await this.plot.only(label === null ? null : this.points.of(label));
  }

  async mistakes() {
    const places = this.points.mistakes();
    this.list.show(
      places,
      places.length ? "Perhaps mislabelled" : "No item disagrees with most of its neighbours.",
    );
    speak(`${count(places.length)} items whose neighbours have another label.`);
    if (places.length) await this.plot.only(places);
  }

  async all() {
    for (const pressed of this.legend.querySelectorAll('[aria-pressed="true"]'))
      pressed.setAttribute("aria-pressed", "false");
    this.list.show([], "");
    this.card.hidden = true;
    await this.plot.only(null);
    await this.plot.whole();
  }
}
