// The chat. Python holds the conversation; this shows what it sends, and sends back what the reader does.

const NEAR_BOTTOM = 60; // pixels within which the reader is taken to follow
const PATIENCE = 2500; // milliseconds after which a kernel that does not answer is mentioned

function render({ model, el: root }) {
  const view = Math.random().toString(36).slice(2); // several may show one chat
  const tell = (message) => model.send({ ...message, view });
  const turns = new Map(); // number -> { data, nodes }
  let busy = false;
  let following = true;
  let frame = 0;
  let impatient = 0;
  let suggestions = [];

  root.classList.add("bk", "bk-chat");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Chat with your notes");
  keepKeys(root);

  const about = el("small", { class: "bk-about" });
  const anew = el("button", { type: "button", class: "bk-quiet", onclick: () => tell({ type: "forget" }) }, "New");
  anew.setAttribute("aria-label", "New conversation");
  const tune = el("button", { type: "button", class: "bk-quiet", "aria-expanded": "false", onclick: () => toggleSettings() }, "Settings");
  const log = el("div", { class: "bk-log", role: "log", "aria-live": "off", "aria-label": "Conversation", tabindex: "0" });
  const newest = el("button", { type: "button", class: "bk-newest", hidden: true, onclick: () => toBottom() }, "↓ Newest");
  const hints = el("div", { class: "bk-hints", role: "group", "aria-label": "Suggested questions" });
  const input = el("textarea", { rows: "1", "aria-label": "Question", placeholder: "Ask your notes …", enterkeyhint: "send" });
  const send = el("button", { type: "submit", class: "bk-main" }, "Ask");
  const stop = el("button", { type: "button", class: "bk-main", hidden: true, onclick: () => tell({ type: "stop" }) }, "Stop");
  const form = el("form", {}, input, send, stop);
  const status = el("p", { class: "bk-status", role: "status" });
  const aloud = el("div", { class: "bk-aloud", role: "status", "aria-live": "polite" });
  const source = drawer("Source document");
  const settings = drawer("Settings");
  root.append(
    el("header", {}, about, anew, tune), settings.node,
    el("div", { class: "bk-both" }, el("div", { class: "bk-talk" }, log, newest), source.node),
    hints, form, status, aloud,
  );

  // Sending

  function ask(question) {
    if (!question.trim() || busy) return;
    following = true;
    tell({ type: "ask", question });
    input.value = "";
    grow();
    clearTimeout(impatient);
    impatient = setTimeout(() => say(status, "Waiting for the kernel: another cell may be running, or it was stopped."), PATIENCE);
  }

  function grow() {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight + 2, 180)}px`;
  }

  function refuse(text) {
    status.classList.add("bk-refused");
    say(status, text);
  }

  function heard() {
    clearTimeout(impatient);
    status.classList.remove("bk-refused");
    say(status, "");
  }

  // A turn's nodes

  function make(data) {
    const nodes = {
      thought: el("div", { class: "bk-thought" }),
      summary: el("summary", {}, "Thinking …"),
      body: el("div", { class: "bk-text" }),
      after: el("div", { class: "bk-after" }),
    };
    nodes.think = el("details", { class: "bk-think", open: true, hidden: true }, nodes.summary, nodes.thought);
    // Whoever opens or closes it decides from then on.
    nodes.summary.addEventListener("click", () => (nodes.touched = true));
    nodes.root = el("article", { class: "bk-turn", "data-turn": String(data.number), "aria-label": `Question ${data.number + 1}` },
      el("p", { class: "bk-asked" }, data.question), nodes.think, nodes.body, nodes.after);
    return nodes;
  }

  function cite(data) {
    const places = new Map();
    (data.sources ?? []).forEach((one, place) => {
      for (const name of [one.path, `${one.source}:${one.path}`]) places.set(name.toLowerCase(), place);
    });
    return (name) => {
      const place = places.get(name.toLowerCase());
      return place === undefined ? null : sourceButton(data, place, name, "bk-cite");
    };
  }

  function sourceButton(data, place, text, kind) {
    const button = el("button", { type: "button", class: kind, "aria-label": `Open ${data.sources[place].path}` }, text);
    button.addEventListener("click", () => {
      source.from(button);
      tell({ type: "open", number: data.number, source: place });
    });
    return button;
  }

  function draw(turn) {
    const { data, nodes } = turn;
    nodes.root.dataset.state = data.state;
    nodes.root.classList.toggle("bk-deflected", Boolean(data.deflected));
    nodes.think.hidden = !data.thinking;
    say(nodes.thought, data.thinking);
    if (data.text && !turn.closed) {
      turn.closed = true; // once: what is thought later joins it, and does not open it again
      if (!nodes.touched) nodes.think.open = false;
      say(nodes.summary, "Thoughts");
    }
    const show = data.plain || data.deflected ? quoted : markdown;
    const offered = new Set(data.suggestions?.map((text) => `- ${text}`)); // they are buttons below
    const text = data.deflected ? data.text.split("\n").filter((line) => !offered.has(line)).join("\n") : data.text;
    nodes.body.replaceChildren(...show(text, cite(data)));
    if (data.state === "asking" && !data.text) nodes.body.replaceChildren(el("span", { class: "bk-dots", "aria-hidden": "true" }, "…"));
    nodes.after.replaceChildren(...(data.state === "asking" ? [] : after(turn)));
  }

  function after({ data }) {
    const found = [];
    const remark = (text, kind = "bk-remark") => found.push(el("p", { class: kind }, text));
    if (data.looked_for) remark(`Looked for: ${data.looked_for}`, "bk-faint");
    if (data.state === "stopped") remark("Stopped.");
    if (data.state === "failed") remark(data.error, "bk-remark bk-refused");
    if (data.cut) remark("The answer breaks off here.");
    if (data.unsupported?.length) remark(`In none of the given notes: ${data.unsupported.join(", ")}`);
    if (data.removed_citations) remark(`Citations of documents it did not have, taken out: ${data.removed_citations}`);
    if (data.note) remark(data.note);
    if (data.sources?.length) {
      const chips = data.sources.map((one, place) => sourceButton(data, place, one.title && one.title !== one.path ? `${one.title} · ${one.path}` : one.path, "bk-chip"));
      found.push(el("div", { class: "bk-row", role: "group", "aria-label": "Sources" }, ...chips));
    }
    if (data.suggestions?.length) found.push(el("div", { class: "bk-row", role: "group", "aria-label": "Questions the notes answer" }, ...data.suggestions.map(hint)));
    if (data.decision) {
      const { score, threshold } = data.decision;
      const verdict = data.deflected ? "The notes do not seem to hold this" : "From the notes";
      found.push(el("p", { class: "bk-verdict", title: data.decision.reason }, `${verdict} · score ${score.toFixed(2)}, threshold ${threshold.toFixed(2)}`));
    }
    found.push(el("div", { class: "bk-row bk-tools" }, ...tools(data)));
    return found;
  }

  function tools(data) {
    const found = [];
    const verdict = (value, text) =>
      found.push(el("button", { type: "button", class: "bk-quiet", "aria-pressed": String(data.verdict === value), onclick: () => tell({ type: "judge", number: data.number, verdict: value }) }, text));
    if (data.state === "done") {
      verdict("right", data.deflected ? "Right, they don't" : "Right");
      if (data.deflected) verdict("missed", "Should have answered");
      else verdict("wrong", "Wrong");
    }
    if (data.text) {
      const copy = el("button", { type: "button", class: "bk-quiet" }, "Copy");
      copy.addEventListener("click", () => copied(data, copy));
      found.push(copy);
    }
    if (data.number === turns.size - 1) found.push(el("button", { type: "button", class: "bk-quiet", onclick: () => !busy && tell({ type: "retry" }) }, "Ask again"));
    return found;
  }

  async function copied(data, button) {
    const names = (data.sources ?? []).map((one) => one.path).join(", ");
    const text = data.text + (names ? `\n\nFrom: ${names}` : "");
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no permission: the older way
      const area = el("textarea", { class: "bk-aloud" });
      area.value = text;
      root.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    say(button, "Copied");
    setTimeout(() => say(button, "Copy"), 1500);
  }

  function hint(text) {
    return el("button", { type: "button", class: "bk-chip", onclick: () => ask(text) }, text);
  }

  // Painting: at most once a frame, and the bottom is followed only while the reader is there

  const dirty = new Set();
  function paint() {
    frame = 0;
    for (const turn of dirty) draw(turn);
    dirty.clear();
    if (following) log.scrollTop = log.scrollHeight;
    newest.hidden = following || log.scrollHeight <= log.clientHeight;
  }
  function touch(turn) {
    dirty.add(turn);
    frame ||= requestAnimationFrame(paint);
  }
  function toBottom() {
    following = true;
    log.scrollTop = log.scrollHeight;
    newest.hidden = true;
    input.focus({ preventScroll: true });
  }
  log.addEventListener("scroll", () => {
    following = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_BOTTOM;
    if (following) newest.hidden = true;
  });

  function put(data) {
    let turn = turns.get(data.number);
    if (!turn || turn.data.state !== "asking") {
      const nodes = make(data);
      if (turn) turn.nodes.root.replaceWith(nodes.root);
      else log.append(nodes.root);
      turn = { nodes, data, closed: false };
      turns.set(data.number, turn);
    }
    turn.data = { ...data }; // other views are told the same object
    touch(turn);
    const before = turns.get(data.number - 1); // it is no longer the last, and cannot be asked again
    if (before) touch(before);
    return turn;
  }

  function settle() {
    busy = [...turns.values()].some((turn) => turn.data.state === "asking");
    root.setAttribute("aria-busy", String(busy));
    const focused = root.ownerDocument.activeElement;
    stop.hidden = !busy;
    send.hidden = busy;
    if (focused === stop && !busy) input.focus({ preventScroll: true });
    anew.disabled = busy || !turns.size;
    hints.hidden = turns.size > 0 || !suggestions.length;
    root.dataset.turns = String(turns.size);
  }

  // Settings

  function toggleSettings() {
    if (settings.node.hidden) {
      settings.from(tune);
      tell({ type: "settings" });
    } else settings.node.querySelector(".bk-close").click();
  }
  new MutationObserver(() => tune.setAttribute("aria-expanded", String(!settings.node.hidden))).observe(settings.node, { attributes: true, attributeFilter: ["hidden"] });

  function showSettings(data) {
    const field = (label, node, note = "") => el("label", {}, el("span", {}, label), node, note ? el("small", {}, note) : "");
    const retrieval = el("input", { type: "text", spellcheck: "false", value: data.retrieval });
    const gate = el("select", {}, ...data.gates.map((name) => el("option", { value: name, selected: name === data.gate }, name)));
    const threshold = el("input", { type: "text", inputmode: "decimal", placeholder: data.threshold.toFixed(4), value: data.overridden ? String(data.threshold) : "" });
    const steering = el("textarea", { rows: "4", maxlength: String(data.most) });
    steering.value = data.steering;
    const save = el("button", { type: "submit", class: "bk-main" }, "Use these");
    const said = el("p", { class: "bk-status", role: "status" });
    const sheet = el("form", { class: "bk-sheet", novalidate: true },
      field("Retrieval", retrieval), field("Gate", gate),
      field("Threshold", threshold, `In force: ${data.threshold.toFixed(4)} (${data.origin}). Empty: the certificate's.`),
      field("Your words to the model", steering, data.model ? `${data.model} reads them with every question; ${data.most} characters at most.` : "No language model is set, so the notes are quoted and this is not read."),
      el("div", { class: "bk-row" }, save), said);
    sheet.addEventListener("submit", (event) => {
      event.preventDefault();
      const typed = threshold.value.trim().replace(",", ".");
      if (typed && !Number.isFinite(Number(typed))) return say(said, `${typed} is no number.`);
      tell({ type: "adjust", retrieval: retrieval.value, gate: gate.value, threshold: typed ? Number(typed) : null, steering: steering.value });
    });
    settings.show(el("h3", {}, "Settings"), sheet);
    if (data.saved) say(said, "Used from now on, in this brain as it is open here.");
  }

  // What Python says

  const act = {
    state({ turns: all }) {
      turns.clear();
      log.replaceChildren();
      all.forEach(put);
      following = true;
      root.dataset.ready = "true";
    },
    brain({ documents, model: name }) {
      const how = name ? `${name} answers from them` : "they are quoted";
      say(about, documents ? `${documents} ${documents === 1 ? "document" : "documents"}; ${how}` : "No notes yet: brainkit import FOLDER brings them in.");
    },
    suggestions({ items }) {
      suggestions = items;
      hints.replaceChildren(...items.map(hint));
    },
    turn(data) {
      heard();
      put(data);
      following = true;
    },
    piece({ number, text, thinking }) {
      const turn = turns.get(number);
      if (!turn || turn.data.state !== "asking") return;
      turn.data.text += text;
      turn.data.thinking += thinking;
      touch(turn);
    },
    done(data) {
      put(data);
      const start = data.deflected ? "No answer in the notes: " : "Answer ready: ";
      say(aloud, { done: start + data.text.slice(0, 300), stopped: "Stopped.", failed: `Failed: ${data.error}`, asking: "" }[data.state]);
      root.dataset.done = String(data.number);
    },
    judged({ number, verdict }) {
      const turn = turns.get(number);
      if (!turn) return;
      turn.data.verdict = verdict;
      const held = [...turn.nodes.after.querySelectorAll("button")].indexOf(root.ownerDocument.activeElement);
      draw(turn);
      turn.nodes.after.querySelectorAll("button")[held]?.focus({ preventScroll: true });
      say(aloud, "Noted.");
    },
    opened({ title, name, parts, more }) {
      const text = el("pre", {}, ...parts.map(([piece, marked]) => (marked ? el("mark", {}, piece) : piece)), more ? "\n…" : "");
      source.show(el("h3", {}, title), el("small", {}, name), text);
      const mark = text.querySelector("mark");
      source.node.scrollTop = mark ? Math.max(0, mark.offsetTop - 90) : 0;
      source.node.scrollIntoView({ block: "nearest" }); // below the conversation where the screen is narrow
    },
    settings: showSettings,
    refused({ what, text }) {
      if (what !== "adjust" || settings.node.hidden) return refuse(text);
      say(settings.node.querySelector(".bk-status"), text);
    },
  };
  const onMessage = (message) => {
    if (message.view && message.view !== view) return; // another one asked for it
    act[message.type]?.(message);
    settle();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(input.value);
  });
  input.addEventListener("input", grow);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      ask(input.value);
    } else if (event.key === "ArrowUp" && !input.value && turns.size) {
      event.preventDefault();
      input.value = turns.get(turns.size - 1).data.question;
      grow();
    }
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && busy && !event.target.closest(".bk-drawer")) tell({ type: "stop" });
  });

  settle();
  model.on("msg:custom", onMessage);
  tell({ type: "ready" });
  return () => {
    model.off("msg:custom", onMessage);
    cancelAnimationFrame(frame);
    clearTimeout(impatient);
  };
}

export default { render };
