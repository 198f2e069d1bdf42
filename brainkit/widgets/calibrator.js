// The calibrator. Moving the threshold counts by halving sorted scores and redraws lines over pictures made before, so a
// move costs the same for a hundred questions and for thousands.

const BINS = 48;
const ROWS = 40; // of the list of changed questions: more are counted, not shown
const SYNC_MS = 120;
const STEP = 1 / 200; // of the range of scores, for an arrow key

function doubles(view) {
  const copy = new Uint8Array(view.byteLength);
  copy.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return new Float64Array(copy.buffer);
}

const fixed = (value, digits = 3) => value.toFixed(digits).replace("-", "−");

function render({ model, el: root }) {
  const scores = doubles(model.get("scores"));
  const groupView = model.get("groups");
  const groups = new Uint8Array(groupView.buffer, groupView.byteOffset, groupView.byteLength);
  const names = model.get("names");
  const sample = makeSample(scores, groups, names);
  const bars = histogram(sample, BINS);
  const rocCurve = roc(sample);
  const riskCurve = riskCoverage(sample);
  const edge = (bars.high - bars.low) * 0.02;
  const [low, high] = [bars.low - edge, bars.high + edge];
  let questions = [];
  let threshold = model.get("threshold");
  let colours = {};

  // ------------------------------------------------------------------ nodes
  root.classList.add("bk", "bk-cal");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `Calibrator of the ${model.get("gate")} gate`);
  keepKeys(root);
  const shown = el("output", { "aria-live": "off" });
  const canvas = el("canvas", {
    class: "bk-hist", role: "slider", tabindex: "0", "aria-label": "Threshold", "aria-orientation": "horizontal",
    "aria-valuemin": fixed(low), "aria-valuemax": fixed(high),
  });
  const rows = names.map((name, group) => {
    const cells = [0, 1, 2].map(() => el("td"));
    const swatch = el("i", { class: "bk-swatch", style: `--bk-colour: var(--bk-g${group % 6})` });
    return { node: el("tr", {}, el("th", { scope: "row" }, swatch, words(name)), ...cells), cells };
  });
  const head = ["kind of question", "answered", "deflected", "answered, 95 %"].map((text) => el("th", { scope: "col" }, text));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows.map((row) => row.node)));
  const rocCanvas = el("canvas", { class: "bk-curve", role: "img" });
  const riskCanvas = el("canvas", { class: "bk-curve", role: "img" });
  const area = (name, value) => el("small", {}, value == null ? "" : ` ${name} ${fixed(value)}`);
  const level = (name, hint) => el("input", { type: "number", min: "0.01", max: "0.5", step: "0.01", title: hint, value: model.get(name) });
  const alpha = level("alpha", "highest share of unanswerable questions that may be answered");
  const delta = level("delta", "probability that the promise is wrong");
  const certifiedButton = el("button", { type: "button", onclick: () => move(model.get("certified")) });
  const useButton = el("button", { type: "button", class: "bk-main", onclick: use }, "Use this threshold");
  const promise = el("p", { class: "bk-promise" });
  const said = el("p", { class: "bk-said", role: "status" });
  const flipsTitle = el("h3");
  const pool = Array.from({ length: ROWS }, (_, place) => {
    const spans = [el("span"), el("span"), el("span")];
    const button = el("button", { type: "button", onclick: () => open(place) }, ...spans);
    return { node: el("li", { hidden: true }, button), button, spans, question: -1 };
  });
  const empty = el("li", { class: "bk-empty" });
  const list = el("ul", { class: "bk-list", tabindex: "-1" }, empty, ...pool.map((row) => row.node));
  const details = drawer("Question");
  root.append(
    el("header", {}, el("h3", {}, `Threshold of the ${model.get("gate")} gate`), shown,
      el("small", {}, "drag, or use the arrow keys; a question is answered when its score reaches it")),
    canvas,
    el("div", { class: "bk-grid" },
      el("section", { "aria-label": "At this threshold" }, table),
      el("section", {}, el("h3", {}, "ROC", area("AUROC", rocCurve.area)), rocCanvas),
      el("section", {}, el("h3", {}, "Risk and coverage", area("AURC", riskCurve.area)), riskCanvas)),
    promise,
    el("div", { class: "bk-row bk-controls" },
      el("label", {}, "alpha", alpha), el("label", {}, "delta", delta), certifiedButton, useButton),
    said,
    el("section", { class: "bk-flips" }, flipsTitle, list),
    details.node,
  );

  // ---------------------------------------------------------------- drawing
  const layers = new Map(); // canvas -> picture of what does not move
  const text = (context, string, x, y, align = "left", colour = colours.faint) => {
    Object.assign(context, { font: "12px system-ui, sans-serif", textAlign: align, fillStyle: colour });
    context.fillText(string, x, y);
  };
  const plot = { left: 40, right: 10, top: 22, bottom: 30 };
  const xOf = (value, width) => plot.left + ((value - low) / (high - low)) * (width - plot.left - plot.right);

  function drawHistogram({ context, width, height }) {
    const others = bars.counts.slice(1);
    const upper = Math.max(1, ...bars.counts[0]);
    const lower = Math.max(1, ...bars.counts[0].map((_, bin) => others.reduce((sum, counts) => sum + counts[bin], 0)));
    const unit = (height - plot.top - plot.bottom) / (upper + lower);
    const zero = plot.top + upper * unit;
    const bin = (bars.high - bars.low) / BINS;
    for (let place = 0; place < BINS; place++) {
      const x = xOf(bars.low + place * bin, width);
      const w = Math.max(1, xOf(bars.low + (place + 1) * bin, width) - x - 1);
      context.fillStyle = colours.groups[0];
      context.fillRect(x, zero - bars.counts[0][place] * unit, w, bars.counts[0][place] * unit);
      let y = zero;
      others.forEach((counts, i) => {
        context.fillStyle = colours.groups[(i + 1) % 6];
        context.fillRect(x, y, w, counts[place] * unit);
        y += counts[place] * unit;
      });
    }
    context.fillStyle = colours.edge;
    context.fillRect(plot.left, zero - 0.5, width - plot.left - plot.right, 1);
    text(context, String(upper), plot.left - 6, plot.top + 10, "right");
    text(context, "0", plot.left - 6, zero + 4, "right");
    text(context, String(lower), plot.left - 6, height - plot.bottom, "right");
    text(context, "score", width - plot.right, height - 4, "right");
    const ticks = Math.max(2, Math.min(8, Math.floor(width / 110)));
    for (let i = 0; i <= ticks; i++) {
      const value = bars.low + ((bars.high - bars.low) * i) / ticks;
      text(context, fixed(value, 2), xOf(value, width), height - 16, "center");
    }
  }

  function drawCurve({ context, width, height }, points, names) {
    const [left, right, top, bottom] = [34, width - 8, 8, height - 32];
    context.strokeStyle = colours.line;
    context.strokeRect(left, top, right - left, bottom - top);
    context.beginPath();
    for (const [x, y] of points) context.lineTo(left + x * (right - left), bottom - y * (bottom - top));
    Object.assign(context, { strokeStyle: colours.groups[0], lineWidth: 2 });
    context.stroke();
    context.lineWidth = 1;
    for (const [value, y] of [["1", top + 10], ["0", bottom]]) text(context, value, left - 6, y, "right");
    text(context, "0", left, bottom + 14, "center");
    text(context, "1", right, bottom + 14, "right");
    text(context, names[0], (left + right) / 2, bottom + 26, "center");
    context.save();
    context.translate(14, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    text(context, names[1], 0, 0, "center");
    context.restore();
    return { x: (value) => left + value * (right - left), y: (value) => bottom - value * (bottom - top) };
  }

  function still(target, draw) {
    const frame = fit(target);
    if (!frame) return;
    const scale = draw(frame);
    const copy = el("canvas", { width: target.width, height: target.height });
    copy.getContext("2d").drawImage(target, 0, 0);
    layers.set(target, { copy, scale });
  }

  function restore(target) {
    const layer = layers.get(target);
    const frame = layer && fit(target);
    if (!frame) return null;
    frame.context.drawImage(layer.copy, 0, 0, frame.width, frame.height);
    return { ...frame, scale: layer.scale };
  }

  function redraw() {
    const style = getComputedStyle(root);
    // Canvas knows no variables and no color-mix(): the browser resolves them on a node.
    const probe = el("span", { hidden: true });
    root.append(probe);
    const colour = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    colours = {
      text: style.color, ground: style.backgroundColor, faint: colour("--bk-faint"), line: colour("--bk-line"),
      edge: colour("--bk-edge"), groups: [0, 1, 2, 3, 4, 5].map((i) => colour(`--bk-g${i}`)),
    };
    probe.remove();
    still(canvas, drawHistogram);
    still(rocCanvas, (frame) => drawCurve(frame, rocCurve.points, ["false answers", "answered"]));
    still(riskCanvas, (frame) => drawCurve(frame, riskCurve.points, ["coverage", "risk"]));
    paint();
  }

  function line(frame, value, dash, colour) {
    const x = xOf(Math.min(high, Math.max(low, value)), frame.width);
    Object.assign(frame.context, { strokeStyle: colour, lineWidth: dash.length ? 1.5 : 2.5 });
    frame.context.setLineDash(dash);
    frame.context.beginPath();
    frame.context.moveTo(x, plot.top - 6);
    frame.context.lineTo(x, frame.height - plot.bottom);
    frame.context.stroke();
    frame.context.setLineDash([]);
    return x;
  }

  function dot(target, point) {
    const frame = restore(target);
    if (!frame?.scale || !point) return;
    frame.context.beginPath();
    frame.context.arc(frame.scale.x(point[0]), frame.scale.y(point[1]), 5.5, 0, 2 * Math.PI);
    Object.assign(frame.context, { fillStyle: colours.text, strokeStyle: colours.ground, lineWidth: 2 });
    frame.context.fill();
    frame.context.stroke();
    frame.context.lineWidth = 1;
  }

  // Everything that depends on the threshold.
  function paint() {
    const begun = performance.now();
    const found = tally(sample, threshold);
    const [yes, ...others] = found;
    const sum = (key) => others.reduce((total, row) => total + row[key], 0);
    const [asked, through] = [sum("n"), sum("answered")];
    const total = yes.answered + through;

    const frame = restore(canvas);
    if (frame) {
      const certified = model.get("certified");
      if (certified != null) line(frame, certified, [5, 4], colours.edge);
      const x = line(frame, threshold, [], colours.text);
      if (x > 100) text(frame.context, "◀ deflected", x - 14, plot.top - 8, "right", colours.text);
      if (x < frame.width - 100) text(frame.context, "answered ▶", x + 14, plot.top - 8, "left", colours.text);
      frame.context.beginPath();
      frame.context.arc(Math.min(frame.width - 8, Math.max(8, x)), plot.top - 12, 7, 0, 2 * Math.PI);
      frame.context.fillStyle = colours.text;
      frame.context.fill();
    }
    dot(rocCanvas, asked && yes.n ? [through / asked, yes.answered / yes.n] : null);
    dot(riskCanvas, total ? [total / sample.order.length, through / total] : null);

    say(shown, fixed(threshold, 4));
    found.forEach((row, i) => {
      const values = [row.answered, row.n - row.answered, row.n ? `${percent(row.answered / row.n)} (${Math.round(100 * row.low)}–${Math.round(100 * row.high)})` : "–"];
      values.forEach((value, cell) => say(rows[i].cells[cell], String(value)));
    });
    const spoken = `${fixed(threshold)}: ${yes.answered} of ${yes.n} answerable and ${through} of ${asked} unanswerable questions are answered`;
    canvas.setAttribute("aria-valuenow", threshold.toFixed(4));
    canvas.setAttribute("aria-valuetext", spoken);
    rocCanvas.setAttribute("aria-label", `ROC curve; here ${percent(yes.n ? yes.answered / yes.n : null)} answered, ${percent(asked ? through / asked : null)} false answers`);
    riskCanvas.setAttribute("aria-label", `Risk-coverage curve; here coverage ${percent(total / sample.order.length)}, risk ${percent(total ? through / total : null)}`);
    paintFlips();
    root.dataset.threshold = String(threshold);
    root.dataset.moveMs = (performance.now() - begun).toFixed(2);
  }

  function paintFlips() {
    const before = model.get("in_force");
    const changed = flips(sample, before, threshold);
    const verb = threshold > before ? "deflected instead of answered" : "answered instead of deflected";
    const more = changed.length > ROWS ? `, the ${ROWS} nearest are shown` : "";
    say(flipsTitle, `${changed.length} questions change against the threshold in force, ${fixed(before, 4)}` + (changed.length ? ` (${verb}${more})` : ""));
    say(empty, "Move the threshold: the questions whose decision changes are listed here.");
    empty.hidden = changed.length > 0;
    pool.forEach((row, place) => {
      const question = place < changed.length ? changed[place] : -1;
      row.node.hidden = question < 0;
      if (question < 0 || row.question === question) return void (row.question = question);
      row.question = question;
      fill(row);
    });
  }

  function fill(row) {
    const asked = questions[row.question];
    const stratum = words(names[groups[row.question]]) + (asked?.hidden ? " (note hidden)" : "");
    [fixed(scores[row.question]), stratum, asked?.question ?? "…"].forEach((value, i) => say(row.spans[i], value));
  }

  // ----------------------------------------------------------------- acting
  let scheduled = 0;
  let syncing = 0;
  const sync = () => {
    syncing = 0;
    model.set("threshold", threshold);
    model.save_changes();
  };

  function move(value) {
    if (value == null || !Number.isFinite(value)) return;
    threshold = value;
    said.textContent = "";
    if (!scheduled) scheduled = requestAnimationFrame(() => ((scheduled = 0), paint()));
    clearTimeout(syncing);
    syncing = setTimeout(sync, SYNC_MS);
  }

  const within = (value) => Math.min(high, Math.max(low, value));
  const byPointer = (event) => {
    const box = canvas.getBoundingClientRect();
    move(within(low + ((event.clientX - box.left - plot.left) / (box.width - plot.left - plot.right)) * (high - low)));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    byPointer(event);
  });
  canvas.addEventListener("pointermove", (event) => canvas.hasPointerCapture(event.pointerId) && byPointer(event));
  canvas.addEventListener("keydown", (event) => {
    const span = high - low;
    const steps = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -10 * STEP, PageUp: 10 * STEP };
    if (event.key in steps) move(within(threshold + steps[event.key] * span));
    else if (event.key === "Home") move(low);
    else if (event.key === "End") move(high);
    else return;
    event.preventDefault();
  });

  function use() {
    clearTimeout(syncing);
    sync();
    model.send({ type: "use", threshold });
  }

  function open(place) {
    details.from(pool[place].button);
    model.send({ type: "open", index: pool[place].question });
  }

  for (const [name, input] of [["alpha", alpha], ["delta", delta]]) {
    input.addEventListener("change", () => {
      const value = Number(input.value);
      if (value > 0 && value < 1) {
        model.set(name, value);
        model.save_changes();
      } else input.value = model.get(name);
    });
  }

  function showOpened({ index, score, evidence, documents }) {
    const asked = questions[index];
    const values = Object.entries(evidence).map(([name, value]) =>
      el("div", {}, el("dt", {}, words(name)), el("dd", {}, Number.isInteger(value) ? String(value) : fixed(value))));
    const notes = documents.map(({ path, title, relevant, text: content }) =>
      el("details", {}, el("summary", {}, `${path}${title && title !== path ? ` · ${title}` : ""}${relevant ? " · holds the answer" : ""}`), el("pre", {}, content)));
    details.show(
      el("h3", {}, asked?.question ?? ""),
      el("p", { class: "bk-faint" }, `${words(names[groups[index]])}${asked?.hidden ? ", asked with its note hidden" : ""}; score ${fixed(score, 4)}`),
      el("dl", { class: "bk-evidence" }, ...values),
      el("h3", {}, notes.length ? "Documents found, best first" : "No document was found"),
      ...notes,
    );
  }

  const onMessage = (message) => {
    if (message.type === "questions") {
      questions = message.items;
      pool.filter((row) => row.question >= 0).forEach(fill);
      root.dataset.ready = "true";
    } else if (message.type === "opened") showOpened(message);
    else if (message.type === "said") {
      said.textContent = message.text;
      said.classList.toggle("bk-refused", !message.ok);
    }
  };
  const onPromise = () => say(promise, model.get("promise"));
  const onCertified = () => {
    const certified = model.get("certified");
    certifiedButton.disabled = useButton.disabled = certified == null;
    say(certifiedButton, certified == null ? "Nothing can be certified" : `Go to the certified ${fixed(certified, 4)}`);
    paint();
  };
  const onThreshold = () => {
    if (syncing || model.get("threshold") === threshold) return;
    threshold = model.get("threshold");
    paint();
  };
  const onLevels = () => {
    alpha.value = model.get("alpha");
    delta.value = model.get("delta");
  };
  const listeners = {
    "msg:custom": onMessage, "change:promise": onPromise, "change:certified": onCertified, "change:in_force": paint,
    "change:threshold": onThreshold, "change:alpha": onLevels, "change:delta": onLevels,
  };
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  const offTheme = onTheme(root, redraw);
  const resized = new ResizeObserver(redraw);
  resized.observe(root);
  onPromise();
  redraw();
  onCertified();
  model.send({ type: "ready" });
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
    offTheme();
    resized.disconnect();
    clearTimeout(syncing);
    cancelAnimationFrame(scheduled);
  };
}

export default { render };
