// Opens the space and shows one question at a time: its name is the address after "#".

import { element, replace } from "./dom.js";
import { counted } from "./numbers.js";
import { call } from "./server.js";
import { failure } from "./telling.js";
import { themeChoice } from "./theme.js";
import { attention } from "./views/attention.js";
import { classify } from "./views/classify.js";
import { compare } from "./views/compare.js";
import { enrol } from "./views/enrol.js";
import { map } from "./views/map.js";
import { measures } from "./views/measures.js";
import { search } from "./views/search.js";
import { threshold } from "./views/threshold.js";
import { tree } from "./views/tree.js";

// A view: id, title, explain (one sentence) and make(space), which gives an element and, if it is to be
// told when it is shown again, shown().
const GROUPS = {
  Ask: [compare, search, classify, attention],
  Teach: [enrol],
  Explore: [map, tree],
  Trust: [measures, threshold],
};
const VIEWS = Object.values(GROUPS).flat();

// What all views know: the description of the space, which changes when classes or decisions do.
class Space {
  async refresh() {
    this.info = await call("/info");
    const { name, classes, gallery } = this.info;
    replace(
      document.getElementById("about"),
      element("b", {}, name),
      element("span", {}, counted(classes.length, "class")),
      gallery === null ? null : element("span", {}, counted(gallery, "item")),
    );
    return this.info;
  }
}

const built = new Map();

function show(space) {
  const view = VIEWS.find(({ id }) => `#${id}` === location.hash) ?? VIEWS[0];
  const first = !built.has(view.id);
  if (first) built.set(view.id, made(view, space));
  const main = document.getElementById("view");
  const moved = main.firstElementChild?.dataset.view !== undefined;
  replace(main, built.get(view.id).element);
  if (!first) built.get(view.id).shown?.();
  document.title = `${view.title} · samekind`;
  for (const link of document.querySelectorAll("#questions a")) {
    if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  centre(document.querySelector("#questions [aria-current]"), document.getElementById("questions"));
  if (moved) document.getElementById(`${view.id}-title`).focus({ preventScroll: false });
}

// scrollIntoView would also move where the Tab key goes on, and the first Tab would miss the skip link.
function centre(link, row) {
  const [inner, outer] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}

function made(view, space) {
  const { element: content, shown } = view.make(space);
  return {
    element: element(
      "section",
      { "data-view": view.id, "aria-labelledby": `${view.id}-title`, class: `view ${view.id}` },
      element("h1", { id: `${view.id}-title`, tabindex: -1 }, view.title),
      element("p", { class: "explain" }, view.explain),
      content,
    ),
    shown,
  };
}

function navigation() {
  return Object.entries(GROUPS).map(([title, views]) =>
    element(
      "div",
      { class: "nav-group", role: "group", "aria-label": title },
      element("p", { class: "nav-title", "aria-hidden": "true" }, title),
      views.map(({ id, title: words }) => element("a", { href: `#${id}` }, words)),
    ),
  );
}

// The address names the question, so the link to the question is followed by hand.
function skip(event) {
  event.preventDefault();
  document.getElementById("view").focus();
}

async function start() {
  replace(document.getElementById("settings"), themeChoice());
  replace(document.getElementById("questions"), navigation());
  // A file dropped beside its place must not replace the page.
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
  const space = new Space();
  try {
    await space.refresh();
  } catch (error) {
    replace(document.getElementById("view"), failure(error));
    return;
  }
  document.querySelector(".skip").addEventListener("click", skip);
  window.addEventListener("hashchange", () => show(space));
  show(space);
}

start();
