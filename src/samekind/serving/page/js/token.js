// The access token: kept for this tab alone, and asked for where the server wants one.

import { button, element } from "./dom.js";

const NAME = "samekind-token";
let waiting = null;

export const token = () => sessionStorage.getItem(NAME);

export const forgetToken = () => sessionStorage.removeItem(NAME);

// One dialog for all calls that wait.
export function askForToken(rejected) {
  waiting ??= dialog(rejected).finally(() => (waiting = null));
  return waiting;
}

function dialog(rejected) {
  return new Promise((resolve) => {
    const input = element("input", {
      id: "token",
      type: "password",
      name: "token",
      required: true,
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": "token-note",
    });
    const form = element(
      "form",
      { method: "dialog", class: "stack" },
      element("h2", { id: "token-title" }, "This server asks for a token"),
      element(
        "p",
        { id: "token-note", role: rejected ? "alert" : null, class: rejected ? "error" : "muted" },
        rejected
          ? "The server does not know this token. Try another one."
          : "Whoever started the server gives you one. It stays in this tab and is forgotten when you close it.",
      ),
      element("label", { for: "token" }, "Token"),
      input,
      element(
        "div",
        { class: "row end" },
        button("Continue", null, { type: "submit", class: "button primary" }),
      ),
    );
    const box = element("dialog", { "aria-labelledby": "token-title" }, form);
    // Without a token nothing can be shown: Escape does not close the dialog.
    box.addEventListener("cancel", (event) => event.preventDefault());
    form.addEventListener("submit", () => sessionStorage.setItem(NAME, input.value.trim()));
    box.addEventListener("close", () => {
      box.remove();
      resolve();
    });
    document.body.append(box);
    box.showModal();
    input.focus();
  });
}
