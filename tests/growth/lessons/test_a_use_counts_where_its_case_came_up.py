"""A run is given several rules, and says something only about those whose case came up in it."""

from pathlib import Path

import pytest

from agent.growth.lessons.lesson import words_mark
from agent.growth.lessons.run_lessons import case_fits
from agent.growth.lessons.uses import LessonRun, UsedLesson, opinion_row, parse_runs, uses_of
from agent.growth.patterns.likeness import vectors_of
from agent.index.embedder import shipped_embedder
from tests.growth.lessons.desk import HEAD, START
from tests.stories.agents import call, document, furnish, only, script, settings, tell
from tests.vaults import write

CASES = {"short": ("a summary is wanted", "Be short."), "file": ("meeting notes are filed", "Read them whole.")}
IDS = {name: words_mark(text, when) for name, (when, text) in CASES.items()}
ROWS = "".join(f"- *{when}:* {text} · on probation ^l-{IDS[name]}\n" for name, (when, text) in CASES.items())
FILES = "File the meeting notes of the budget"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv)
    write(made / "lessons.md", HEAD + ROWS)
    return made


def counted(root: Path, machine: dict[str, str]) -> dict[str, tuple[object, object]]:
    listed = document(root, machine, "rules", "list")["rules"]
    return {{id: name for name, id in IDS.items()}[each["id"]]: (each["uses"], each["successes"]) for each in listed}


def test_a_run_to_which_nobody_reacted_says_nothing(root: Path, tmp_path: Path) -> None:
    machine = settings(tmp_path, script(tmp_path / "script.json", "Ok."))
    tell(root, machine, "ask", FILES)
    document(root, machine, "rules", "learn")
    assert counted(root, machine) == {"file": (0, 0), "short": (0, 0)}
    row = only(sorted((root / "lessons/history").glob("*.md"))).read_text().splitlines()[-1]
    assert f"([[lessons#^l-{IDS['short']}]] " in row and f" [[lessons#^l-{IDS['file']}]] " in row


@pytest.mark.parametrize(
    ("words", "successes"), [("Perfect, thank you!", 1), ("谢谢，很好", 1), ("No, that is wrong.", 0)]
)
def test_the_persons_next_words_make_a_use(root: Path, tmp_path: Path, words: str, successes: int) -> None:
    machine = settings(tmp_path, script(tmp_path / "script.json", "Filed.", "I see."))
    ended = document(root, machine, "ask", FILES)
    tell(root, machine, "ask", "--session", ended["session"], words)
    document(root, machine, "rules", "learn")
    assert counted(root, machine) == {"file": (1, successes), "short": (0, 0)}


def test_a_ticked_box_makes_a_use(root: Path, tmp_path: Path) -> None:
    machine = settings(tmp_path, script(tmp_path / "script.json", "It is fine."))
    tell(root, machine, "ask", "Tell me the gist of the budget")
    note = only(sorted((root / "sessions").rglob("*.md")))
    box = f"[[lessons#^l-{IDS['short']}|Be short]]: not helpful"
    write(note, note.read_text().replace(f"- [ ] {box}", f"- [x] {box}"))
    document(root, machine, "rules", "learn")
    assert counted(root, machine) == {"file": (0, 0), "short": (1, 0)}, "whatever its case"


def test_a_run_that_failed_counts_and_does_not_ask_what_helped(root: Path, tmp_path: Path) -> None:
    again = [call("vault_read", path="gone.md")] * 4
    machine = {
        **settings(tmp_path, script(tmp_path / "script.json", *again, "It is not there.")),
        "VAULT_AGENT_RUN__STEPS": "2",
    }
    document(root, machine, "ask", FILES, code=1)
    note = only(sorted((root / "sessions").rglob("*.md"))).read_text()
    assert "helpful" not in note and "on probation" not in note
    assert counted(root, machine) == {"file": (1, 0), "short": (0, 0)}


def test_a_correction_says_nothing_of_a_rule_for_another_case() -> None:
    here, other = UsedLesson("lessons#^l-a", "0" * 8), UsedLesson("lessons#^l-b", "1" * 8, came_up=False)
    rows = [
        LessonRun(START, "run", "finished", (here, other)),
        opinion_row(START, "run", (here, other), "corrected", ""),
    ]
    uses = uses_of(rows)
    assert [use.counts for use in uses.get(here.words, ())] == [True] and not uses.get(here.words, ())[0].is_success
    assert [use.counts for use in uses.get(other.words, ())] == [False]
    assert parse_runs("\n".join(each.row for each in rows).encode()) == tuple(rows)


def test_rows_from_before_count_as_they_did() -> None:
    row = "| 2026-11-01T12:00:00+00:00 | r | finished | [[rules/a]] 0a1b2c3d, [[rules/b]] 00000000 |  | [[s]] |"
    assert [each.came_up for each in parse_runs(row.encode())[0].lessons] == [True, True]


@pytest.mark.parametrize(
    ("case", "fits", "others"),
    [
        (
            "meeting notes are filed",
            "File the meeting notes of [[Notes/Budget]]",
            ("When is the weekly meeting?", "Write a shopping list", "Summarise [[Notes/Budget]]"),
        ),
        ("a trip is planned", "Plan a trip to Oslo", ("Plan my day", "Fix the bug in script.py")),
        ("归档会议记录时", "归档会议记录 [[笔记/预算]]", ("周会是什么时候？", "写一份周末的购物清单")),
        ("修改笔记时", "把这篇笔记里的日期改一下", ("我住在成都。请记住。", "概括一下上周的三篇笔记")),
    ],
)
def test_cases_are_told_by_their_meaning(case: str, fits: str, others: tuple[str, ...]) -> None:
    vectors = vectors_of(shipped_embedder())
    assert case_fits(case, fits, vectors)
    assert not any(case_fits(case, other, vectors) for other in others)


def test_without_vectors_by_their_words() -> None:
    assert case_fits("a trip to Oslo is planned", "Plan the trip to Oslo", None)
    assert not case_fits("a trip to Oslo is planned", "Plan my day", None) and not case_fits("the", "the", None)
