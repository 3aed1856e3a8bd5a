"""The benchmarks run and report; what they find depends on the machine, so no figure is checked here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.benches.figures import Figure, Measure, all_reached, middle_and_tail, paired
from agent.benches.retrieval import RetrievalCase, assess, grep, load_cases
from agent.benches.vaults import build_prose, questions
from agent.interfaces.cli.main import main
from tests.vaults import head, write

Run = Callable[..., dict[str, object]]


@pytest.mark.parametrize("name", ["commit", "start"])
def test_it_builds_its_own_vault_and_reports_figures(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "bench", name, "--notes", "30", "--rounds", "2"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == 30
    assert all(figure["median_ms"] > 0 and figure["runs"] == 2 for figure in document["figures"])


def test_syncs_are_measured_beside_git(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "bench", "sync", "--notes", "12", "--rounds", "1"]) in {0, 1}
    names = [figure["name"] for figure in json.loads(capsys.readouterr().out)["figures"]]
    assert "one note received" in names and "one note received, git pull && git push" in names
    assert "12 notes edited on both sides, the merge alone" in names


@pytest.mark.parametrize(
    "args",
    [
        ["commit", "--notes", "10"],
        ["commit", "--rounds", "0"],
        ["start", "--notes", "0"],
        ["start", "--rounds", "0"],
        ["history", "--commits", "10"],
    ],
)
def test_too_little_to_measure_is_an_error_that_names_the_least(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *args]) == 2
    assert f"'{args[1]}': {args[2]} is not in the range x>=" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["commit", "--notes", "11"]])
def test_the_least_is_enough(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "bench", *args, "--rounds", "1"]) in {0, 1}
    assert json.loads(capsys.readouterr().out)["notes"] == int(args[2])


def test_speed_reports_every_figure_with_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("wordllama")
    code = main(["--json", "bench", "speed", "--notes", "30", "--rounds", "2", "--engine", "whoosh"])
    document = json.loads(capsys.readouterr().out)
    judged = {each["name"]: each["limit"] for each in document["figures"] if "limit" in each}
    assert judged == {
        "first index, both legs": 30,
        "search, warm, p95": 40,
        "vault-agent search from cold, median of 2": 700,
        "save to found by search, daemon at work, p95": 1000,
    }
    assert all(each["value"] > 0 for each in document["figures"])
    assert (code == 0) == document["ok"] == all(each.get("reached", True) for each in document["figures"])


def test_retrieval_reads_a_vault_and_leaves_it_as_it_was(root: Path, run: Run, tmp_path: Path) -> None:
    before = head(root)
    fixture = tmp_path / "questions.jsonl"
    write(fixture, '{"query": "one", "relevant": ["a.md"]}\n\n{"query": "two", "relevant": ["b.md"]}\n')
    document = run("bench", "retrieval", str(fixture), "--at-least", "0.9")
    figures = document["figures"]
    assert isinstance(figures, list)
    assert {each["name"] for each in figures} >= {"keyword mode", "grep"}
    assert all(each["hit"]["1"] == each["recall"]["10"] == each["mrr"] == 1.0 for each in figures)
    assert document["judged"]
    assert head(root) == before
    assert not list((tmp_path / "home" / "cache").rglob("notes.db"))


def test_retrieval_fails_when_too_little_is_found(root: Path, run: Run, tmp_path: Path) -> None:
    fixture = tmp_path / "questions.jsonl"
    write(fixture, '{"query": "zyzzyva path:nowhere", "relevant": ["a.md"]}\n')
    document = run("bench", "retrieval", str(fixture), "--at-least", "0.5", code=1)
    assert (document["ok"], document["missed"]) == (False, ["zyzzyva path:nowhere"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "has no questions"),
        ('{"query": "one", "relevant": ["a.md"]}\nnonsense', ":2: not JSON"),
        ('{"query": "one", "relevant": []}', ":1: a question needs"),
        ('["one"]', ":1: a question needs"),
        ('{"query": "one", "relevant": ["gone.md"]}', "the vault has no gone.md"),
    ],
)
def test_a_fixture_that_cannot_be_used_is_told_where(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    write(tmp_path / "questions.jsonl", text)
    assert main(["bench", "retrieval", str(tmp_path / "questions.jsonl")]) == 2
    assert complaint in capsys.readouterr().err


def test_hits_recall_and_rank_are_counted() -> None:
    asked = [RetrievalCase("a", frozenset({"x", "y"})), RetrievalCase("b", frozenset({"z"}))]
    found = assess("any", lambda query: ["n", "x"] if query == "a" else [], asked, (1, 5))
    assert (found.hit, found.recall, found.mrr) == ({1: 0.0, 5: 0.5}, {1: 0.0, 5: 0.25}, 0.25)
    assert found.missed == ("b",)
    assert len(found.times.runs) == 2


def test_grep_puts_the_note_with_the_most_words_of_the_question_first(tmp_path: Path) -> None:
    notes = {"one.md": "kettle kettle", "two.md": "a green Kettle", "three.md": "nothing", "four.md": "绿茶很好"}
    for path, text in notes.items():
        write(tmp_path / path, text)
    paths = [*notes, "gone.md"]
    assert grep(tmp_path, paths, "the green kettle") == ["two.md", "one.md"]
    assert grep(tmp_path, paths, "喝绿茶吗") == ["four.md"]


def test_a_fixture_is_one_question_a_line(tmp_path: Path) -> None:
    write(tmp_path / "f.jsonl", '{"query": "one", "relevant": ["a.md", "b.md"]}\n')
    assert load_cases(tmp_path / "f.jsonl") == [RetrievalCase("one", frozenset({"a.md", "b.md"}))]


def test_made_up_notes_are_the_same_for_everybody(tmp_path: Path) -> None:
    first, second = build_prose(tmp_path / "a", 5), build_prose(tmp_path / "b", 5)
    assert first == second
    assert [(tmp_path / "a" / path).read_bytes() for path in first] == [
        (tmp_path / "b" / path).read_bytes() for path in second
    ]
    asked = questions(tmp_path / "a", first, 3)
    assert [len(each.split()) for each in asked] == [7, 7, 7]


def test_a_measure_is_judged_by_its_limit_and_told_without_one() -> None:
    told, kept, broken = Measure("x", 5, "s"), Measure("x", 5, "s", 5), Measure("x", 5, "s", 6, at_least=True)
    assert all_reached([told, kept])
    assert not all_reached([kept, broken])
    assert "NOT reached" in broken.line()
    assert "reached" not in told.document()
    assert [each.limit for each in middle_and_tail(Figure("x", (1.0, 2.0)), 9)] == [None, 9]


def test_tasks_are_run_in_turn() -> None:
    calls: list[str] = []
    paired(2, [("a", lambda _: calls.append("a")), ("b", lambda _: calls.append("b"))], warm=1)
    assert calls == ["a", "b"] * 3


def test_a_figure_knows_its_middle_and_its_tail() -> None:
    figure = Figure("x", tuple(float(n) for n in range(1, 101)))
    assert (figure.median, figure.p95) == (50.5, 96.0)
