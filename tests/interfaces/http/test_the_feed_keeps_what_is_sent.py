"""The feed of a daemon's events keeps what its readers are sent, and none of the events themselves."""

import gc

import msgspec

from agent.background.feed import KEPT_AT_REST, Feed
from agent.events.types import NoteEdited, Origin, Tick
from agent.interfaces.http.service import KEPT, STILL, Happening, Happenings, take_in
from agent.markdown.changes import LinkAdded


def edited(number: int) -> NoteEdited[LinkAdded]:
    return NoteEdited(f"notes/{number}.md", "a" * 40, "f" * 40, Origin.HUMAN, (LinkAdded(f"some note {number}"),))


def test_an_event_is_kept_as_its_plain_fields() -> None:
    feed: Feed[Happening] = Feed()
    take_in(feed, edited(1))
    take_in(feed, Tick(1.0))
    (item,) = feed.after(0)
    assert item.event.name == "NoteEdited"
    assert msgspec.json.decode(item.event.data) == {
        "path": "notes/1.md",
        "before": "a" * 40,
        "hash": "f" * 40,
        "origin": "human",
        "compared": True,
    }


def test_the_changes_of_a_note_are_let_go() -> None:
    feed: Feed[Happening] = Feed()
    for number in range(100):
        take_in(feed, edited(number))
    gc.collect()
    assert not any(isinstance(each, LinkAdded) and each.target.startswith("some note") for each in gc.get_objects())
    assert feed.last == 100


def test_when_nothing_has_come_for_a_while_few_are_kept() -> None:
    heard = Happenings(Feed(KEPT))
    for number in range(KEPT):
        heard.hear(edited(number))
    for now in (0.0, STILL - 1):
        heard.hear(Tick(now))
        assert len(heard.changes.after(0)) == KEPT
    heard.hear(edited(KEPT))
    for now in (STILL, 2 * STILL - 1):
        heard.hear(Tick(now))
        assert len(heard.changes.after(0)) == KEPT
    heard.hear(Tick(2 * STILL))
    assert [each.number for each in heard.changes.after(0)] == [*range(KEPT + 2 - KEPT_AT_REST, KEPT + 2)]
    heard.hear(edited(0))
    assert len(heard.changes.after(0)) == KEPT_AT_REST + 1
