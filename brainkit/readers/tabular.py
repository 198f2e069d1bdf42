"""CSV and TSV files as a summary in Markdown: columns with their types, number of rows, and the first rows."""

from __future__ import annotations

import csv
import io
import itertools
import re
from typing import TYPE_CHECKING

from brainkit.readers.draft import Draft, shortened, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainkit.readers.draft import Clean

HEAD_CHARS = 262_144
"""What the types are guessed from, and all that is scrubbed and shown; of the rest only the rows are counted."""
SNIFF_CHARS = 4_096
SHOWN_ROWS = 20
MAX_COLUMNS = 200
MAX_HEADER_CHARS = 80
MIN_SECRET_CHARS = 5
_TYPES = (
    ("integer", re.compile(r"[+-]?\d{1,18}")),
    ("number", re.compile(r"[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?")),
    ("boolean", re.compile(r"true|false|yes|no|ja|nein", re.IGNORECASE)),
    ("date", re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.{0,20})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")),
)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def head_of(text: str) -> str:
    """The whole lines at the start of a table that are looked at closely."""
    return text if len(text) <= HEAD_CHARS else text[: text.rfind("\n", 0, HEAD_CHARS) + 1]


def tabular(head: str, text: str, ending: str, clean: Clean) -> Draft | None:
    """The summary of a table as a Draft, or None when it is none.

    Args:
        head: ``head_of(text)``, scrubbed: what is shown comes from here.
        text: the whole table, of which only the rows are counted.
        ending: ``tsv`` when the columns are separated by tabs for sure.
        clean: scrubs a cell that is shown, whose quotes may have hidden a secret from what scrubbed the head.
    """
    dialect = csv.excel_tab if ending == "tsv" else _sniffed(head)
    try:
        rows = [row for row in csv.reader(io.StringIO(head, newline=""), dialect) if row]
        count = sum(1 for row in csv.reader(io.StringIO(text, newline=""), dialect) if row)
    except csv.Error:  # a field of more than 128 kB, such as a line that is no table's
        return None
    if not rows:
        return None
    if len(head) < len(text):
        rows = rows[:-1] or rows  # a quoted field may go on beyond the head
    width = min(max(map(len, rows[:1000])), MAX_COLUMNS)
    has_header = all(cell.strip() and not _is_value(cell) for cell in rows[0])
    names = [shortened(_cleaned(name, clean), MAX_HEADER_CHARS) for name in rows[0][:width]] if has_header else []
    names = (names + [f"column {n}" for n in range(len(names) + 1, width + 1)])[:width]
    body, count = (rows[1:], count - 1) if has_header else (rows, count)
    types = [_type_of(row[n] for row in body[:1000] if n < len(row)) for n in range(width)]
    separator = _SEPARATORS.get(dialect.delimiter, repr(dialect.delimiter)) if width > 1 else ""
    size = f"{count:,} row{'' if count == 1 else 's'} and {width} column{'' if width == 1 else 's'}"
    schema = "\n".join(f"- {name}: {kind}" for name, kind in zip(names, types, strict=True))
    first = f"## First {min(count, SHOWN_ROWS)} rows" if count > SHOWN_ROWS else "## Rows"
    shown = table(names, [[_cleaned(cell, clean) for cell in row[:width]] for row in body[:SHOWN_ROWS]])
    by = f", separated by {separator}" if separator else ""
    return Draft(f"{size}{by}.\n\n## Columns\n\n{schema}\n\n{first}\n\n{shown}\n", "csv")


def _sniffed(head: str) -> type[csv.Dialect]:
    lines = [line for line in itertools.islice(head[:SNIFF_CHARS].split("\n"), 50) if line.strip()]
    try:
        found = csv.Sniffer().sniff("\n".join(lines), ",;\t|")
    except csv.Error:
        return csv.excel
    found.doublequote = True  # else it is only where the sample has one beside a separator
    return found


def _cleaned(cell: str, clean: Clean) -> str:
    return cell if len(cell) < MIN_SECRET_CHARS or _is_value(cell) else clean(cell)


def _is_value(cell: str) -> bool:
    return any(pattern.fullmatch(cell.strip()) for _, pattern in _TYPES)


def _type_of(cells: Iterable[str]) -> str:
    values = [value for cell in cells if (value := cell.strip())]
    if not values:
        return "empty"
    return next((kind for kind, pattern in _TYPES if all(map(pattern.fullmatch, values))), "text")
