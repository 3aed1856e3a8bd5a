"""The law of questions over random streams: whoever asks, what nothing waits for makes no third open question, is asked
one at a time, and never again, also after its note was thrown away. A run that waits asks all the same."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from agent.asking.questions.law import MOST_OPEN, ever_asked, may_ask_one, waits_for_answer
from agent.asking.questions.notes import QuestionDraft, asked_questions, format_question
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.memory.profile.changes import Writing, _asked
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.questions import ProfileConflict
from agent.vault.change import Create, Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import git, make_vault, write

STAMP = Stamp("agent", tool="test")


def put(vault: Vault, made: Create) -> None:
    with vault.transaction("question(ask): x", STAMP) as change:
        change.requests.append(made)


def open_now(vault: Vault) -> int:
    return sum(map(waits_for_answer, asked_questions(vault)))


def curious(vault: Vault, subject: str, now: datetime) -> bool:
    gap = CuriousGap("knowledge", subject, f"What of {subject}?", "It matters.", "I go on.")
    if not may_ask_one(asked_questions(vault)) or ever_asked(vault).has(gap.key):
        return False
    put(vault, question_note(vault, gap, now, 3, "en"))
    return True


def of_profile(vault: Vault, subjects: list[str], now: datetime) -> int:
    conflicts = [ProfileConflict("x.md", f"- {each}", f"not {each}", "", (Evidence("e"),)) for each in subjects]
    asked = _asked(Writing(vault, "en", now, lambda words: False), conflicts, is_sensitive=True)
    for each in asked:
        put(vault, each)
    return len(asked)


def of_run(vault: Vault, name: str, now: datetime) -> None:
    draft = QuestionDraft(f"{name}?", now + timedelta(days=3), patience="run", more={"run": name})
    put(vault, Create(f"questions/run-{name}.md", format_question(draft, name, now, "en")))


def lived(tmp_path: Path, random: Random, steps: int) -> int:
    clock = FakeClock(datetime(2026, 11, 2, 10, tzinfo=UTC))
    vault = make_vault(tmp_path, {"mine.md": "Mine.\n"}, clock=clock)
    asked = 0
    for number in range(steps):
        clock.advance(3_600)
        before, now = open_now(vault), clock.now()
        match random.randrange(5):
            case 0:
                made = int(curious(vault, f"thing {random.randrange(6)}", now))
            case 1:
                made = of_profile(vault, [f"line {random.randrange(6)}", f"line {random.randrange(6)}"], now)
            case 2:
                of_run(vault, f"r{number}", now)
                assert open_now(vault) == before + 1, "work that stands still asks at once"
                continue
            case _:
                there = sorted((vault.place.root / "questions").glob("*.md"))
                if there:
                    note = random.choice(there)
                    if random.random() < 0.4:
                        note.unlink()
                    else:
                        write(note, note.read_text("utf-8") + "Yes.\n")
                    vault.commit_human()
                continue
        asked += made
        assert made <= 1, "one at a time"
        assert not made or before < MOST_OPEN
        assert open_now(vault) == before + made
    history = git(vault.place.root, "log", "-p", "--no-renames", "--", "questions")
    asked_about = re.findall(r"^\+(?:gap|profile): [\"']?(\w+)", history, re.MULTILINE)
    assert len(asked_about) == len(set(asked_about)) == asked, "none twice"
    return asked


def test_two_wait_at_most_and_none_is_asked_twice(tmp_path: Path) -> None:
    assert sum(lived(tmp_path / str(seed), Random(seed), 30) for seed in range(3)) > 5, "and it does ask"


@pytest.mark.chaos
def test_the_same_over_many_streams(tmp_path: Path) -> None:
    assert sum(lived(tmp_path / str(seed), Random(seed), 120) for seed in range(30)) > 100
