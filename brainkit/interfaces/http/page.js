// The page: asks over fetch, shows what comes as text nodes only. Nothing from a note or a model ever becomes markup.
"use strict";

const $ = (id) => document.getElementById(id);
const KEY = "brainkit-token";
const MOST_SHOWN = 200;
const MOST_KEPT = 6000;
let said = [];
let running = null;
let documents = null;

// Tools

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function button(label, act, className) {
  const node = make("button", className, label);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname);
}

class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  if (options.body) headers["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "brainkit serve does not answer: is it still running?");
  }
  if (reply.ok) return reply;
  const detail = await reply.json().then((body) => body.detail, () => "");
  if (reply.status === 401) askForToken("This token is not, or no longer, the right one.");
  throw new Refused(reply.status, detail || `the server said ${reply.status}`);
}

const read = async (path) => (await call(path)).json();

// Views

function show(view) {
  for (const name of ["chat", "notes", "login"]) $(name).hidden = name !== view;
  for (const tab of document.querySelectorAll("nav button")) {
    tab.hidden = view === "login";
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (view === "notes") showNotes();
  if (view === "chat") $("question").focus();
}

function askForToken(reason) {
  const had = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  show("login");
  $("login-error").textContent = had ? reason : "";
  $("token").focus();
}

async function start() {
  takeToken();
  if (!sessionStorage.getItem(KEY)) return askForToken("");
  show("chat");
  try {
    const health = await read("api/health");
    const who = health.model ? `${health.model} answers` : "notes are quoted";
    $("health").textContent = `${health.documents.toLocaleString("en")} documents · ${who}`;
    if (!health.documents) $("hint").textContent = "They are not here yet: run `brainkit import ~/notes`, then reload.";
    suggest($("suggestions"), (await read("api/suggestions")).suggestions);
  } catch (error) {
    $("health").textContent = error.message;
  }
}

// Chat

// Asked as it stands: it was found to be answered, and needs nothing of what was said before.
function suggest(place, questions) {
  place.replaceChildren(...questions.map((question) => button(question, () => ask(question, []))));
}

const atBottom = () => innerHeight + scrollY > document.documentElement.scrollHeight - 60;
const toBottom = () => scrollTo(0, document.documentElement.scrollHeight);

function busy(yes) {
  $("send").hidden = yes;
  $("stop").hidden = !yes;
  $("anew").hidden = yes || !$("talk").childElementCount;
}

async function ask(question, before = said.slice(-20)) {
  if (running || !question.trim()) return;
  $("welcome").hidden = true;
  $("suggestions").replaceChildren();
  $("talk").append(make("div", "asked", question));
  await answer(question, before);
}

async function answer(question, before) {
  const place = make("div", "answer");
  const view = new Answer(place);
  $("talk").append(place);
  toBottom();
  running = new AbortController();
  busy(true);
  $("status").textContent = "Looking through the notes";
  try {
    const body = JSON.stringify({ question, history: before, details: true });
    const reply = await call("api/chat", { method: "POST", body, signal: running.signal });
    for await (const event of events(reply.body)) {
      const follow = atBottom();
      view[event.type](event);
      if (follow) toBottom();
    }
    if (!view.reply) throw new Refused(0, "the answer broke off");
    said.push({ role: "user", text: question }, { role: "assistant", text: view.reply.text.slice(0, MOST_KEPT) });
    $("status").textContent = view.deflected ? "The notes hold no answer" : "Answered";
  } catch (error) {
    if (error.name === "AbortError") view.remark("Stopped.");
    else fail(place, error, () => answer(question, before));
    $("status").textContent = error.name === "AbortError" ? "Stopped" : "That failed";
  } finally {
    view.end();
    running = null;
    busy(false);
    if (!$("chat").hidden) $("question").focus({ preventScroll: true });
  }
}

function fail(place, error, retry) {
  const again = button("Try again", () => {
    if (running) return;
    place.remove();
    retry();
  });
  place.append(make("div", "failed", make("span", "", error.message || "The connection broke off."), again));
  if (atBottom()) toBottom();
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (kept + value).split("\n\n");
    kept = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}

class Answer {
  constructor(place) {
    this.place = place;
    this.raw = document.createTextNode("");
    this.text = make("div", "text waiting", this.raw);
    place.append(this.text);
    place.setAttribute("aria-busy", "true");
  }

  thinking(event) {
    if (!this.thought) {
      this.thought = document.createTextNode("");
      this.box = make("details", "thinking", make("summary", "", "Thinking"), make("div", "", this.thought));
      this.box.open = !this.raw.data;
      this.place.prepend(this.box);
      this.text.classList.remove("waiting");
    }
    this.thought.appendData(event.text);
  }

  delta(event) {
    if (!this.raw.data && this.box) this.box.open = false;
    this.text.classList.remove("waiting");
    this.raw.appendData(event.text);
  }

  done(event) {
    this.reply = event.reply;
    this.deflected = event.deflected;
    const offered = event.suggestions.map((question) => `- ${question}`);  // they stand below, to be clicked
    const text = event.reply.text.split("\n").filter((line) => !offered.includes(line)).join("\n").trimEnd();
    this.text.replaceChildren(...formatted(text, event.sources));
    if (event.deflected) this.place.prepend(make("p", "badge", "Not in the notes"));
    if (event.sources.length) {
      const chips = make("div", "chips sources");
      chips.setAttribute("role", "group");
      chips.setAttribute("aria-label", "Sources");
      chips.append(...event.sources.map((source) => button(source.title || source.path, () => open(source))));
      this.place.append(chips);
    }
    if (event.suggestions.length) {
      const chips = make("div", "chips");
      suggest(chips, event.suggestions);
      this.place.append(chips);
    }
    const { note, unsupported, removed_citations: removed, reason, question } = event.reply;
    if (unsupported.length) this.remark(`In none of the given notes: ${unsupported.join(", ")}`);
    if (removed) this.remark(`Citations of documents it did not have, taken out: ${removed}`);
    if (note) this.remark(note);
    this.place.append(make("p", "reason", `Looked for: ${question} · ${reason}`));
  }

  remark(text) {
    if (!this.remarks) this.place.append((this.remarks = make("ul", "remarks")));
    this.remarks.append(make("li", "", text));
  }

  end() {
    this.text.classList.remove("waiting");
    this.place.removeAttribute("aria-busy");
    if (!this.text.textContent) this.text.remove();
  }
}

// Text -> nodes: code blocks, `code`, **bold** and citations of the given sources; all else, links too, stays text.
function formatted(text, sources) {
  const cited = new Map();
  for (const source of sources) {
    cited.set(`[${source.path}]`, source);
    cited.set(`[${source.source}:${source.path}]`, source);
  }
  const names = [...cited.keys()].map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  const shape = ["```[^\\n`]*\\n[\\s\\S]*?\\n```", "`[^`\\n]+`", "\\*\\*[^*\\n]+\\*\\*", ...names].join("|");
  return text.split(new RegExp(`(${shape})`)).filter(Boolean).map((part) => {
    if (cited.has(part)) return button(part, () => open(cited.get(part)));
    if (/^```[^\n`]*\n[\s\S]*\n```$/.test(part)) return make("pre", "", part.replace(/^.*\n|\n.*$/g, ""));
    if (/^`[^`\n]+`$/.test(part)) return make("code", "", part.slice(1, -1));
    if (/^\*\*[^*\n]+\*\*$/.test(part)) return make("strong", "", part.slice(2, -2));
    return document.createTextNode(part);
  });
}

// Documents

async function open(source) {
  $("viewer-title").textContent = source.title || source.path;
  $("viewer-path").textContent = `${source.source}: ${source.path}`;
  $("viewer-text").textContent = "Loading …";
  $("viewer").showModal();
  try {
    const query = new URLSearchParams({ source: source.source, path: source.path });
    $("viewer-text").textContent = (await read(`api/documents/content?${query}`)).content;
  } catch (error) {
    $("viewer-text").textContent = error.message;
  }
  $("viewer-text").scrollTop = 0;
}

async function showNotes() {
  try {
    const first = await read("api/docs?limit=10000");
    documents = first.documents;
    while (documents.length && documents.length % 10000 === 0) {
      const more = (await read(`api/docs?limit=10000&offset=${documents.length}`)).documents;
      if (!more.length) break;
      documents.push(...more);
    }
    $("sources").tBodies[0].replaceChildren(...first.sources.map((source) =>
      row(source.source, source.documents, source.chunks, source.indexed_at)));
    $("notes-error").hidden = true;
    filter();
  } catch (error) {
    $("notes-error").textContent = error.message;
    $("notes-error").hidden = false;
  }
}

function row(...cells) {
  const line = make("tr");
  const last = cells.length - 1;
  cells.forEach((value, place) => {
    const shown = place === last ? make("time", "", day(value)) : typeof value === "number" ? value.toLocaleString("en") : value;
    line.append(make("td", typeof value === "number" ? "number" : "", shown));
  });
  return line;
}

const day = (moment) => {
  const at = new Date(moment);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
};

function filter() {
  if (!documents) return;
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fit = documents.filter((one) => {
    const text = `${one.source}:${one.path} ${one.title}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  $("documents").tBodies[0].replaceChildren(...fit.slice(0, MOST_SHOWN).map((one) => {
    const name = button(make("span", "title", one.title || one.path), () => open(one));
    name.append(make("span", "path", `${one.source}: ${one.path}`));
    return row(name, one.chunks, one.indexed_at);
  }));
  $("shown").textContent = fit.length > MOST_SHOWN
    ? `${MOST_SHOWN} of ${fit.length.toLocaleString("en")}; the filter narrows it`
    : `${fit.length} of ${documents.length.toLocaleString("en")}`;
}

// Wiring

document.addEventListener("DOMContentLoaded", () => {
  const field = $("question");
  const fit = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  };
  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    $("composer").requestSubmit();
  });
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) return;
    const question = field.value;
    field.value = "";
    fit();
    ask(question);
  });
  $("stop").addEventListener("click", () => running?.abort());
  $("anew").addEventListener("click", () => {
    said = [];
    $("talk").replaceChildren();
    $("welcome").hidden = false;
    busy(false);
    start();
  });
  $("login").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, $("token").value.trim());
    $("token").value = "";
    start();
  });
  for (const tab of document.querySelectorAll("nav button")) tab.addEventListener("click", () => show(tab.dataset.view));
  $("filter").addEventListener("input", filter);
  $("close").addEventListener("click", () => $("viewer").close());
  $("viewer").addEventListener("click", (event) => event.target === $("viewer") && $("viewer").close());
  addEventListener("hashchange", () => location.hash.startsWith("#token=") && start());
  busy(false);
  start();
});
