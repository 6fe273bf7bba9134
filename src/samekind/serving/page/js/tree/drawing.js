// The tree as a drawing that opens and closes, by mouse and by keys (the pattern "tree view" of WAI-ARIA).

import { replace, svg } from "../dom.js";
import { closeDeep, everything, nameByMembers, place, prepared, rowsOf } from "./layout.js";

const ROW = 26;
const WIDEST = 600; // the branches, on a wide screen
const NARROWEST = 150;
const LETTER = 7.6; // the width of one, about
const MOST_ROWS = 60;

export class TreeDrawing {
  // named: whether groups have names of their own; else they are called by their members.
  constructor(nodes, named) {
    this.root = prepared(nodes);
    if (!named) nameByMembers(this.root);
    closeDeep(this.root, MOST_ROWS);
    this.current = this.root;
    this.element = svg("svg", { class: "tree-drawing", role: "tree", "aria-label": "Tree of the classes" });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.room = WIDEST;
    this.draw();
    // The size of the place, not of the drawing: what is drawn does not change it.
    const observer = new ResizeObserver(([{ contentRect }]) => {
      this.room = contentRect.width;
      this.draw();
    });
    requestAnimationFrame(() => this.element.parentElement && observer.observe(this.element.parentElement));
  }

  openAll() {
    this.setAll(true);
  }

  closeAll() {
    this.setAll(false);
  }

  setAll(open) {
    for (const node of everything(this.root)) node.open = open || node === this.root;
    this.current = this.root;
    this.draw();
  }

  draw() {
    const nodes = place(this.root);
    const rows = rowsOf(this.root);
    const height = ROW * rows.length;
    const names = 24 + LETTER * Math.max(...rows.map((node) => words(node).length));
    const branches = Math.min(WIDEST, Math.max(NARROWEST, this.room - names));
    const width = branches + names;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      this.element.setAttribute(name, value);
    const x = (node) => 14 + node.x * (branches - 28);
    const y = (node) => ROW * (node.y + 0.5);
    const lines = nodes
      .filter((node) => node.parent)
      .map((node) =>
        svg("path", {
          class: "branch",
          "aria-hidden": "true",
          d: `M${x(node.parent)} ${y(node.parent)}V${y(node)}H${x(node)}`,
        }),
      );
    const focused = this.element.contains(document.activeElement);
    replace(
      this.element,
      lines,
      nodes.map((node) => this.item(node, x(node), y(node))),
    );
    if (focused) this.element.querySelector('[tabindex="0"]')?.focus();
  }

  item(node, x, y) {
    const group = node.children.length > 0;
    const shut = group && !node.open;
    const named = !group || shut;
    return svg(
      "g",
      {
        role: "treeitem",
        tabindex: node === this.current ? 0 : -1,
        "data-node": everything(this.root).indexOf(node),
        "aria-level": node.depth + 1,
        "aria-expanded": group ? String(node.open) : null,
        "aria-label": group ? `${node.name}, ${node.leaves} classes` : node.name,
        "aria-selected": String(node === this.current),
        onclick: () => this.choose(node, true),
      },
      svg("rect", {
        class: "target",
        x: x - 10,
        y: y - 11,
        width: named ? 30 + LETTER * words(node).length : 20,
        height: 22,
        rx: 6,
      }),
      group
        ? svg("circle", { class: shut ? "node closed" : "node", cx: x, cy: y, r: 5 })
        : svg("circle", { class: "leaf", cx: x, cy: y, r: 3 }),
      svg("title", {}, words(node)),
      named && svg("text", { x: x + 12, y, class: group ? "group" : null }, words(node)),
    );
  }

  choose(node, toggles) {
    this.current = node;
    if (toggles && node.children.length) node.open = !node.open;
    this.draw();
    this.element.querySelector('[tabindex="0"]')?.focus();
  }

  key(event) {
    const node = this.current;
    const seen = [...this.element.querySelectorAll('[role="treeitem"]')].map(
      (item) => everything(this.root)[item.dataset.node],
    );
    const place = seen.indexOf(node);
    const moves = {
      ArrowDown: () => this.choose(seen[place + 1] ?? node, false),
      ArrowUp: () => this.choose(seen[place - 1] ?? node, false),
      Home: () => this.choose(seen[0], false),
      End: () => this.choose(seen.at(-1), false),
      ArrowRight: () =>
        node.children.length && !node.open
          ? this.choose(node, true)
          : this.choose(node.children[0] ?? node, false),
      ArrowLeft: () =>
        node.children.length && node.open ? this.choose(node, true) : this.choose(node.parent ?? node, false),
      Enter: () => this.choose(node, true),
      " ": () => this.choose(node, true),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }
}

const words = (node) => (node.children.length ? `${node.name} (${node.leaves})` : node.name);
