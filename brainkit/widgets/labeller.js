// The labeller. Python holds what was judged; this shows the state it sends and sends back what a key or button means.

function render({ model, el: root }) {
  const kinds = Object.entries(model.get("kinds"));
  const id = `bk-${Math.random().toString(36).slice(2)}`; // several views may show the same labeller
  let state = { candidates: [], question: "" };
  let chosen = 0; // the candidate that the keys are for
  let waiting = false; // for the state that follows from the last key: a second one would be meant for what is to come

  root.classList.add("bk", "bk-label");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Labeller");
  root.tabIndex = -1; // keeps the keys when there is nothing left to choose from
  const hint = (key) => el("kbd", { "aria-hidden": "true" }, key);
  const button = (text, key, act, attributes = {}) =>
    el("button", { type: "button", "aria-keyshortcuts": key, onclick: act, ...attributes }, text, hint(key));

  const count = el("span");
  const progress = el("progress", { "aria-label": "Questions judged", value: "0", max: "1" });
  const saved = el("small");
  const question = el("p", { class: "bk-question" });
  const list = el("ol", { class: "bk-candidates", role: "listbox", tabindex: "0", "aria-label": "Documents found" });
  const kindButtons = kinds.map(([name, meaning], place) =>
    button(`${words(name)}: ${meaning}`, String(place + 1), () => judge("unanswerable", name)));
  const kindBox = el("div", { class: "bk-kinds bk-row", role: "group", "aria-label": "Kind of unanswerable question", hidden: true }, ...kindButtons);
  const unanswerable = button("Unanswerable …", "u", () => toggleKinds(), { "aria-expanded": "false" });
  const done = button("Done, next", "Enter", () => judge("done"), { class: "bk-main" });
  const skip = button("Skip", "s", () => judge("skip"));
  const undo = button("Undo", "z", () => send({ type: "undo" }));
  const input = el("input", { type: "text", "aria-label": "Another question to judge", placeholder: "Another question to judge" });
  const form = el("form", { class: "bk-row" }, input, el("button", { type: "submit" }, "Add"));
  const status = el("p", { class: "bk-status", role: "status" });
  const details = drawer("Document");
  root.append(
    el("header", {}, count, progress, saved), question, list,
    el("div", { class: "bk-row" }, done, unanswerable, skip, undo), kindBox, status, details.node, form,
  );

  function send(message) {
    if (waiting) return;
    waiting = true;
    model.send(message);
  }

  function judge(action, what = "") {
    if (state.question) send({ type: "judge", action, what });
  }

  function mark(answers, place = chosen) {
    const candidate = state.candidates[place];
    if (!candidate) return;
    judge(answers ? "relevant" : "not", candidate.name);
    if (place === chosen && place < state.candidates.length - 1) chosen = place + 1;
  }

  function toggleKinds(open = kindBox.hidden) {
    kindBox.hidden = !open;
    unanswerable.setAttribute("aria-expanded", String(open));
    if (open) kindButtons[0].focus();
  }

  function openDocument(place, opener) {
    const candidate = state.candidates[place];
    if (!candidate) return;
    details.from(opener);
    model.send({ type: "open", name: candidate.name });
  }

  function choose(place) {
    chosen = Math.max(0, Math.min(state.candidates.length - 1, place));
    [...list.children].forEach((node, i) => node.setAttribute("aria-selected", String(i === chosen)));
    const node = list.children[chosen];
    if (!node) return list.removeAttribute("aria-activedescendant");
    list.setAttribute("aria-activedescendant", node.id);
    // Only the list scrolls, never the notebook around it.
    if (node.offsetTop < list.scrollTop) list.scrollTop = node.offsetTop;
    const end = node.offsetTop + node.offsetHeight - list.clientHeight;
    if (end > list.scrollTop) list.scrollTop = end;
  }

  function candidateNode(candidate, place) {
    const pressed = (value) => String(candidate.mark === value);
    const yes = el("button", { type: "button", class: "bk-yes", tabindex: "-1", "aria-pressed": pressed(true), onclick: () => mark(true, place) }, "Answers");
    const no = el("button", { type: "button", class: "bk-no", tabindex: "-1", "aria-pressed": pressed(false), onclick: () => mark(false, place) }, "Does not");
    const open = el("button", { type: "button", tabindex: "-1", "aria-label": `Open ${candidate.name}`, onclick: () => openDocument(place, open) }, "Open");
    const verdict = candidate.mark == null ? "not judged" : candidate.mark ? "answers" : "does not answer";
    const title = candidate.title && candidate.title !== candidate.name ? ` · ${candidate.title}` : "";
    const label = `${candidate.name}${title}, ${verdict}`;
    const node = el("li", { id: `${id}-${place}`, role: "option", "aria-label": label, "data-mark": String(candidate.mark), onclick: () => choose(place) },
      el("div", {}, el("span", { class: "bk-name" }, candidate.name), el("small", {}, title)),
      el("pre", { class: "bk-passage" }, candidate.passage),
      el("div", { class: "bk-row bk-marks" }, yes, no, open));
    return node;
  }

  function show(next) {
    const other = next.question !== state.question;
    const focused = root.contains(root.ownerDocument.activeElement);
    state = next;
    waiting = false;
    if (other) chosen = 0;
    const settled = state.total - state.left;
    say(count, state.total ? `${settled} of ${state.total} questions judged` : "No question yet: ask the brain something, or add one below");
    progress.value = settled;
    progress.max = Math.max(1, state.total);
    say(saved, `${state.labels} labels in ${state.file}`);
    say(question, state.question || (state.total ? "All questions are judged." : ""));
    list.replaceChildren(...state.candidates.map(candidateNode));
    list.hidden = !state.candidates.length;
    for (const node of [done, unanswerable, skip]) node.disabled = !state.question;
    undo.disabled = !state.undo;
    undo.title = state.undo ? `takes back: ${state.undo}` : "";
    toggleKinds(false);
    choose(chosen);
    status.classList.remove("bk-refused");
    say(status, state.undo ? `Saved: ${words(state.undo)}.${other && state.question ? ` Next: ${state.question}` : ""}` : "");
    if (focused && root.ownerDocument.activeElement !== input) (list.hidden ? root : list).focus({ preventScroll: true });
    root.dataset.state = String(Number(root.dataset.state || 0) + 1);
    root.dataset.ready = "true";
  }

  const keys = {
    ArrowDown: () => choose(chosen + 1), j: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1), k: () => choose(chosen - 1),
    r: () => mark(true), n: () => mark(false), u: () => toggleKinds(), s: () => judge("skip"), z: () => send({ type: "undo" }),
    o: () => openDocument(chosen, list), Enter: () => judge("done"), Escape: () => toggleKinds(false),
  };
  keepKeys(root);
  root.addEventListener("keydown", (event) => {
    const typing = event.target === input || event.isComposing || event.ctrlKey || event.metaKey || event.altKey;
    const pressing = ["Enter", " "].includes(event.key) && event.target.closest("button, summary");
    if (typing || pressing) return;
    const kind = kindBox.hidden ? undefined : kinds[Number(event.key) - 1];
    const act = kind ? () => judge("unanswerable", kind[0]) : Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    send({ type: "add", question: input.value });
    input.value = "";
    list.focus({ preventScroll: true });
  });

  const onMessage = (message) => {
    if (message.type === "state") show(message);
    else if (message.type === "opened") details.show(el("h3", {}, message.name), el("pre", {}, message.text));
    else if (message.type === "failed") {
      waiting = false;
      status.classList.add("bk-refused");
      say(status, message.text);
    }
  };
  model.on("msg:custom", onMessage);
  model.send({ type: "ready" });
  return () => model.off("msg:custom", onMessage);
}

export default { render };
