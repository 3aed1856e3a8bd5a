"""A session that grows too long is summarised: what matters is kept first, the beginning of every request holds."""

from dataclasses import replace
from pathlib import Path

from agent.events.runs import ContextCompact
from agent.llm.messages import Context, Model, User
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session, sessions
from tests.loop.stage import Stage, note

SMALL = Model("small", 4_000, 400)
TALK = [f"I have heard that number {n}. " + "It was said with many words. " * 12 for n in range(12)]

QUIET = [ScriptedReply("User goal: tea number 0", when="Summarise the beginning")]


def model() -> Scripted:
    """A model with a small window and many words."""
    return Scripted([*map(ScriptedReply, TALK), *QUIET], model=SMALL)


def talk(here: Stage, turns: int = 12) -> str:
    """A long conversation; the path of its session."""
    session = here.session("talk")
    for n in range(turns):
        ended = here.ask(f"I prefer tea number {n}. " + "Please remember all of this. " * 12, session)
        assert ended.outcome is RunOutcome.FINISHED, ended.reason
    return session.path


def test_the_older_part_is_summarised_and_the_last_turns_stay(tmp_path: Path) -> None:
    here = Stage(tmp_path, model())
    session = load_session(here.vault, talk(here))
    first, *rest = session.history
    assert isinstance(first, Context) and first.source == "summary"
    said = [message for message in rest if isinstance(message, User)]
    assert 2 <= len(said) < 12 and "number 11" in said[-1].text


def test_everything_stays_in_the_session_s_note(tmp_path: Path) -> None:
    here = Stage(tmp_path, model())
    shown = note(here.vault, talk(here))
    assert all(f"tea number {n}." in shown for n in range(12))
    assert shown.count("I have heard that number") == 12


def test_the_summary_is_a_note_of_its_own(tmp_path: Path) -> None:
    here = Stage(tmp_path, model())
    path = talk(here)
    summaries = [each for each in sessions(here.vault) if each.startswith(path.removesuffix(".md") + "-summary-")]
    assert summaries and "tea number 0" in note(here.vault, sorted(summaries)[0])


def test_everybody_is_told_before_anything_is_dropped(tmp_path: Path) -> None:
    here = Stage(tmp_path, model())
    told: list[ContextCompact] = []
    here.bus.subscribe(told.append, ContextCompact, name="ear")
    session = load_session(here.vault, talk(here))
    kept = [message.text for message in session.history if isinstance(message, User)]
    assert told and all(event.session == session.path and event.dropped for event in told) and len(kept) < 12


def test_a_broken_flush_does_not_stop_the_compaction(tmp_path: Path) -> None:
    here = Stage(tmp_path, model())

    def fail(event: ContextCompact) -> None:
        raise RuntimeError("the memory is full")

    here.bus.subscribe(fail, ContextCompact, name="flush")
    session = load_session(here.vault, talk(here))
    assert isinstance(session.history[0], Context)
    assert here.bus.counts()["flush"].failed


def test_what_was_sent_is_the_beginning_of_what_is_sent_next(tmp_path: Path) -> None:
    lines = [ScriptedReply("", (ScriptedCall("vault_list", {"limit": n + 1}),)) for n in range(8)]
    lister = Scripted([*lines, ScriptedReply("Listed.")])
    here = Stage(tmp_path, lister)
    session = here.session("list")
    here.ask("List the notes", session)
    here.ask("And once more", session)
    requests = list(lister.requests)
    assert len(requests) > 9
    for before, after in zip(requests, requests[1:], strict=False):
        assert after.messages[: before.stable] == before.messages[: before.stable]
        assert after.tools[: len(before.tools)] == before.tools


def test_a_loaded_session_sends_what_the_living_one_would(tmp_path: Path) -> None:
    lines = [ScriptedReply("", (ScriptedCall("vault_list", {"limit": n + 1}),)) for n in range(3)]
    lister = Scripted([*lines, ScriptedReply("Listed."), ScriptedReply("Good.")])
    here = Stage(tmp_path, lister)
    ended = here.ask("List the notes")
    last = lister.requests[-1]
    here.ask("Thank you", load_session(here.vault, ended.session))
    again = lister.requests[-1]
    assert again.messages[: last.stable] == last.messages[: last.stable]


def test_a_task_too_long_for_the_model_is_refused_with_what_to_do(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted([ScriptedReply("Fine.")], model=replace(SMALL, window=2_000)))
    ended = here.ask("word " * 20_000)
    assert ended.outcome is RunOutcome.LIMIT
    assert "window" in ended.hint or "note" in ended.hint
