// Calls of the server. Its answers are JSON, and its errors are sentences.

import { forgetToken, askForToken, token } from "./token.js";

class ServerError extends Error {
  constructor(sentence, status, wait = null) {
    super(sentence);
    this.status = status;
    this.wait = wait; // seconds after which the server wants to be asked again
  }
}

// query: values of the address (null is left out). form: values, files or lists of files. as: "json" or "blob".
export async function call(
  path,
  { method = "GET", query = {}, form = null, as = "json", signal = null } = {},
) {
  const response = await send(address(path, query), { method, body: form && body(form), signal });
  if (!response.ok)
    throw new ServerError(await sentenceOf(response), response.status, response.headers.get("Retry-After"));
  return as === "blob" ? { blob: await response.blob(), headers: response.headers } : response.json();
}

function address(path, query) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") values.set(name, value);
  }
  const text = values.toString();
  return text ? `${path}?${text}` : path;
}

function body(form) {
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (part instanceof File) data.append(name, part, part.name);
      else if (part !== null && part !== undefined && part !== "") data.append(name, part);
    }
  }
  return data;
}

// Asks for a token where one is needed, as often as it takes.
async function send(url, options) {
  let rejected = false;
  for (;;) {
    const used = token();
    const headers = used ? { Authorization: `Bearer ${used}` } : {};
    let response;
    try {
      response = await fetch(url, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerError("The server does not answer. Is samekind serve still running?", 0);
    }
    if (response.status !== 401) return response;
    if (used && used === token()) {
      forgetToken();
      rejected = true;
    }
    if (!token()) await askForToken(rejected);
  }
}

async function sentenceOf(response) {
  try {
    const { error } = await response.json();
    if (error) return sentence(error);
  } catch {
    // Not JSON: something between the page and the server has answered.
  }
  return `The server answered with the status ${response.status}.`;
}

export function sentence(text) {
  // A word is capitalised, the name of a file or a setting is not.
  const begun = /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?:)]$/.test(begun) ? begun : `${begun}.`;
}
