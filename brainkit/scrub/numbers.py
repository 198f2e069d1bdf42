"""Account and card numbers, told from other numbers by their check digits; only for those who ask for it."""

from __future__ import annotations

from collections.abc import Callable

from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding

_IBAN = Pattern(r"\b([A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?)\b", first_look="")
_CARD = Pattern(r"\b([3-6][0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}[0-9])\b", first_look="")


def _is_iban(text: str) -> bool:
    """ISO 13616: read as a number with the country moved to the end, it leaves 1 when divided by 97."""
    moved = text[4:] + text[:4]
    return 15 <= len(text) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """ISO/IEC 7812: the Luhn sum over all digits is a multiple of 10."""
    doubled = [int(c) * (1 + i % 2) for i, c in enumerate(reversed(text))]
    return 13 <= len(text) <= 19 and sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


KINDS: dict[str, tuple[Pattern, Callable[[str], bool]]] = {"iban": (_IBAN, _is_iban), "payment-card": (_CARD, _is_card)}
"""The kinds there are, by name."""


def find(page: Page, kinds: tuple[str, ...]) -> list[Finding]:
    """Every number of these kinds whose check digits are right."""
    return [
        Finding(kind, start, end)
        for kind in kinds
        for start, end in KINDS[kind][0].spans(page, 1)
        if KINDS[kind][1](page.text[start:end].replace(" ", "").replace("-", ""))
    ]
