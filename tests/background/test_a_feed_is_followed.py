"""A reader of a feed gets every event once and in order, whenever it comes back, as far as they are kept."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from agent.background.feed import Feed


@given(st.integers(1, 20), st.integers(0, 60), st.integers(-1, 70))
def test_what_came_after_is_given_as_far_as_it_is_kept(kept: int, put: int, number: int) -> None:
    feed: Feed[int] = Feed(kept)
    for event in range(1, put + 1):
        feed.put(event)
    wanted = [event for event in range(1, put + 1) if event > number and event > put - kept]
    assert [(item.number, item.event) for item in feed.after(number)] == [(event, event) for event in wanted]
    assert feed.last == put


def test_a_feed_that_is_shortened_keeps_its_newest_events_and_their_numbers() -> None:
    feed: Feed[int] = Feed()
    for event in range(1, 8):
        feed.put(event)
    feed.shorten(2)
    assert [(item.number, item.event) for item in feed.after(0)] == [(6, 6), (7, 7)]
    feed.put(8)
    assert [item.number for item in feed.after(6)] == [7, 8]


def test_readers_beside_writers_miss_nothing() -> None:
    feed: Feed[int] = Feed()
    found: list[int] = []
    woken = threading.Event()
    leave = feed.listen(woken.set)

    def read() -> None:
        while True:
            woken.wait()
            woken.clear()
            over = feed.closed
            found.extend(item.number for item in feed.after(found[-1] if found else 0))
            if over:
                return

    def write() -> None:
        for event in range(200):
            feed.put(event)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write) for _ in range(5)]
    for each in (reader, *writers):
        each.start()
    for each in writers:
        each.join()
    feed.close()
    reader.join(60)
    leave()
    assert found == list(range(1, 1001))
