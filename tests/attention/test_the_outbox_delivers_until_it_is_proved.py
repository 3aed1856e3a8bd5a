"""The outbox: tries, retries, the daily note in the end; kills, several processes, and opinions."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.attention.channels.channel import Choice, Message
from agent.attention.outbox import FIRST, TRIES, preferred
from agent.attention.rules import limits_of
from agent.config.attention_settings import AttentionSettings
from agent.errors import Interrupted, PerhapsDone, Permanent, Retryable, Stopping, UserError
from agent.events.notices import NotificationSent, NotificationSuppressed
from agent.llm.messages import Cancelled, never
from agent.records.database import Records
from agent.records.table import Lines
from agent.vault.layout import NOTICES
from tests.attention.channels import FakeChannel
from tests.attention.outboxes import NOON, Desk, a_notice, limits


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_notice_is_sent_with_a_proof_and_told_of(desk: Desk) -> None:
    id = desk.take(a_notice("The roof leaks", lines=("in the kitchen",)))
    desk.turn()
    (message,) = desk.fake.shown
    assert (message.id, message.title, message.text, message.again) == (id, "The roof leaks", "in the kitchen", False)
    receipt = desk.ledger.get(id)
    assert receipt is not None and (receipt.proof, receipt.channel, receipt.tries) == ("proof 1", "fake", 1)
    assert desk.events == [NotificationSent(id, "roof", "fake", "proof 1")]


def test_what_is_not_sent_is_told_with_its_rule(desk: Desk) -> None:
    desk.take(a_notice())
    desk.turn()
    dropped, held = desk.take(a_notice()), desk.take(a_notice("Something else"))
    assert desk.events[1:] == [
        NotificationSuppressed(dropped, "roof", "dropped", "duplicate"),
        NotificationSuppressed(held, "roof", "held", "interval"),
    ]


def test_the_second_notice_waits_for_exactly_the_interval(desk: Desk) -> None:
    desk.take(a_notice("one"))
    desk.turn()
    desk.clock.advance(29 * 60 + 59)
    desk.take(a_notice("two"))
    desk.turn()
    assert desk.titles == ["one"]
    desk.clock.advance(1)
    desk.turn()
    assert desk.titles == ["one", "two"]


def test_a_type_with_an_interval_of_its_own_waits_for_it_and_holds_up_no_other(desk: Desk) -> None:
    desk.limits = limits_of(AttentionSettings(9, 30, "roof:120", "0-0", 0.6, 0.1, ""))
    for title in ("one", "two"):
        desk.take(a_notice(title, 0.9))
    desk.turn()
    desk.take(a_notice("goal", 0.7, type="goal"))
    assert desk.ledger.all()[1].decision.limit == 120
    shown = {}
    for minutes in (29, 1, 89, 1):
        desk.clock.advance(minutes * 60)
        desk.turn()
        shown[(desk.clock.now() - NOON) // timedelta(minutes=1)] = list(desk.titles)
    assert shown == {29: ["one"], 30: ["one", "goal"], 119: ["one", "goal"], 120: ["one", "goal", "two"]}


def test_what_was_held_comes_the_most_important_first(desk: Desk) -> None:
    desk.at(NOON.replace(hour=23))
    for title, priority in {"late": 0.7, "old": 0.8, "new": 0.8, "great": 0.95}.items():
        desk.take(a_notice(title, priority))
        desk.clock.advance(60)
    desk.turn()
    assert desk.titles == []
    for minutes in range(0, 120, 30):
        desk.at(NOON.replace(hour=8) + timedelta(days=1, minutes=minutes))
        desk.turn()
    assert desk.titles == ["great", "old", "new", "late"]


def test_beyond_the_days_number_it_is_in_the_digest_of_the_next_morning(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=limits(daily=2, minutes=0))
    for number in range(4):
        desk.take(a_notice(f"title {number}"))
    desk.take(a_notice("small", 0.1))
    desk.turn()
    assert desk.titles == ["title 0", "title 1"]
    desk.at(NOON.replace(hour=8) + timedelta(days=1))
    desk.turn()
    (digest,) = desk.fake.shown[2:]
    assert digest.title == "3 things that could wait"
    *lines, codes = digest.text.splitlines()
    assert [line.split(" · ")[1] for line in lines] == ["title 2", "title 3", "small"]
    assert f"vault-agent notices why {lines[0].split(' · ')[0]}" in codes, "it does not say what the letters are for"
    desk.take(a_notice("a new day"))  # the digest has cost nothing
    desk.take(a_notice("and one more"))
    desk.turn()
    assert desk.titles[-2:] == ["a new day", "and one more"]


def test_an_urgent_one_breaks_the_quiet_but_is_never_told_twice(desk: Desk) -> None:
    desk.at(NOON.replace(hour=3))
    desk.take(a_notice("fire", urgent=True))
    desk.take(a_notice("fire", urgent=True))
    desk.take(a_notice("flood", urgent=True))
    desk.turn()
    assert desk.titles == ["fire", "flood"]


def test_a_channel_that_counts_for_more_lifts_a_notice(tmp_path: Path) -> None:
    desk = Desk(tmp_path, fake=FakeChannel("loud"))
    desk.take(a_notice("nearly", 0.5))
    desk.turn()
    assert desk.titles == ["nearly"]


def test_three_dismissals_in_a_row_halve_a_type_until_one_is_helpful(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=limits("", daily=100, minutes=0))
    for number in range(3):
        id = desk.take(a_notice(f"idea {number}", 0.9, "pattern"))
        desk.turn()
        desk.outbox.ledger.react(id, "dismissed" if number else "not_helpful")
        desk.clock.advance(60)
    tired = desk.outbox.take(a_notice("idea 3", 0.9, "pattern"))
    assert (tired.decision.decided, tired.decision.rule, tired.decision.figure) == ("digest", "dismissals", 0.45)
    assert desk.outbox.take(a_notice("another type", 0.9)).decision.decided == "sent"
    asked_for = replace(a_notice("call Anna", 0.9, "pattern"), urgent=True)
    assert desk.outbox.take(asked_for).decision.decided == "sent", "who dismisses reminders is done with those"
    desk.outbox.ledger.react(tired.id, "helpful")
    assert desk.outbox.take(a_notice("idea 4", 0.9, "pattern")).decision.decided == "sent"


def test_a_busy_channel_is_tried_again_when_it_says_so(desk: Desk) -> None:
    desk.fake.answers = [Retryable("busy", delay=90.0), Retryable("still busy", delay=1.0)]
    desk.take(a_notice())
    desk.turn()
    desk.clock.advance(89)
    desk.turn()
    assert desk.fake.tried == 1
    desk.clock.advance(1)
    desk.turn()
    assert desk.fake.tried == 2
    desk.clock.advance(FIRST * 4 - 1)
    desk.turn()
    assert desk.fake.tried == 2
    desk.clock.advance(1)
    desk.turn()
    assert [each.again for each in desk.fake.shown] == [False]
    assert not desk.outbox.looks()


def test_a_service_that_does_not_say_whether_it_took_it_is_told_that_it_may_have(desk: Desk) -> None:
    desk.fake.answers = [PerhapsDone("cut off", delay=1.0), Retryable("busy", delay=1.0)]
    id = desk.take(a_notice())
    for _ in range(2):
        desk.turn()
        desk.clock.advance(FIRST * 4)
        desk.restart()
    desk.turn()
    assert [each.again for each in desk.fake.shown] == [True]
    receipt = desk.ledger.get(id)
    assert receipt is not None and receipt.may_have_arrived


def test_what_a_service_asked_for_holds_over_a_restart(desk: Desk) -> None:
    desk.fake.answers = [Retryable("busy", delay=90.0)]
    desk.take(a_notice())
    desk.turn()
    desk.clock.advance(50)
    desk.restart()
    desk.turn()
    assert desk.fake.tried == 1
    desk.clock.advance(40)
    desk.turn()
    assert desk.fake.tried == 2


@pytest.mark.parametrize(
    "error",
    [
        Permanent("no such chat"),
        UserError("no key"),
        OSError("gone"),
        ZeroDivisionError("a bug"),
        Retryable("come back tomorrow", delay=86_400.0),
    ],
)
def test_a_channel_that_cannot_gives_way_to_the_daily_note_at_once(desk: Desk, error: Exception) -> None:
    desk.fake.answers = [error]
    id = desk.take(a_notice())
    desk.turn()
    receipt = desk.ledger.get(id)
    assert receipt is not None and (receipt.channel, receipt.chosen, receipt.proof) == ("daily", "fake", "proof 1")
    assert [each.title for each in desk.daily.shown] == ["The roof leaks"]
    assert receipt.problem in (str(error), f"ZeroDivisionError: {error}")


def test_a_channel_that_fails_again_and_again_gives_way_and_blocks_nothing(desk: Desk) -> None:
    desk.fake.answers = [Retryable("busy")] * TRIES
    desk.take(a_notice("first"))
    desk.take(a_notice("urgent", urgent=True, channel="daily"))
    desk.turn()
    assert [each.title for each in desk.daily.shown] == ["urgent"]
    for _ in range(40):
        desk.clock.advance(60)
        desk.turn()
    assert [each.title for each in desk.daily.shown] == ["urgent", "first"]
    assert desk.fake.tried == TRIES


def test_a_slow_channel_does_not_reach_into_the_quiet_hours(desk: Desk) -> None:
    desk.at(NOON.replace(hour=21, minute=58))
    desk.fake.answers = [Retryable("busy", delay=300.0)]
    desk.take(a_notice())
    desk.turn()
    desk.at(NOON.replace(hour=22, minute=10))
    desk.turn()
    assert desk.fake.tried == 1
    assert desk.outbox.looks()[0][0] == NOON.replace(hour=8) + timedelta(days=1)
    desk.at(NOON.replace(hour=8) + timedelta(days=1))
    desk.turn()
    assert desk.titles == ["The roof leaks"]


def test_after_an_urgent_one_that_passed_it_a_slow_one_keeps_the_interval(desk: Desk) -> None:
    desk.fake.answers = [Retryable("busy", delay=500.0)]
    desk.take(a_notice("slow"))
    desk.turn()
    desk.clock.advance(8 * 60)
    desk.take(a_notice("fire", urgent=True))
    desk.turn()
    desk.clock.advance(60)
    desk.turn()
    assert desk.titles == ["fire"]
    desk.at(desk.outbox.looks()[0][0])
    desk.turn()
    assert desk.titles == ["fire", "slow"] and desk.clock.now() == NOON + timedelta(minutes=8 + 30)


def test_after_the_days_number_was_passed_by_urgent_ones_a_slow_one_comes_in_the_morning(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=limits(daily=2))
    desk.fake.answers = [Retryable("busy", delay=500.0)]
    desk.take(a_notice("slow"))
    desk.turn()
    for title in ("fire", "flood"):
        desk.take(a_notice(title, urgent=True))
        desk.turn()
    desk.clock.advance(3600)
    desk.turn()
    assert desk.titles == ["fire", "flood"]
    desk.at(desk.outbox.looks()[0][0])
    desk.turn()
    assert desk.titles[-1] == "slow" and desk.clock.now() == NOON.replace(hour=8) + timedelta(days=1)


def test_one_on_its_way_holds_the_next_back(desk: Desk) -> None:
    desk.fake.answers = [Retryable("busy", delay=500.0)]
    desk.take(a_notice("slow"))
    desk.turn()
    desk.clock.advance(40 * 60)
    assert desk.outbox.take(a_notice("next")).decision.rule == "interval"


def test_a_kill_between_sending_and_noting_is_told_to_the_person(desk: Desk) -> None:
    class Killed(BaseException):
        pass

    def kill(message: object) -> None:
        raise Killed

    id = desk.take(a_notice())
    desk.fake.on_send = kill
    with pytest.raises(Killed):
        desk.turn()
    desk.fake.on_send = lambda message: None
    desk.restart()
    desk.turn()
    assert [(each.id, each.again) for each in desk.fake.shown] == [(id, False), (id, True)]
    receipt = desk.ledger.get(id)
    assert receipt is not None and receipt.may_have_arrived and receipt.proof
    desk.restart()
    desk.turn()
    assert len(desk.fake.shown) == 2


def test_a_try_that_was_stopped_on_purpose_is_no_second_one(desk: Desk) -> None:
    desk.fake.answers = [Stopping("the daemon ends")]
    desk.take(a_notice())
    desk.turn()
    desk.clock.advance(60)
    desk.restart()
    desk.turn()
    assert [each.again for each in desk.fake.shown] == [False]


def test_a_question_has_the_buttons_that_decide_it(desk: Desk) -> None:
    desk.outbox.choices = lambda path: (Choice("Yes", f"yes {path}"),)
    desk.take(a_notice("may I?", decides="approvals/a.md"))
    desk.turn()
    assert desk.fake.shown[0].choices == (Choice("Yes", "yes approvals/a.md"),)


def test_the_same_id_is_taken_once(desk: Desk) -> None:
    for _ in range(3):
        desk.outbox.take(a_notice("the answer"), "01RUN00000000000000000RUN1")
    assert len(desk.ledger.all()) == 1


def test_secrets_do_not_get_into_the_ledger(tmp_path: Path) -> None:
    desk = Desk(tmp_path, masked=lambda words: words.replace("hunter2", "[secret]"))
    desk.fake.answers = [Permanent("401 for hunter2")]
    desk.take(a_notice("the key is hunter2", lines=("hunter2",)))
    desk.turn()
    lines = str(Lines(Records(tmp_path), NOTICES).all())
    assert "[secret]" in lines and "hunter2" not in lines
    assert "hunter2" not in str(desk.daily.shown)


@pytest.mark.parametrize(
    ("order", "first"), [("", "mail"), ("telegram", "telegram"), ("none, desktop", "desktop"), ("daily", "daily")]
)
def test_notices_go_first_where_the_person_wants_them(order: str, first: str) -> None:
    names = ("desktop", "mail", "telegram", "terminal", "daily")
    found = preferred({name: FakeChannel(name) for name in names}, order)
    assert next(iter(found)) == first and set(found) == set(names)


def test_without_a_channel_elsewhere_they_go_to_the_daily_note() -> None:
    assert next(iter(preferred({"terminal": FakeChannel("terminal"), "daily": FakeChannel("daily")}, ""))) == "daily"


WRITER = """
import sys
from pathlib import Path
from datetime import timedelta
from agent.clock import SystemClock
from tests.attention.outboxes import NOON, Desk, a_notice, limits
class Noon(SystemClock):
    def now(self):
        return NOON + timedelta(seconds=self.monotonic() % 1)
