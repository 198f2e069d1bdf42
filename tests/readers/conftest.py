"""A scrubber with one rule, so that the readers' tests do not depend on the real rules."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest


class FakeFinding(NamedTuple):
    kind: str


class FakeResult(NamedTuple):
    text: str
    findings: list[FakeFinding]


class FakeScrubber:
    """Redacts ``tok-`` and the letters or digits behind it."""

    version = "fake-1"

    def scrub(self, text: str) -> FakeResult:
        clean, count = re.subn(r"tok-\w+", "[REDACTED:token]", text)
        return FakeResult(clean, [FakeFinding("token")] * count)


@pytest.fixture
def scrubber() -> FakeScrubber:
    return FakeScrubber()
