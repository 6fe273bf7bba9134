// Elements from words: element("p", { class: "note" }, "text", child).

const SVG = "http://www.w3.org/2000/svg";

export const element = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Attributes of which the name begins with "on" are listeners; true is an empty attribute, false and null none.
function fill(node, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...present(children));
  return node;
}

const present = (children) =>
  children.flat().filter((child) => child !== null && child !== undefined && child !== false);

export function replace(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

let counter = 0;

export const freshId = (stem) => `${stem}-${++counter}`;

export const button = (words, onclick, attributes = {}) =>
  element("button", { type: "button", class: "button", onclick, ...attributes }, words);