desk = Desk(Path(sys.argv[1]), Noon(), limits("", daily=7, minutes=0))
for number in range(20):
    desk.take(a_notice(f"{sys.argv[2]} {number}"))
    desk.outbox.deliver(lambda: False)
"""


def test_several_processes_share_one_budget_and_send_nothing_twice(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)], cwd=root) for number in range(3)
    ]
    assert [each.wait(60) for each in started] == [0, 0, 0]
    desk = Desk(tmp_path, limits=limits("", daily=7, minutes=0))
    desk.outbox.deliver(never)
    receipts = desk.ledger.all()
    assert len(receipts) == 60
    assert sum(each.decision.decided == "sent" for each in receipts) == 7
    steps = [json.loads(line)["step"] for line in Lines(Records(tmp_path), NOTICES).all()]
    assert steps.count("delivered") == 7 == steps.count("begun")


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "\0\0\0\0",
        "not json",
        '{"id": 3, "step": "raised"}',
        '{"id": "x", "step": "begun", "at": "2026-11-24T12:00:00+00:00"}',
        "[1]",
        "null",
        '{"id": "y", "step": "raised", "at": "never"',
        "[" * 20_000,
    ],
)
def test_a_damaged_line_counts_for_nothing(desk: Desk, damage: str) -> None:
    first = desk.take(a_notice("one"))
    desk.turn()
    Lines(Records(desk.folder, durable=False), NOTICES).append(damage)
    desk.restart()
    desk.clock.advance(3600)
    second = desk.take(a_notice("two"))
    desk.turn()
    desk.restart()
    assert {each.id: each.proof for each in desk.ledger.all()} == {first: "proof 1", second: "proof 2"}


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.5, 0.8])
def test_a_ledger_that_was_cut_off_is_gone_on_with(desk: Desk, keep: float) -> None:
    for number in range(5):
        desk.take(a_notice(f"title {number}"))
        desk.turn()
        desk.clock.advance(3600)
    lines = Lines(Records(desk.folder, durable=False), NOTICES)
    left = lines.all()
    lines.replace(left[: int(len(left) * keep)])
    desk.turn()
    desk.take(a_notice("after"))
    for _ in range(3):
        desk.turn()
        desk.clock.advance(3600)
    assert desk.titles[-1] == "after"


def test_records_that_cannot_be_written_are_said(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file where the folder should be")
    with pytest.raises(Permanent, match="cannot be used"):
        Desk(tmp_path / "there")


def test_receipts_are_left_out_after_a_year_once_there_are_many(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.attention.receipts._MANY", 10)
    old = desk.take(a_notice("old"))
    desk.turn()
    desk.clock.advance(400 * 86_400)
    for number in range(8):
        desk.take(a_notice(f"title {number}"))
        desk.turn()
        desk.clock.advance(3600 * 3)
    before = {each.id: each for each in desk.ledger.all()}
    desk.restart()
    assert {each.id: each for each in desk.ledger.all()} == {id: each for id, each in before.items() if id != old}


class HangingChannel(FakeChannel):
    """Sends nothing until it is let go, or asked to stop."""

    def __init__(self, name: str = "hanging") -> None:
        super().__init__(name)
        self.free = threading.Event()
        self.began = threading.Event()

    def send(self, message: Message, cancelled: Cancelled) -> str:
        self.began.set()
        while not self.free.wait(0.01):
            if cancelled():
                raise Interrupted("the call was cancelled")
        return super().send(message, cancelled)


def at_work(desk: Desk, cancelled: Cancelled = never) -> threading.Thread:
    """A delivery that goes on in a thread."""
    thread = threading.Thread(target=desk.outbox.deliver, args=(cancelled,), daemon=True)
    thread.start()
    return thread


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.01)


def two_channels(folder: Path, hanging: FakeChannel) -> Desk:
    """A desk that sends all at once, to a channel that hangs and to one that does not."""
    desk = Desk(folder, limits=limits(daily=50, minutes=0))
    desk.outbox.channels = lambda: {"fake": desk.fake, hanging.name: hanging, "daily": desk.daily}
    return desk


def test_a_channel_that_hangs_keeps_none_of_the_others(tmp_path: Path) -> None:
    hanging = HangingChannel()
    desk = two_channels(tmp_path, hanging)
    slow = [desk.take(a_notice(f"slow {number}", channel="hanging")) for number in range(3)]
    desk.take(a_notice("quick", channel="fake"))
    desk.take(a_notice("noted", channel="daily"))
    began = time.monotonic()
    thread = at_work(desk)
    until(lambda: desk.titles == ["quick"] and len(desk.daily.shown) == 1, "the others have theirs")
    assert hanging.began.wait(60)
    desk.take(a_notice("raised meanwhile", channel="fake"))
    until(lambda: desk.titles == ["quick", "raised meanwhile"], "so has what comes later")
    assert time.monotonic() - began < 60 and not hanging.shown and thread.is_alive()
    assert not desk.outbox.looks(), "nobody has to look at what is being sent"
    assert not desk.outbox.deliver(never), "one delivers at a time"
    hanging.free.set()
    thread.join(60)
    assert [each.title for each in hanging.shown] == ["slow 0", "slow 1", "slow 2"]
    assert [receipt.tries for id in slow if (receipt := desk.ledger.get(id)) is not None] == [1, 1, 1]
    assert not desk.outbox.undelivered() and len(desk.events) == 6


def test_a_delivery_that_is_stopped_goes_on_later_and_says_so(tmp_path: Path) -> None:
    hanging, stop = HangingChannel(), threading.Event()
    desk = two_channels(tmp_path, hanging)
    first, second = (desk.take(a_notice(title, channel="hanging")) for title in ("one", "two"))
    thread = at_work(desk, stop.is_set)
    assert hanging.began.wait(60)
    stop.set()
    thread.join(60)
    assert not thread.is_alive() and not desk.daily.shown, "it does not fall back"
    tried, untried = desk.ledger.get(first), desk.ledger.get(second)
    assert tried is not None and (tried.tries, tried.channel, tried.is_undelivered) == (1, "hanging", True)
    assert untried is not None and untried.tries == 0
    hanging.free.set()
    desk.turn()
    assert [(each.title, each.again) for each in hanging.shown] == [("one", True), ("two", False)]


def test_what_another_channel_could_not_send_goes_to_the_daily_note_while_one_hangs(tmp_path: Path) -> None:
    hanging = HangingChannel()
    desk = two_channels(tmp_path, hanging)
    desk.fake.answers = [Permanent("the address is gone")]
    desk.take(a_notice("slow", channel="hanging"))
    lost = desk.take(a_notice("quick", channel="fake"))
    thread = at_work(desk)
    until(lambda: [each.id for each in desk.daily.shown] == [lost], "the daily note has it")
    assert thread.is_alive()
    hanging.free.set()
    thread.join(60)


def test_a_ledger_that_fails_ends_all_lines_before_the_next_may_deliver(tmp_path: Path) -> None:
    hanging = HangingChannel()
    desk = two_channels(tmp_path, hanging)
    desk.take(a_notice("slow", channel="hanging"))
    desk.take(a_notice("quick", channel="fake"))
    desk.outbox.publish = _broken
    threading.Timer(0.3, hanging.free.set).start()
    with pytest.raises(RuntimeError, match="no more"):
        desk.outbox.deliver(never)
    assert [each.title for each in hanging.shown] == ["slow"]


def _broken(event: object) -> None:
    raise RuntimeError("no more")
