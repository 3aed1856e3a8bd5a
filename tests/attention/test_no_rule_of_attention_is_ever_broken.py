"""Random streams of notices against the rules written down a second time, the long way."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.attention.channels.channel import Message
from agent.attention.outbox import DIGEST
from agent.attention.receipt import Reaction
from agent.errors import Permanent, Retryable
from agent.events.notices import NoticeRaised
from tests.attention.outboxes import Desk, a_notice, limits
from tests.attention.test_quiet_hours import is_quiet_by_table

QUIET = "mon-fri 22-8, sat-sun 23-10, 13-14"
DAILY, INTERVAL, LEAST = 3, timedelta(minutes=30), 0.6
REACTIONS: tuple[Reaction, ...] = ("helpful", "not_helpful", "dismissed")


@dataclass(frozen=True)
class Raise:
    notice: NoticeRaised


@dataclass(frozen=True)
class Wait:
    minutes: int


@dataclass(frozen=True)
class React:
    reaction: Reaction


@dataclass(frozen=True)
class Break:
    """The channel fails so often, and the process ends if `kills`."""

    times: int
    is_for_good: bool
    kills: bool


Step = Raise | Wait | React | Break
AN_URGENT_ONE_PASSES: list[Step] = [
    Break(1, False, False),
    Raise(a_notice("slow", 0.6)),
    Wait(7),
    Raise(a_notice("fire", 0.9, urgent=True)),
    Wait(60),
]
"""One that a channel has kept waiting must not follow an urgent one at once."""


def steps(with_faults: bool) -> st.SearchStrategy[list[Step]]:
    """Streams: bursts, days of silence, reactions and, if wanted, faults of the channel."""
    notice = st.builds(
        Raise,
        st.builds(
            a_notice,
            st.sampled_from([f"title {each}" for each in range(60)]),
            st.sampled_from([0.1, 0.55, 0.6, 0.7, 0.9, 0.9, 1.0]),
            st.sampled_from(["roof", "goal"]),
            subject=st.sampled_from(["", "", "", "a.md", "b.md"]),
            urgent=st.sampled_from([False] * 5 + [True]),
        ),
    )
    wait = st.builds(Wait, st.sampled_from([0, 1, 7, 29, 29, 30, 31, 60, 240, 590, 611, 1440]))
    react = st.builds(React, st.sampled_from(REACTIONS))
    fault = st.builds(Break, st.integers(1, 6), st.booleans(), st.booleans())
    kinds: list[st.SearchStrategy[Step]] = [notice, notice, notice, wait, wait, react]
    return st.lists(st.one_of(*kinds, fault) if with_faults else st.one_of(*kinds), max_size=40)


@dataclass
class Person:
    """Sees each message, and when; knows the rules by heart."""

    desk: Desk
    seen: list[tuple[datetime, Message, str]] = field(default_factory=list)
    raised: dict[str, tuple[datetime, NoticeRaised]] = field(default_factory=dict)
    counted: dict[str, bool] = field(default_factory=dict)
    """False for what was dropped."""
    reactions: list[tuple[str, Reaction]] = field(default_factory=list)
    tired_at: dict[str, bool] = field(default_factory=dict)

    def see(self, message: Message) -> None:
        receipt = self.desk.ledger.get(message.id)
        assert receipt is not None
        self.seen.append((self.desk.clock.now(), message, receipt.raised.type))

    def is_tired(self, kind: str) -> bool:
        last = [reaction for type, reaction in self.reactions if type == kind][-3:]
        return len(last) == 3 and "helpful" not in last

    def expects(self, notice: NoticeRaised) -> str:
        """The decision about a notice that comes now."""
        now = self.desk.clock.now()
        for id, (at, other) in self.raised.items():
            one = notice.subject and other.subject
            same = (notice.type, notice.subject) == (other.type, other.subject) if one else notice.title == other.title
            if self.counted[id] and same and now - at < timedelta(hours=24):
                return "dropped"
        if notice.priority * (0.5 if self.is_tired(notice.type) else 1) < LEAST:
            return "digest"
        if notice.urgent:
            return "sent"
        if is_quiet_by_table(QUIET, now):
            return "held"
        shown = [at for at, _, kind in self.seen if kind != DIGEST]
        if sum(at.date() == now.date() for at in shown) >= DAILY:
            return "digest"
        return "held" if any(now - at < INTERVAL for at in shown) else "sent"


def live(folder: Path, stream: list[Step], *, with_faults: bool) -> Person:
    """Live through a stream, with a turn whenever one is due, and for some days after it."""
    desk = Desk(folder, limits=limits(QUIET, DAILY))
    person = Person(desk)
    desk.fake.on_send = person.see
    desk.daily.on_send = person.see
    for step in [*stream, *[Wait(1440)] * 12]:
        match step:
            case Raise(notice):
                expected = person.expects(notice)
                tired = person.is_tired(notice.type)
                receipt = desk.outbox.take(notice)
                if not with_faults:
                    assert receipt.decision.decided == expected, (receipt, desk.clock.now())
                person.raised[receipt.id] = desk.clock.now(), notice
                person.counted[receipt.id] = receipt.decision.decided != "dropped"
                person.tired_at[receipt.id] = tired
                desk.turn()
            case Wait(minutes):
                wait(desk, minutes)
            case React(reaction):
                open_ones = [each for each in desk.ledger.all() if each.proof and not each.reaction and not each.listed]
                if open_ones:
                    desk.outbox.ledger.react(open_ones[0].id, reaction)
                    person.reactions.append((open_ones[0].raised.type, reaction))
                    desk.clock.advance(1)
            case Break(times, is_for_good, kills):
                error: Exception = Permanent("no such chat") if is_for_good else Retryable("busy", delay=500.0)
                desk.fake.answers = [error] * times
                if kills:
                    desk.restart()
    return person


def wait(desk: Desk, minutes: int) -> None:
    """Let time pass, with a turn whenever something is due, and in the end."""
    end = desk.clock.now() + timedelta(minutes=minutes)
    while True:
        due = min((date for date, _ in desk.outbox.looks()), default=None)
        if due is None or due > end:
            break
        desk.at(min(end, max(due, desk.clock.now() + timedelta(seconds=20))))
        desk.turn()
        if desk.clock.now() == end:
            return
    desk.at(end)
    desk.turn()


def check(person: Person) -> None:
    """No rule was broken, and every notice has one chain of receipts."""
    desk, receipts = person.desk, {each.id: each for each in person.desk.ledger.all()}
    assert set(person.raised) == {id for id, each in receipts.items() if not each.is_digest}
    shown = [(at, message.id, receipts[message.id].raised) for at, message, kind in person.seen if kind != DIGEST]
    assert max(Counter(id for _, id, _ in shown).values(), default=1) == 1
    for number, (at, id, notice) in enumerate(shown):
        before = [when for when, _, _ in shown[:number]]
        assert notice.priority * (0.5 if person.tired_at[id] else 1) >= LEAST
        if not notice.urgent:
            assert not is_quiet_by_table(QUIET, at), (at, notice)
            assert sum(when.date() == at.date() for when in before) < DAILY
            assert all(at - when >= INTERVAL for when in before), (at, notice)
    digests = [at for at, _, kind in person.seen if kind == DIGEST]
    assert len({at.date() for at in digests}) == len(digests)
    assert not any(is_quiet_by_table(QUIET, at) for at in digests)
    listed = Counter(id for each in receipts.values() for id in each.listed)
    for id, each in receipts.items():
        match each.decision.decided:
            case "held":
                raise AssertionError("held for ever")
            case "digest":
                assert listed[id] == 1 and each.digest
                assert receipts[each.digest].proof
            case "sent":
                assert each.proof and each.delivered_at
            case "dropped":
                assert not each.proof and not listed[id]
    assert not desk.outbox.looks()


@settings(max_examples=100, deadline=None)
@given(steps(with_faults=False))
def test_every_decision_is_the_one_that_the_rules_ask_for(stream: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        check(live(Path(folder), stream, with_faults=False))


@settings(max_examples=50, deadline=None)
@given(steps(with_faults=True))
@example(AN_URGENT_ONE_PASSES)
def test_no_fault_of_a_channel_breaks_a_rule(stream: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        check(live(Path(folder), stream, with_faults=True))


@pytest.mark.chaos
@settings(max_examples=1000, deadline=None)
@given(st.booleans().flatmap(lambda faults: st.tuples(st.just(faults), steps(faults))))
def test_a_thousand_streams(lived: tuple[bool, list[Step]]) -> None:
    with TemporaryDirectory() as folder:
        check(live(Path(folder), lived[1], with_faults=lived[0]))
