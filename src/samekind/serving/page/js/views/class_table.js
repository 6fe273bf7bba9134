// The classes of the space, with what may be done to them.

import { button, element, replace } from "../dom.js";
import { field } from "../fields.js";
import { confirmed, newName } from "../dialogs.js";
import { count, counted } from "../numbers.js";
import { call } from "../server.js";
import { failure, speak } from "../telling.js";

const MOST = 200;

export class ClassTable {
  constructor(space) {
    this.space = space;
    this.rows = [];
    this.filter = element("input", { type: "search", oninput: () => this.draw(), autocomplete: "off" });
    this.problem = element("div", {});
    this.list = element("div", { class: "table-scroll" });
    this.element = element(
      "section",
      { class: "stack", "aria-label": "Classes" },
      element("h2", {}, "Classes"),
      field("Find a class", this.filter),
      this.problem,
      this.list,
    );
    this.refresh();
  }

  async refresh() {
    await this.change(() => call("/classes"));
  }

  async change(ask) {
    try {
      this.rows = (await ask()).classes;
      replace(this.problem);
      this.draw();
    } catch (error) {
      replace(this.problem, failure(error));
    }
  }

  draw() {
    const wanted = this.filter.value.trim().toLowerCase();
    const rows = this.rows.filter(({ name }) => name.toLowerCase().includes(wanted));
    const shown = rows.slice(0, MOST);
    const about =
      rows.length > MOST
        ? `The first ${MOST} of ${counted(rows.length, "class")}; type to find others.`
        : counted(rows.length, "class");
    const head = ["Class", "Examples", "", ""].map((words, i) =>
      element(
        "th",
        { scope: "col", class: i === 1 ? "number" : null },
        words || element("span", { class: "spoken" }, i === 2 ? "Origin" : "Actions"),
      ),
    );
    replace(
      this.list,
      element(
        "table",
        {},
        element("caption", {}, about),
        element("thead", {}, element("tr", {}, head)),
        element(
          "tbody",
          {},
          shown.map((row) => this.row(row)),
        ),
      ),
    );
  }

  row({ name, examples, enrolled }) {
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", { class: "number" }, examples ? count(examples) : "–"),
      element("td", {}, enrolled ? element("span", { class: "badge" }, "enrolled") : null),
      element(
        "td",
        { class: "actions" },
        this.space.info.role !== "admin"
          ? null
          : [
              button("Rename", () => this.rename(name), {
                class: "button quiet",
                "aria-label": `Rename ${name}`,
              }),
              button("Delete", () => this.remove(name), {
                class: "button quiet danger",
                "aria-label": `Delete ${name}`,
              }),
            ],
      ),
    );
  }

  async rename(name) {
    const to = await newName(name);
    if (!to || to === name) return;
    await this.change(() => call("/classes", { method: "PATCH", query: { name, to } }));
    await this.told(`${name} is now called ${to}.`);
  }

  async remove(name) {
    if (
      !(await confirmed(
        `Delete the class ${name}?`,
        "Items of it will no longer be named by it. This cannot be undone.",
        "Delete",
      ))
    )
      return;
    await this.change(() => call("/classes", { method: "DELETE", query: { name } }));
    await this.told(`${name} is deleted.`);
  }

  async told(words) {
    if (this.problem.hasChildNodes()) return;
    speak(words);
    await this.space.refresh();
  }
}
