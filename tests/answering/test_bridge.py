"""Reading an asynchronous stream without an event loop: order, errors, closing, several at once."""

import asyncio
import threading
import time

import pytest

from brainkit.answering import iterate
from brainkit.answering.condensing import with_words_before


def counting(upto, log=None, pause=0.0):
    async def count():
        try:
            for number in range(upto):
                yield number
                await asyncio.sleep(pause)
        finally:
            if log is not None:
                log.append("closed")

    return count


def test_items_come_in_order_and_the_thread_ends():
    before = threading.active_count()
    assert list(iterate(counting(100))) == list(range(100))
    assert list(iterate(counting(0))) == []
    assert threading.active_count() == before


def test_an_error_comes_after_the_items_before_it():
    async def failing():
        yield 1
        raise ValueError("no more")

    stream = iterate(failing)
    assert next(stream) == 1
    with pytest.raises(ValueError, match="no more"):
        next(stream)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_closing_cancels_what_runs_even_in_the_middle_of_a_wait(after):
    log = []
    stream = iterate(counting(10_000, log, pause=0.01 if after else 30))
    for _ in range(max(after, 1)):
        next(stream)
    started = time.monotonic()
    stream.close()
    assert time.monotonic() - started < 10
    assert log == ["closed"]


def test_closing_before_the_first_item_runs_nothing():
    log = []
    iterate(counting(3, log)).close()
    assert log == []


def test_it_works_in_a_running_event_loop_and_several_at_once():
    async def inside():
        streams = [iterate(counting(5)) for _ in range(3)]
        return [number for row in zip(*streams, strict=True) for number in row]

    assert asyncio.run(inside()) == [number for number in range(5) for _ in range(3)]


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("And when was it changed?", False),
        ("Why?", False),
        ("What about the other one?", False),
        ("Und wann wurde er gewechselt?", False),
        ("Which disks are in the NAS?", True),
        ("How do I renew the certificate of the reverse proxy at home?", True),
    ],
)
def test_a_question_that_points_back_gets_the_words_before_it(question, alone):
    before = ["Which battery does the UPS take?", "And its type?"]
    expected = question if alone else f"{question} (Which battery does the UPS take?)"
    assert with_words_before(question, before) == expected


def test_nothing_before_leaves_a_question_as_it_is():
    assert with_words_before("Why?", []) == "Why?"
    assert with_words_before("Why?", ["And it?"]) == "Why? (And it?)"
