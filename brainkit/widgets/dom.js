// What the widgets share. Nodes are made one by one and filled by textContent: text from notes never becomes markup.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// Sets a text only where it changed: screen readers repeat what is set again.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const percent = (share) => (share == null ? "–" : `${Math.round(100 * share)} %`);
export const words = (name) => name.replaceAll("_", " ");

// Keeps keys and typing to the widget: a notebook takes single letters for commands ("b" makes a new cell).
export function keepKeys(root) {
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.addEventListener("keydown", (event) => event.stopPropagation());
}

// Calls `redraw` when the colours have changed, of the notebook or of the machine; returns what ends that. They are
// looked at now and then: a theme says that it is on before its style sheet is, and starts no transition either.
export function onTheme(root, redraw) {
  const look = () => [getComputedStyle(root).color, getComputedStyle(root).backgroundColor].join();
  let seen = look();
  const timer = setInterval(() => {
    if (look() === seen) return;
    seen = look();
    redraw();
  }, 400);
  return () => clearInterval(timer);
}

// A canvas as wide as its place, sharp on any screen; gives its context with CSS pixels as the unit, or null while it
// is out of sight (a notebook takes out what is scrolled away).
export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !height) return null;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// A section beside or below the rest that shows one thing at a time; closing it gives the focus back.
export function drawer(label) {
  let opener = null;
  const body = el("div", { class: "bk-drawer-body" });
  const node = el("section", { class: "bk-drawer", "aria-label": label, tabindex: "-1", hidden: true });
  const close = () => {
    node.hidden = true;
    opener?.focus();
  };
  const button = el("button", { type: "button", class: "bk-close", "aria-label": `Close ${label.toLowerCase()}`, onclick: close }, "×");
  node.addEventListener("keydown", (event) => event.key === "Escape" && close());
  node.append(button, body);
  return {
    node,
    from: (button) => (opener = button),
    show(...children) {
      body.replaceChildren(...children);
      node.hidden = false;
      node.focus({ preventScroll: true });
    },
  };
}
