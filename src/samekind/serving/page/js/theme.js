// Light or dark: as the system, unless the reader chooses. The choice is kept on this machine.

import { element } from "./dom.js";

const NAME = "samekind-theme";
const CHOICES = { system: "As the system", light: "Light", dark: "Dark" };

const chosen = () => localStorage.getItem(NAME) ?? "system";

// "system" has no rule of its own: the style sheet follows the system by itself.
function apply() {
  document.documentElement.dataset.theme = chosen();
  document.dispatchEvent(new Event("theme"));
}

// A colour of the style sheet, as what draws on a canvas needs it: light or dark is settled.
export function colour(name) {
  const probe = element("i", { class: `colour-${name}`, hidden: true });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function themeChoice() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  const options = Object.entries(CHOICES).map(([value, words]) =>
    element("option", { value, selected: value === chosen() }, words),
  );
  const select = element("select", { id: "theme" }, options);
  select.addEventListener("change", () => {
    localStorage.setItem(NAME, select.value);
    apply();
  });
  apply();
  return element("label", { class: "theme" }, element("span", {}, "Colours"), select);
}
