r"""The user's own rules and allow-list, from the TOML file that BOR_SCRUB_RULES names.

::

    also = ["iban", "payment-card"]                 # numbers with right check digits, which stay otherwise
    allow = ["ABCD-EFGH", "re:^ticket-[0-9]+$"]     # values that stay; with re:, patterns

    [[rule]]
    kind = "badge"                                  # reported and marked as [REDACTED:badge]
    pattern = 'badge no\. (\d{6})'                   # RE2; its first group goes, or all of the match
    ignore_case = true                              # default false
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import re2

from brainkit.errors import SettingsError
from brainkit.scrub import numbers
from brainkit.scrub.page import Page, options
from brainkit.scrub.result import Finding

_VARIABLE = "BOR_SCRUB_RULES"
_LARGEST = 1_000_000
_KIND = re.compile(r"[a-z0-9-]{1,64}")


class UserRules(NamedTuple):
    """Compiled user rules; ``digest`` changes when the file's content does."""

    rules: tuple[tuple[str, Any], ...] = ()
    allow: tuple[Any, ...] = ()
    digest: str = ""
    also: tuple[str, ...] = ()

    def find(self, page: Page) -> list[Finding]:
        """What the user's rules match."""
        found = [
            Finding(kind, start, end)
            for kind, pattern in self.rules
            for match in pattern.finditer(page.data)
            for start, end in [match.span(1 if pattern.groups else 0)]
            if page.text[start:end].strip()
        ]
        return found + numbers.find(page, self.also)

    def allowed(self, page: Page) -> list[tuple[int, int]]:
        """Where the allow-list matches; nothing there is taken out."""
        found = sorted(m.span() for pattern in self.allow for m in pattern.finditer(page.data) if m.end() > m.start())
        merged: list[tuple[int, int]] = []
        for start, end in found:
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged


def load(path: Path | None) -> UserRules:
    """The rules of a file, or none without one.

    Raises:
        SettingsError: the file cannot be read, is no TOML, or holds something that is no rule.
    """
    if path is None:
        return UserRules()
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may never end
            raise SettingsError(f"{_VARIABLE} = {path} is not a file. Give a TOML file.")
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise SettingsError(f"{_VARIABLE} = {path} is larger than {_LARGEST:,} bytes. Give a TOML file of rules.")
        table = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise SettingsError(f"{_VARIABLE} = {path} cannot be read: {error.strerror}. Give a TOML file.") from None
    except ValueError as error:
        raise SettingsError(f"{_VARIABLE} = {path} is not TOML: {error}") from None
    unknown = set(table) - {"rule", "allow", "also"}
    if unknown:
        raise SettingsError(
            f"{_VARIABLE} = {path}: {min(unknown)!r} is not known; give [[rule]] tables, allow = [...], also = [...]"
        )
    rules, allow, also = table.get("rule", []), table.get("allow", []), table.get("also", [])
    if not isinstance(rules, list) or not isinstance(allow, list):
        raise SettingsError(f'{_VARIABLE} = {path}: write [[rule]] tables and allow = ["value", ...]')
    if not isinstance(also, list) or not all(isinstance(kind, str) and kind in numbers.KINDS for kind in also):
        raise SettingsError(f"{_VARIABLE} = {path}: also takes a list of {', '.join(numbers.KINDS)}")
    return UserRules(
        tuple(_rule(path, number, rule) for number, rule in enumerate(rules, 1)),
        tuple(_allowed(path, value) for value in allow),
        hashlib.sha256(raw).hexdigest(),
        tuple(also),
    )


def _rule(path: Path, number: int, rule: object) -> tuple[str, Any]:
    where = f"{_VARIABLE} = {path}, rule {number}"
    if (
        not isinstance(rule, dict)
        or not isinstance(rule.get("pattern"), str)
        or not set(rule) <= {"kind", "pattern", "ignore_case"}
    ):
        raise SettingsError(f"{where}: a rule has kind, pattern and, if wanted, ignore_case")
    kind = rule.get("kind", "user-rule")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise SettingsError(f"{where}: kind is lower-case letters, figures and '-', at most 64")
    pattern = _compile(where, rule["pattern"], ignore_case=bool(rule.get("ignore_case", False)))
    if pattern.search(b"") is not None:
        raise SettingsError(f"{where}: the pattern matches an empty text, so it would match everywhere")
    return kind, pattern


def _allowed(path: Path, value: object) -> Any:
    where = f"{_VARIABLE} = {path}, allow"
    if not isinstance(value, str) or not value.removeprefix("re:").strip():
        raise SettingsError(f'{where}: give values as strings, or patterns as "re:..."')
    if value.startswith("re:"):
        return _compile(where, value[3:], ignore_case=False)
    return _compile(where, re2.escape(Page(value).text), ignore_case=False)


def _compile(where: str, pattern: str, *, ignore_case: bool) -> Any:
    try:
        return re2.compile(("(?i)" * ignore_case + Page(pattern).text).encode("latin-1"), options())
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if error.args and isinstance(error.args[0], bytes) else error
        raise SettingsError(f"{where}: RE2 cannot run {pattern!r}: {reason}") from None
