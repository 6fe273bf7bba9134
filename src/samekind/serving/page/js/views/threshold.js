// From which score on are two items the same? Both errors move as one drags.

import { byThreshold } from "../charts/by_threshold.js";
import { Rates } from "../charts/rates.js";
import { tradeoff } from "../charts/tradeoff.js";
import { confirmed } from "../dialogs.js";
import { button, element, replace } from "../dom.js";
import { field, settings } from "../fields.js";
import { kindChoice, kindWords } from "../kinds.js";
import { counted, outOf, percent, score } from "../numbers.js";
import { call } from "../server.js";
import { Answer, failure, nothing, speak } from "../telling.js";

export const threshold = {
  id: "threshold",
  title: "Threshold",
  explain: "From this score on, two items are called the same. Drag it, and see what it costs on each side.",
  make,
};

const STEPS = 1000;

function make(space) {
  const answer = new Answer();
  const kinds = Object.keys(space.info.decisions);
  const show = () =>
    answer.show(
      async () => new Slider(space, await call("/tradeoff", { query: { kind: kind.value() } })).element,
      "Reading the trials …",
    );
  const kind = kindChoice(kinds, show, space.info.kind_for?.pairs);
  if (kinds.length) show();
  else
    replace(
      answer.element,
      nothing(
        "This space has no threshold yet",
        "It is fitted on labelled items that the training did not see.",
        "samekind calibrate SPACE FOLDER",
      ),
    );
  return { element: element("div", { class: "wide" }, answer.element, settings(kind.element)) };
}

class Slider {
  constructor(space, curve) {
    Object.assign(this, { space, curve, rates: new Rates(curve), threshold: curve.decision?.threshold ?? 0 });
    this.charts = element("div", { class: "two" });
    this.figures = element("div", { class: "two" });
    this.said = element("output", { class: "named" });
    this.told = element("div", {});
    this.input = element("input", {
      type: "range",
      min: 0,
      max: STEPS,
      step: 1,
      oninput: () => this.drag(),
      onchange: () => speak(this.words()),
    });
    this.element = element(
      "div",
      { class: "wide" },
      element(
        "div",
        { class: "card stack" },
        element("div", { class: "row between" }, field("Threshold", this.input), this.said),
        this.shortcuts(),
        this.figures,
        element("p", { class: "muted small" }, `${trials(curve)} Score: ${kindWords(curve.kind)}.`),
        this.saving(),
        this.told,
      ),
      this.charts,
    );
    this.input.parentElement.classList.add("grow");
    this.move(this.threshold);
  }

  get span() {
    return this.rates.highest - this.rates.lowest || 1;
  }

  drag() {
    this.threshold = this.rates.lowest + (this.span * this.input.value) / STEPS;
    this.draw();
  }

  move(value) {
    this.threshold = value;
    this.input.value = Math.round((STEPS * (value - this.rates.lowest)) / this.span);
    this.draw();
  }

  shortcuts() {
    const places = [
      ["The decision now", () => this.curve.decision.threshold],
      ["Equal errors", () => this.rates.equal.threshold],
      ["1 % accepted wrongly", () => this.rates.forAccepts(0.01).threshold],
      ["0.1 % accepted wrongly", () => this.rates.forAccepts(0.001).threshold],
    ];
    return element(
      "div",
      { class: "row" },
      places.map(([words, value]) =>
        button(words, () => {
          this.move(value());
          speak(this.words());
        }),
      ),
    );
  }

  draw() {
    const { accepts, rejects } = this.rates.at(this.threshold);
    this.said.textContent = score(this.threshold);
    this.input.setAttribute("aria-valuetext", this.words());
    replace(
      this.figures,
      figure("accepts", accepts, "of different pairs are called the same", "false accepts"),
      figure("rejects", rejects, "of same pairs are missed", "false rejects"),
    );
    replace(
      this.charts,
      card(
        byThreshold(this.rates, this.threshold),
        "Both errors at every threshold",
        "Solid: different pairs accepted. Dashed: same pairs missed.",
      ),
      card(
        tradeoff(this.rates, this.threshold),
        "Error trade-off",
        "The ring is the threshold. On the dotted line both errors are equal.",
      ),
    );
    if (this.save) this.save.disabled = this.threshold === this.curve.decision.threshold;
  }

  words() {
    const { accepts, rejects } = this.rates.at(this.threshold);
    return `${score(this.threshold)}: ${percent(accepts)} accepted wrongly, ${percent(rejects)} missed`;
  }

  saving() {
    if (this.space.info.role !== "admin") return null;
    this.save = button("Save as the decision", () => this.decide(), { class: "button primary" });
    return element("div", { class: "row" }, this.save);
  }

  async decide() {
    const sure = await confirmed(
      "Save this threshold?",
      `From now on everybody's answers go by ${this.words()}.`,
      "Save",
    );
    if (!sure) return;
    try {
      const { kind } = this.curve;
      this.curve.decision = await call("/decision", {
        method: "PUT",
        query: { kind, threshold: this.threshold },
      });
      await this.space.refresh();
      const words = `Saved. The decision for ${kindWords(kind)} is now ${score(this.curve.decision.threshold)}.`;
      replace(this.told, element("p", { class: "done" }, words));
      speak(words);
      this.move(this.curve.decision.threshold);
    } catch (error) {
      replace(this.told, failure(error));
    }
  }
}

const figure = (name, share, words, term) =>
  element(
    "p",
    { class: `figure ${name}` },
    element("b", {}, percent(share)),
    element("span", {}, words),
    element("span", { class: "muted small" }, `${term}: about ${outOf(share)}`),
  );

const card = (chart, title, words) =>
  element(
    "figure",
    { class: "with-chart card" },
    element("figcaption", {}, title, element("small", {}, words)),
    chart,
  );

function trials({ trials: { same, different, sentence: words } }) {
  const about = words ? ` (${words.split(":")[0]})` : "";
  return `Measured on ${counted(different, "different pair")} and ${counted(same, "same pair")}${about}.`;
}
