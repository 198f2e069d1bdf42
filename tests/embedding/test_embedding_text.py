"""Cleaning and windows: properties over any text and any length."""

from __future__ import annotations

import logging
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainkit.embedding.text import BLANK, MAX_WINDOWS, clean, normalised, windows

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@given(ANY_TEXT)
def test_a_clean_text_is_encodable_visible_and_stays_as_it_is(text: str) -> None:
    result = clean(text)
    assert result.encode().strip(b" \0")
    assert "\0" not in result
    assert result.strip()
    assert clean(result) == result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", BLANK),
        ("\0\0", BLANK),
        (" \t\r\n\u00a0", BLANK),
        ("a\0b", "ab"),
        ("\ud800", "\ufffd"),
        ("a\udc00b", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("Grüße, 東京", "Grüße, 東京"),
    ],
)
def test_clean_by_hand(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.integers(0, 3000), st.integers(2, 300), st.data())
def test_windows_cover_everything_equally_with_overlap(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    spans = windows(length, size, overlap)
    lengths = {span.stop - span.start for span in spans}
    assert len(lengths) == 1
    assert max(lengths) <= size
    assert spans[0].start == 0
    assert spans[-1].stop == length
    assert len(spans) <= MAX_WINDOWS
    if len(spans) < MAX_WINDOWS:
        # Rounding the starts may cost one unit of overlap, never a gap.
        for left, right in pairwise(spans):
            assert left.stop - right.start >= max(0, overlap - 1)


def test_a_text_too_long_for_all_windows_is_sampled_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        spans = windows(100_000, 100, 10)
    assert len(spans) == MAX_WINDOWS
    assert spans[-1].stop == 100_000
    assert "100000 units" in caplog.text


def test_rows_get_length_one_even_when_huge_or_tiny_and_zero_stays() -> None:
    rows = normalised(np.array([[3.0, 4.0], [3e300, 4e300], [3e-200, 4e-200], [0.0, 0.0]]))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[:3], [[0.6, 0.8]] * 3, rtol=1e-6)
    np.testing.assert_array_equal(rows[3], [0, 0])
