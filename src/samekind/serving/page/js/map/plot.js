// The canvas of the map: regl-scatterplot, with keys.

import createScatterplot from "../../vendor/regl-scatterplot.js";
import { element } from "../dom.js";
import { colour } from "../theme.js";
import { CLASSES, colourPlace, DOUBTS } from "./colours.js";

const SMALL = 5000; // with more points than this, each is smaller
const STEP = 0.2; // how far an arrow moves the map
const ZOOM = 1.3;

export class Plot {
  // over(place or null), chosen(places): told when the pointer is on a point, and after a lasso.
  constructor(points, { over, chosen }) {
    this.points = points;
    this.moving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": `Map of ${points.length} items. Arrow keys move it, plus and minus zoom, 0 shows all.`,
      onkeydown: (event) => this.key(event),
    });
    this.told = { over, chosen };
  }

  // After the canvas is on the page: it takes the size of its place.
  async start() {
    const few = this.points.length <= SMALL;
    this.plot = createScatterplot({
      canvas: this.canvas,
      width: "auto",
      height: "auto",
      pointSize: few ? 6 : 3,
      pointSizeSelected: 2,
      opacity: few ? 0.85 : 0.6,
      pointOutlineWidth: 2,
      lassoColor: rgb("accent"),
      lassoLineWidth: 2,
      lassoMinDelay: 8,
      lassoMinDist: 2,
      backgroundColor: rgb("card"),
      pointColorHover: rgb("ink"),
      pointColorActive: rgb("ink"),
      deselectOnDblClick: true,
      spatialIndexUseWorker: false,
      showReticle: false,
      colorBy: "category",
      pointColor: CLASSES,
    });
    this.plot.subscribe("pointOver", (place) => this.told.over(place));
    this.plot.subscribe("pointOut", () => this.told.over(null));
    this.plot.subscribe("select", ({ points }) => this.told.chosen(points));
    this.plot.subscribe("deselect", () => this.told.chosen([]));
    document.addEventListener("theme", () =>
      this.plot.set({
        backgroundColor: rgb("card"),
        pointColorHover: rgb("ink"),
        pointColorActive: rgb("ink"),
        lassoColor: rgb("accent"),
      }),
    );
    await this.colourBy("class");
    await this.whole();
  }

  async colourBy(what) {
    const byClass = what === "class";
    const { x, y, label, doubt } = this.points;
    this.plot.set({ pointColor: byClass ? CLASSES : DOUBTS });
    const category = byClass
      ? label.map(colourPlace)
      : doubt.map((value) => Math.round(value * (DOUBTS.length - 1)));
    await this.plot.draw({ x, y, category }, { zDataType: "categorical", preventFilterReset: true });
  }

  // null shows every point.
  async only(places) {
    this.plot.deselect({ preventEvent: true });
    if (places === null) await this.plot.unfilter();
    else await this.plot.filter(places);
  }

  async look(places) {
    if (places.length)
      await this.plot.zoomToPoints(places, {
        padding: places.length === 1 ? 8 : 0.3,
        transition: this.moving,
      });
  }

  lasso(on) {
    this.plot.set({ mouseMode: on ? "lasso" : "panZoom" });
  }

  // All points, also in a place that is higher than wide.
  whole() {
    return this.plot.zoomToLocation([0, 0], this.far(), { transition: false });
  }

  far() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return width ? Math.max(1, height / width) : 1;
  }

  resized() {
    this.plot?.set({ width: "auto", height: "auto" });
  }

  // Of a point, in the place of the canvas.
  position(place) {
    return this.plot.getScreenPosition(place);
  }

  key(event) {
    const [x, y] = this.plot.get("cameraTarget");
    const distance = this.plot.get("cameraDistance");
    const step = STEP * distance;
    const moves = {
      ArrowLeft: [[x - step, y], distance],
      ArrowRight: [[x + step, y], distance],
      ArrowUp: [[x, y + step], distance],
      ArrowDown: [[x, y - step], distance],
      "+": [[x, y], distance / ZOOM],
      "=": [[x, y], distance / ZOOM],
      "-": [[x, y], distance * ZOOM],
      0: [[0, 0], this.far()],
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    this.plot.zoomToLocation(...moves[event.key]);
  }
}

// A colour of the page as three numbers between 0 and 1, whatever the style sheet writes.
function rgb(name) {
  const canvas = element("canvas", { width: 1, height: 1 });
  const context = canvas.getContext("2d");
  context.fillStyle = colour(name);
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
}
