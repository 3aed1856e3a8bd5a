"""A session that several people speak in: each run sees its own person's runs whole, and of others' what was said."""

from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.llm.messages import Assistant, Context, Message, ToolCall, ToolResult, User
from agent.loop.record_format import format_records
from agent.loop.record_parse import parse_records
from agent.loop.records import (
    Began,
    Closed,
    RecordedEvent,
    SessionRecord,
    Spoken,
    Summarised,
)
from agent.loop.session import Session
from tests.fakes import FakeClock
from tests.vaults import make_vault

PEOPLE = ("anna", "ben", "cara")


def turn(number: int, who: str, *, group: bool = True, role: str = "guest") -> list[RecordedEvent]:
    """A run with everything in it that a run can have; `who` stands in each word that is theirs alone."""
    call = ToolCall(f"c{number}", "memory_recall", {"query": f"private {who}"})
    return [
        Began(f"run{number}", f"{number} aloud {who}", "lark:room", who, group, role),
        Spoken(Context(f"{number} private {who}: memories", "memories")),
        Spoken(User(f"{number} aloud {who}", who)),
        Spoken(Assistant(f"{number} private {who}: let me look", (call,))),
        Spoken(ToolResult(f"c{number}", "memory_recall", f"{number} private {who}: result")),
        Spoken(Assistant(f"{number} aloud answer to {who}")),
        Closed(f"run{number}", "finished"),
    ]


def session_of(folder: Path, events: list[RecordedEvent]) -> Session:
    """A session in which this has happened."""
    clock = FakeClock()
    vault = make_vault(folder, clock=clock)
    records = [SessionRecord(clock.now() + timedelta(seconds=at), event) for at, event in enumerate(events)]
    return Session(vault, "sessions/a.md", "id", "lark:room", "", parse_records(format_records(records)))


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


def own_part(number: int, who: str) -> list[str]:
    return [each.message.text for each in turn(number, who) if isinstance(each, Spoken)]


def aloud(number: int, who: str) -> list[str]:
    return [text for text in own_part(number, who) if "private" not in text]


def test_what_was_recalled_and_looked_up_for_one_is_not_before_the_model_for_another(tmp_path: Path) -> None:
    session = session_of(tmp_path, [*turn(1, "anna"), *turn(2, "ben"), *turn(3, "anna")])
    assert texts(session.history) == [*own_part(1, "anna"), *aloud(2, "ben"), *own_part(3, "anna")]


def test_into_a_private_conversation_nobody_else_can_look(tmp_path: Path) -> None:
    alone = turn(1, "anna", group=False)
    assert texts(session_of(tmp_path / "1", [*alone, *turn(2, "ben", group=False)]).history) == own_part(2, "ben")
    assert texts(session_of(tmp_path / "2", [*alone, *turn(2, "ben")]).history) == own_part(2, "ben")
    owner = session_of(tmp_path / "3", [*alone, *turn(2, "", group=False, role="owner")])
    assert texts(owner.history) == [*aloud(1, "anna"), *own_part(2, "")], "the vault's owner may take part"


def test_a_summary_stands_in_for_what_its_own_person_saw_and_for_nobody_else(tmp_path: Path) -> None:
    anna = Began("run3", "again", "lark:room", "anna", True, "guest")
    summary = Summarised("private anna: so far", 1)
    events: list[RecordedEvent] = [*turn(1, "anna"), *turn(2, "ben"), anna, Spoken(User("again", "anna")), summary]
    session = session_of(tmp_path, events)
    assert texts(session.history) == ["private anna: so far", "again"]
    assert session.summarised("anna") == session.records[-1].at
    assert session.summarised("ben") is None
    after = session_of(tmp_path / "after", [*events, *turn(4, "ben")])
    assert texts(after.history) == [*aloud(1, "anna"), *own_part(2, "ben"), "again", *own_part(4, "ben")]


def test_a_run_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    session = session_of(tmp_path, [*turn(1, "anna"), *turn(2, "ben")])
    said = [event.message.text for event in session.of_run("run1") if isinstance(event, Spoken)]
    assert said == own_part(1, "anna")


@given(
    st.lists(st.tuples(st.sampled_from(PEOPLE), st.booleans(), st.none() | st.integers(0, 6)), min_size=1, max_size=8)
)
def test_whoever_speaks_nothing_private_of_another_is_seen_and_nothing_said_aloud_is_lost(
    runs: list[tuple[str, bool, int | None]],
) -> None:
    records: list[SessionRecord] = []
    clock = FakeClock()
    talk = Session(None, "sessions/a.md", "id", "lark:room", "", records)  # type: ignore[arg-type]  # nothing is saved
    summarised: set[str] = set()
    for number, (who, group, kept) in enumerate(runs):
        records += [SessionRecord(clock.now(), event) for event in turn(number, who, group=group)]
        if kept is not None:
            records.append(
                SessionRecord(clock.now(), Summarised(f"private {who}: summary", min(kept, len(talk.history))))
            )
            summarised.add(who)
        seen = texts(talk.history)
        assert not [text for text in seen if "private" in text and f"private {who}" not in text]
        if who not in summarised:
            for earlier, (other, was_group, _) in enumerate(runs[: number + 1]):
                wanted = own_part(earlier, other) if other == who else aloud(earlier, other) if was_group else []
                assert set(wanted) <= set(seen)
