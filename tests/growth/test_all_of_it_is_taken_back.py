"""A short life with growth: three days with a correction each, a rule that is let in, a look back; and then the person
follows each change to what it rests on, counts the notes they did not ask for, and takes all of it back."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.lessons import lesson_work
from agent.asking.answers import pending_proposals
from agent.growth.lessons.lesson import IN_FORCE
from agent.growth.lessons.lesson_note import load_lessons
from agent.growth.lessons.tend import tend_lessons
from agent.growth.procedures.procedure import ProcedureCall
from agent.growth.procedures.run import run_procedure
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.growth.reflections.desk import Desk, desk, says
from tests.stories.agents import ticked
from tests.vaults import git, write

MOST_UNASKED = 4
"""Notes a day that nobody asked for: the reflections of the day, a proposal, the lesson and the log."""
NOTES = {"notes/report.md": "# Report\n\nSales grew by 4 %.\n", "notes/plan.md": "# Plan\n\n- [ ] Call Ana\n"}
ANSWER = """[
  {"part": "result", "text": "It was too long."},
  {"part": "error", "text": "Nobody asked for all of it.", "kind": "strategy"},
  {"part": "strategy", "text": "Give the result first, in at most five lines", "when": "a summary is asked for",
   "effect": "no second try", "confidence": "high", "severity": "medium", "restricts": false},
  {"part": "strategy", "text": "Be more careful", "when": "always", "effect": "better work", "confidence": "high",
   "severity": "high"}
]"""
_LINK = re.compile(r"\[\[([^\]|#]+)(?:#([^\]|]+))?[^\]]*\]\]")
_JOBS = ("growth/lessons", "growth/reflections", "self-reflection")


def days(made: Desk) -> None:
    """Three days, each with a summary that the person has shortened, and its review."""
    for _ in range(3):
        ended = made.ask("Sum up the report")
        made.ask("That is too long. Shorter please.", session=ended.session)
        made.clock.advance(3_600)
        made.look(ended.session)
        call = ProcedureCall(lambda: opened_runs(made.workspace), "self-reflection", title="Self-reflection")
        looked = run_procedure("self_reflection", call)
        vault = made.workspace.vault
        vault.commit_held(vault.held_of(looked.session))  # as the jobs do, of a look back that says nothing new
        tend_lessons(lesson_work(made.workspace))
        made.clock.advance(timedelta(days=1).total_seconds())


def agents_notes(made: Desk) -> dict[str, str]:
    """The agent's notes about itself, by their paths."""
    found = (path for folder in ("lessons*", "reflections") for path in made.root.glob(f"{folder}/**/*.md"))
    return {path.relative_to(made.root).as_posix(): path.read_text("utf-8") for path in found}


def follow(made: Desk, path: str, wanted: str, seen: frozenset[str] = frozenset()) -> bool:
    """True if links lead from a note to one with these words; each link leads to a note, and to a heading in it."""
    text = (made.root / path).read_text("utf-8")
    if wanted in text and path.startswith("sessions/"):
        return True
    found = False
    for name, heading in _LINK.findall(text):
        target = made.root / f"{name}.md"
        assert target.exists() or name.startswith("daily/"), f"{path} links to {name}"
        there = f" {heading}\n" if heading.startswith("^") else f"## {heading}\n"
        assert not heading or there in target.read_text("utf-8"), f"{path} links to {name}#{heading}"
        if target.exists() and name not in seen and f"{name}.md" != path:
            found = found or follow(made, f"{name}.md", wanted, seen | {name})
    return found


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    judged = [says(prompt, ANSWER) for prompt in ("You judge the work", "You compare what a person")]
    looks = says("This is your own time to think", "A quiet day.")
    long = " ".join(["Sales grew by 4 %, as the report says in its first part."] * 20)
    answers = says("Sum up the report", long), says("That is too long", "4 %.")
    return desk(tmp_path, monkeypatch, *judged, looks, *answers, notes=NOTES)


def test_a_rule_leads_to_the_persons_words_and_all_of_it_is_taken_back(made: Desk) -> None:
    begun = set(agents_notes(made))
    days(made)
    (asked,) = pending_proposals(made.workspace.vault, "rule")
    assert "five lines" in asked.question, "what nobody can follow is not asked about"
    note = made.root / asked.path
    write(note, ticked(note.read_text("utf-8"), "approve"))
    tend_lessons(lesson_work(made.workspace))
    (_,) = [each for each in load_lessons(made.workspace.vault) if each.state in IN_FORCE]
    assert follow(made, "lessons/log.md", "That is too long. Shorter please.")
    new = set(agents_notes(made)) - begun
    assert len(new) <= 3 * MOST_UNASKED, sorted(new)

    for job in _JOBS:
        done = undo(made.workspace.vault, Selection(jobs=(job,)), confirmed=True)
        assert done.commit, job
    assert {path: (made.root / path).read_text("utf-8") for path in NOTES} == NOTES
    left = {path: text for path, text in agents_notes(made).items() if path not in begun and path != "lessons/log.md"}
    assert not [path for path, text in left.items() if "## " in text], "of a day's note the title may stay"
    assert git(made.root, "status", "--porcelain") == ""
