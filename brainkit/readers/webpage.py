"""HTML pages as Markdown: headings, lists, tables, code and links kept; scripts, styles and layout dropped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from brainkit.readers.draft import MAX_CELL_CHARS, Draft, fenced, table
from brainkit.readers.markdown import edges, prose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainkit.readers.draft import Clean

HEADINGS = {f"h{level}": level for level in range(1, 7)}
DROPPED = frozenset({"script", "style", "template", "svg", "iframe", "object", "noembed", "noframes"})
BLOCKS = frozenset(HEADINGS) | {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li", "main", "menu", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
INLINE = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`"}
MAX_INDENT = 8
MAX_COLUMNS = 100
HREF = re.compile(r"[^\s()<>#][^\s()<>]{0,499}")
LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-|sourceCode\s+)([\w+#-]{1,20})")
DECLARATION = re.compile(r"<[!?][^>]*>")
NO_TAG = re.compile(r"<(?![A-Za-z/])")
LOOKS_LIKE_MARKUP = re.compile(r"(#{1,6}(?=\s)|```|~~~|---|===)")


def html_page(text: str, clean: Clean = str) -> Draft | None:
    """The page as a Draft, or None when it holds no text; takes time linear in its length, however deep it nests.

    Args:
        text: the page, scrubbed.
        clean: scrubs a cell before it is cut short, since its entities may have hidden a secret from what scrubbed it.
    """
    page = _Page(clean)
    try:
        page.feed(_without_comments(text))
        page.close()
    except (AssertionError, ValueError):  # the parser gives up on some malformed declarations
        if not page.done:
            return None
    content = page.finished()
    title = " ".join(page.title[0].split()) if page.title else ""
    return Draft(content, "html", title=title, edges=edges(prose(content))) if content.strip() else None


def _without_comments(text: str) -> str:
    """Without comments and declarations, and with no tag left open at the end: the parser is quadratic in those."""
    kept, end = [], 0
    while (start := text.find("<!--", end)) >= 0:
        kept.append(text[end:start])
        close = text.find("-->", start + 2)
        end = len(text) if close < 0 else close + 3
    kept.append(text[end:])
    text = "".join(kept)
    last = text.rfind(">") + 1
    return NO_TAG.sub("&lt;", DECLARATION.sub("", text[:last])) + text[last:].replace("<", "&lt;")


class _Page(HTMLParser):
    """Collects blocks of Markdown; a block ends wherever a tag that makes one begins or ends."""

    def __init__(self, clean: Clean) -> None:
        super().__init__(convert_charrefs=True)
        self._clean = clean
        self.done: list[str] = []
        self.title: list[str] = []
        self._text: list[str] = []  # of the block that is open
        self._heading = 0
        self._lists: list[int] = []  # for each open list the number of the next item, 0 for bullets
        self._item = ""
        self._quotes = 0
        self._dropped = 0
        self._in_title = False
        self._pre: list[str] | None = None
        self._language = ""
        self._tables = 0
        self._rows: list[list[str]] = []
        self._href: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and not self._dropped
        if tag in DROPPED:
            self._dropped += 1
        if self._dropped:
            return
        if self._pre is not None:
            self._language = self._language or _language(attrs)
            if tag == "br":
                self._pre.append("\n")
            return
        if tag in BLOCKS:
            self._end_block()
            self._open(tag, attrs)
        elif tag == "br":
            self._text.append(" ")
        elif tag == "img":
            self._text.append(" ".join(value for name, value in attrs if name == "alt" and value))
        elif tag == "a":
            href = next((value for name, value in attrs if name == "href" and value), "")
            keep = not self._heading and HREF.fullmatch(href) and not href.lower().startswith(("javascript:", "data:"))
            self._href.append(href if keep else "")
            self._text.append("[" if keep else "")
        else:
            self._text.append(INLINE.get(tag, "") if not self._heading else "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in DROPPED:  # <svg/> and <iframe/> open nothing
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in DROPPED:
            self._dropped = max(0, self._dropped - 1)
        elif self._dropped:
            return
        elif self._pre is not None:
            if tag == "pre":
                self._end_pre()
        elif tag in BLOCKS:
            self._end_block()
            self._close(tag)
        elif tag == "a" and self._href:
            href = self._href.pop()
            self._text.append(f"]({href})" if href else "")
        else:
            self._text.append(INLINE.get(tag, "") if not self._heading else "")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif self._dropped:
            return
        elif self._pre is not None:
            self._pre.append(data)
        else:
            self._text.append(data)

    def finished(self) -> str:
        """All of the page; what was never closed is closed here."""
        if self._pre is not None:
            self._end_pre()
        self._end_block()
        if self._tables:
            self._end_table()
        return "\n".join(self.done).strip("\n") + "\n"

    def _open(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._heading = HEADINGS.get(tag, 0)
        if tag in {"ul", "ol", "menu"}:
            self._lists.append(int(tag == "ol"))
        elif tag == "li":
            self._begin_item()
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "pre":
            self._pre, self._language = [], _language(attrs)
        elif tag == "table":
            self._tables += 1
            self._rows = self._rows if self._tables > 1 else []
        elif tag == "tr" and self._tables == 1:
            self._rows.append([])
        elif tag in {"td", "th"} and self._tables == 1:
            self._rows = self._rows or [[]]
            self._rows[-1].append("")

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        self._item = f"{number}. " if number else "- "
        if number:
            self._lists[-1] += 1

    def _close(self, tag: str) -> None:
        self._heading = 0
        if tag in {"ul", "ol", "menu"} and self._lists:
            self._lists.pop()
        if tag in {"ul", "ol", "menu", "li"}:
            self._item = ""
        if tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
        elif tag == "table" and self._tables:
            self._tables -= 1
            if not self._tables:
                self._end_table()

    def _end_block(self) -> None:
        self._text += [f"]({href})" if href else "" for href in reversed(self._href)]
        self._href.clear()
        text = " ".join("".join(self._text).split())
        self._text.clear()
        if not text.strip("*` "):
            return
        if self._tables:
            self._add_to_cell(text)
        elif self._heading:
            self._add("", "#" * self._heading + " " + text, "")
        else:
            text = LOOKS_LIKE_MARKUP.sub(r"\\\1", text, count=1) if LOOKS_LIKE_MARKUP.match(text) else text
            indent = "  " * min(max(len(self._lists) - 1, 0), MAX_INDENT)
            quote = "> " * min(self._quotes, MAX_INDENT)
            inside = bool(self._lists)
            self._add(*([] if inside else [""]), f"{quote}{indent}{self._item or '  ' * inside}{text}")
            self._item = ""

    def _add_to_cell(self, text: str) -> None:
        if not self._rows or not self._rows[-1]:  # a caption, or text where no cell is open
            self._add("", text)
        else:
            cell = self._rows[-1][-1]
            self._rows[-1][-1] = f"{cell} {text}".strip() if len(cell) < 2000 else cell

    def _end_pre(self) -> None:
        code = "".join(self._pre or [])
        self._pre = None
        if not code.strip():
            return
        if self._tables:
            self._add_to_cell(" ".join(code.split()))
        else:
            self._add("", fenced(code.strip("\n"), self._language), "")

    def _end_table(self) -> None:
        rows = [[self._whole(cell) for cell in row[:MAX_COLUMNS]] for row in self._rows if any(row)]
        self._rows, self._tables = [], 0
        if rows and max(map(len, rows)) == 1:  # a table of one column is layout
            self._add(*(line for row in rows for line in ("", *row)))
        elif rows:
            width = max(map(len, rows))
            self._add("", table(rows[0] + [""] * (width - len(rows[0])), rows[1:]), "")

    def _whole(self, cell: str) -> str:
        return self._clean(cell) if len(cell) > MAX_CELL_CHARS else cell

    def _add(self, *lines: str) -> None:
        for line in lines:
            if line or (self.done and self.done[-1]):
                self.done.append(line)


def _language(attrs: Iterable[tuple[str, str | None]]) -> str:
    found = (LANGUAGE.search(value) for name, value in attrs if name == "class" and value)
    return next((match[1].lower() for match in found if match), "")
