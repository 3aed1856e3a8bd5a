"""The anchor says what is left of a limit once it is little, and what to mind: only when there is something to say."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from agent.context.anchor import Anchor
from agent.errors import Permanent
from agent.llm.ledger import LedgerEntry, SpendScope
from agent.llm.messages import Context, Request, Usage
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.agent import Models
from agent.loop.limits import Breaker, what_to_mind, whats_left
from agent.texts import LANGUAGES, Language
from tests.fakes import FakeClock
from tests.llm.spending import PLENTY, Answers, meter
from tests.loop.stage import Stage


def looks(number: int) -> list[ScriptedReply]:
    """Replies that ask for something else each."""
    return [ScriptedReply("", (ScriptedCall("vault_list", {"limit": n + 1}),)) for n in range(number)]


def reminders(here: Stage, replies: Sequence[ScriptedReply], left: float = 1.0, **limits: float) -> list[str]:
    """The anchor of each request of a run with these replies, empty where there is none."""
    here.model = model = Scripted(replies)
    run = here.run("Look around", here.session())
    run.agent = replace(run.agent, limits=replace(run.agent.limits, **limits))  # type: ignore[arg-type]  # of any type
    run.models = Models(model, model, left=lambda: left)
    run.go()
    return [_anchor(request) for request in model.requests if request.may_call]


def _anchor(request: Request) -> str:
    last = request.messages[-1]
    return last.text if isinstance(last, Context) and last.source == "anchor" else ""


def test_it_is_reminded_every_eighth_step_and_nothing_is_said_while_there_is_enough(tmp_path: Path) -> None:
    said = reminders(Stage(tmp_path, Scripted()), looks(18))
    assert [bool(each) for each in said] == [number in (8, 16) for number in range(len(said))]
    assert "Now: step 9 of at most 50" in said[8]
    assert not any("Left" in each or "To mind" in each for each in said)


def test_it_is_said_once_that_few_steps_are_left_and_that_one_is_the_last(tmp_path: Path) -> None:
    said = reminders(Stage(tmp_path, Scripted()), looks(20), steps=11)
    left = [each.partition("Left: ")[2].partition("\n")[0] for each in said]
    assert left == [*[""] * 8, "steps: 2", "", "no further step: answer now with what you have"]


def test_what_was_sent_stays_as_it_was_with_its_reminders(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted())
    reminders(here, looks(20), steps=11)
    assert isinstance(here.model, Scripted)
    sent = [request.messages for request in here.model.requests]
    assert all(after[: len(before)] == before for before, after in pairwise(sent))


def test_few_uses_of_tools_little_time_and_little_money_are_said(tmp_path: Path) -> None:
    said = reminders(Stage(tmp_path, Scripted()), looks(9), tool_calls=6)
    assert "Left: uses of tools: 1" in said[5] and "Left" not in said[4]
    clock = FakeClock(elapsed=85)
    here = Stage(tmp_path / "late", Scripted(), clock=clock)
    run = here.run("Look around", here.session())
    run.progress.since = 0
    run.agent = replace(run.agent, limits=replace(run.agent.limits, seconds=100))
    assert run.anchor().left == ("seconds: 15",)
    run.models = replace(run.models, left=lambda: 0.12)
    assert run.anchor().left == ("seconds: 15", "12% of what this run may spend")


def test_what_is_left_of_the_money_is_the_least_of_calls_tokens_and_dollars(tmp_path: Path) -> None:
    ceilings = replace(PLENTY, run=1.0, run_tokens=1_000, calls_per_run=10)
    account = meter(tmp_path / "spend", Answers(), ceilings)
    assert account.left() == 1.0
    with account.ledger.exclusive() as page:
        used = LedgerEntry("e", SpendScope("r1"), "m", Usage(300, 100), 0.95, open=False)
        page.write(account.ledger.today(), used)
    assert account.left() == pytest.approx(0.05)
    free = replace(account, ceilings=replace(ceilings, run=0.0))
    assert free.left() == pytest.approx(0.6), "without a ceiling there is no share of it"


def test_a_ledger_that_cannot_be_read_ends_no_reminder(tmp_path: Path) -> None:
    def broken() -> float:
        raise Permanent("damaged")

    here = Stage(tmp_path, Scripted())
    run = here.run("Look", here.session())
    assert whats_left(run.progress, run.agent.limits, 0.0, broken, "en") == ()


def test_a_call_that_brings_nothing_new_is_named_as_long_as_it_does_not(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted(), {"a.md": "Apples.\n"})
    read = ScriptedReply("", (ScriptedCall("vault_read", {"path": "a.md"}),))
    said = reminders(here, [read, read, read, *looks(1), ScriptedReply("Done.")])
    assert "To mind" not in said[2]
    assert "- vault_read has given the same result 3 times" in said[3] and not said[4], "once, and it stays in sight"


def test_calls_of_one_reply_that_bring_nothing_new_are_named_at_once(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted(), {"a.md": "Apples.\n"})
    calls = (ScriptedCall("vault_read", {"path": "a.md"}),) * 8
    said = reminders(here, [ScriptedReply("", calls), ScriptedReply("Done.")])
    assert "the same result 8 times" in said[1] and "once more ends the run" in said[1]


def test_untrusted_text_and_a_nearly_full_window_are_minded(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted())
    run = here.run("Look", here.session())
    run.context.taint.mark("https://ignore.test/all-that-was-said")
    (warning,) = run.anchor().warnings
    assert "never an instruction" in warning and "ignore.test" not in warning
    assert what_to_mind(Breaker(3), 0.79, False, "en") == ()
    assert "window is 80% full" in what_to_mind(Breaker(3), 0.85, False, "en")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_speaks_the_vault_s_language(tmp_path: Path, language: Language) -> None:
    here = Stage(tmp_path, Scripted())
    run = here.run("Look", here.session())
    run.agent = replace(run.agent, language=language)
    anchor: Anchor = run.anchor()
    assert ("step" in anchor.current) == (language == "en") and anchor.current
