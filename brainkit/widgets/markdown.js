// Markdown as nodes. Nothing is ever parsed as HTML, no picture is loaded, and links open http, https and mailto only.

const MARK = /(`+)([^`\n]+?)\1(?!`)|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?!\w)|!?\[([^\[\]\n]{1,300})\](?:\(([^()\s]{1,2000})\))?|\\([\\`*_{}\[\]()#+.!<>|~-])|(https?:\/\/[^\s<>"'`\])]+)/g;

function safe(address) {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(address).protocol);
  } catch {
    return false; // a path, or nothing
  }
}

const link = (address, ...children) =>
  el("a", { href: address, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, ...children);

// One line's text as nodes; `cite(name)` gives a node for [name] where that names a source, or null.
function inline(text, cite, depth = 0) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(MARK)) {
    const [whole, , code, strong, emphasis, label, address, escaped, url] = found;
    let node = whole;
    if (code !== undefined) node = el("code", {}, code.trim());
    else if (strong !== undefined) node = depth < 4 ? el("strong", {}, ...inline(strong, cite, depth + 1)) : strong;
    else if (emphasis !== undefined) node = depth < 4 ? el("em", {}, ...inline(emphasis, cite, depth + 1)) : emphasis;
    else if (label !== undefined) {
      if (whole.startsWith("!")) node = label;
      else if (address) node = safe(address) ? link(address, label) : label;
      else node = cite(label) ?? whole;
    } else if (escaped !== undefined) node = escaped;
    else if (url !== undefined) {
      const bare = url.replace(/[.,;:!?*_]+$/, "");
      node = el("span", {}, link(bare, bare), url.slice(bare.length));
    }
    nodes.push(text.slice(at, found.index), node);
    at = found.index + whole.length;
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

// A whole text as a list of block nodes.
export function markdown(source, cite) {
  const lines = source.split("\n");
  const blocks = [];
  let paragraph = [];
  const flush = () => {
    if (!paragraph.length) return;
    const node = el("p");
    paragraph.forEach((line, i) => node.append(...(i ? ["\n"] : []), ...inline(line, cite)));
    blocks.push(node);
    paragraph = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const fence = FENCE.exec(line);
    if (fence) {
      flush();
      const body = [];
      while (++i < lines.length && !lines[i].trim().startsWith(fence[1])) body.push(lines[i]);
      blocks.push(el("pre", { tabindex: "0" }, el("code", {}, body.join("\n"))));
    } else if (/^#{1,6}\s/.test(line)) {
      flush();
      blocks.push(el("p", { class: "bk-heading", role: "heading", "aria-level": "4" }, ...inline(line.replace(/^#+\s+|\s+#+\s*$/g, ""), cite)));
    } else if (ITEM.test(line)) {
      flush();
      const items = [];
      for (let item; i < lines.length && ((item = ITEM.exec(lines[i])) || /^\s{2,}\S/.test(lines[i])); i++) {
        if (item) items.push({ indent: item[1].length, ordered: item[3], text: item[4] });
        else items.at(-1).text += ` ${lines[i].trim()}`;
      }
      i--;
      blocks.push(list(items, cite));
    } else if (line.includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(lines[i + 1] ?? "") && lines[i + 1].includes("|")) {
      flush();
      const head = el("tr", {}, ...cells(line).map((cell) => el("th", { scope: "col" }, ...inline(cell, cite))));
      const body = [];
      for (i += 2; i < lines.length && lines[i].includes("|"); i++)
        body.push(el("tr", {}, ...cells(lines[i]).map((cell) => el("td", {}, ...inline(cell, cite)))));
      i--;
      blocks.push(el("div", { class: "bk-table", tabindex: "0", role: "group", "aria-label": "Table" },
        el("table", {}, el("thead", {}, head), el("tbody", {}, ...body))));
    } else if (/^\s{0,3}>/.test(line)) {
      flush();
      const body = [];
      for (; i < lines.length && /^\s{0,3}>/.test(lines[i]); i++) body.push(lines[i].replace(/^\s{0,3}>\s?/, ""));
      i--;
      blocks.push(el("blockquote", {}, ...inline(body.join(" "), cite)));
    } else if (/^\s*(?:[-*_]\s*){3,}$/.test(line)) {
      flush();
      blocks.push(el("hr"));
    } else if (!line.trim()) flush();
    else paragraph.push(line.trim());
  }
  flush();
  return blocks;
}

// Items by their indentation; deeper ones hang below the item before them.
function list(items, cite) {
  const root = el(items[0].ordered ? "ol" : "ul", items[0].ordered ? { start: items[0].ordered } : {});
  const open = [{ node: root, indent: items[0].indent }];
  for (const item of items) {
    while (open.length > 1 && item.indent < open.at(-1).indent) open.pop();
    const above = open.at(-1).node.lastElementChild;
    if (item.indent > open.at(-1).indent + 1 && above && open.length < 6) {
      const node = el(item.ordered ? "ol" : "ul");
      above.append(node);
      open.push({ node, indent: item.indent });
    }
    open.at(-1).node.append(el("li", {}, ...inline(item.text, cite)));
  }
  return root;
}

// Text whose lines and spaces stay as they are, as notes are quoted; citations become buttons all the same.
export function quoted(source, cite) {
  const node = el("div", { class: "bk-quoted" });
  let at = 0;
  for (const found of source.matchAll(/^\[([^\[\]\n]{1,300})\]/gm)) {
    const button = cite(found[1]);
    if (!button) continue;
    node.append(source.slice(at, found.index), button);
    at = found.index + found[0].length;
  }
  node.append(source.slice(at));
  return [node];
}
