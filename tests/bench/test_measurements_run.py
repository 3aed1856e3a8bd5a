"""Each measurement runs at a small size, and the figures asked for on real notes hold where the notes are."""

import json
from pathlib import Path

import pytest

from agent.index.embedder import choose_embedder
from agent.index.keyword import Engine, Weights
from tests.bench import locomo, passages, retrieval, speed
from tests.bench.__main__ import main
from tests.bench.plain import plain_passages
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault

VAULTS = Path(__file__).parents[3] / "shared" / "data" / "vaults" / "obsidian-help"
QUESTIONS = Path(__file__).parents[1] / "index"
TALK = {
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kettle."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "I went to the lake."},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "My violin lessons began."}],
    },
    "qa": [
        {"question": "What did Ann buy?", "category": 4, "evidence": ["D1:1"]},
        {"question": "Which instrument does Ann learn, the violin?", "category": 1, "evidence": ["D2:1"]},
        {"question": "Unanswerable", "category": 5, "evidence": []},
    ],
}


def test_a_conversation_becomes_one_note_a_session_with_its_evidence_by_line(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([TALK]), "utf-8")
    (conversation,) = locomo.read(path)
    note = conversation.notes["c1/session-01.md"].decode().split("\n")
    assert note[:3] == ["---", "date: 2023-05-08", "---"]
    assert [(q.category, sorted(q.evidence)) for q in conversation.questions] == [
        (4, [("c1/session-01.md", 7)]),
        (1, [("c1/session-02.md", 7)]),
    ]
    assert note[6] == "Ann: I bought a kettle."
    notes, turns = locomo.measure([conversation], "whoosh", KEYWORDS_ONLY, Weights())
    assert (notes.questions, notes.at_1, turns.at_1) == (2, 1.0, 1.0)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_plain_bm25_ranks_notes_and_passages_of_a_given_length(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([TALK]), "utf-8")
    (conversation,) = locomo.read(path)
    notes, turns = locomo.measure_plain([conversation], engine, Weights(), 1)
    assert (notes.questions, notes.at_1, turns.at_1) == (2, 1.0, 1.0)
    with plain_passages(conversation.notes, 2, engine, tmp_path / "index", Weights()) as search:
        assert search("Which lake?", 5) == [("c1/session-01.md", 8, 8)]
        assert search("Who bought a kettle, by session?", 1) == [("c1/session-01.md", 4, 7)]


def test_speed_is_measured_on_made_up_notes() -> None:
    found = speed.measure(60, "whoosh", KEYWORDS_ONLY, updates=2)
    assert 0 < found.search_50 <= found.search_95
    assert speed.notes(3) == speed.notes(3)


def test_hits_recall_and_rank_are_counted() -> None:
    questions = [retrieval.Question("a", frozenset({"x", "y"})), retrieval.Question("b", frozenset({"z"}))]
    figures = retrieval.measure(questions, lambda query: ["n", "x"] if query == "a" else [])
    assert (figures.hit, figures.recall, figures.mrr) == ((0.0, 0.5, 0.5), (0.0, 0.25, 0.25), 0.25)
    assert figures.missed == ("b",)


def test_grep_counts_the_lines_with_a_word_of_the_question() -> None:
    vault = MemoryVault({"one.md": b"a kettle\nkettles", "two.md": b"kettle", "three.md": b"nothing"})
    assert retrieval.grep(vault)("the Kettle") == ["one.md", "two.md"]


@pytest.mark.skipif(not VAULTS.is_dir(), reason="the help vaults are not beside the project")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nine_of_ten_questions_find_their_note_among_the_first_five(language: str) -> None:
    pytest.importorskip("wordllama")
    found = retrieval.compare(VAULTS / language, QUESTIONS / f"questions_{language}.jsonl", "whoosh", choose_embedder())
    assert len(retrieval.read(QUESTIONS / f"questions_{language}.jsonl")) >= 60
    assert found["hybrid"].hit[1] >= 0.9
    assert found["hybrid"].hit[1] >= found["keyword mode"].hit[1] > found["grep"].hit[1]
    assert found["hybrid"].hit[1] >= found["plain BM25"].hit[1] > found["grep"].hit[1]


def test_a_run_on_too_few_notes_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["agent", "--notes", "4"])
    assert "--notes: 4 is not in the range x>=" in capsys.readouterr().err


def test_a_step_of_a_run_is_timed_against_its_limit_on_the_fewest_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "--json", "--notes", "5", "--rounds", "1", "--engine", "whoosh"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == 5
    judged = {each["name"]: each["limit"] for each in document["figures"] if "limit" in each}
    assert judged == {"a step without model and commits, p95": 30}
    assert all(each["value"] > 0 for each in document["figures"])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_scale_reports_every_figure(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")
    monkeypatch.setenv("VAULT_AGENT_GIT__QUIET_SECONDS", "0.1")
    assert main(["scale", "--json", "--notes", "30", "--files", "20", "--idle", "0.5", "--saves", "2"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    found = {each["name"]: each for each in document["figures"]}
    assert found["git checkout of 20 files, until all are indexed"]["reached"]
    assert found["idle for 0.5 s: commits"] == {
        "name": "idle for 0.5 s: commits",
        "value": 0,
        "unit": "",
        "limit": 0,
        "limit_is": "most",
        "reached": True,
    }
    assert "memory growth of the daemon at its peak" in found
    assert "search, warm, p95" in found


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_vault_of_many_passages_is_measured_whole(tmp_path: Path) -> None:
    pytest.importorskip("wordllama")
    found = {each.name: each for each in passages.measure(tmp_path, 200, "whoosh", 2, print)}
    assert found["… most memory of its process"].value > 20
    assert found["memory of the daemon at rest"].reached and found["… after the saves"].reached
    assert found["… after it was asked 5 times"].reached
    assert found["search, warm (processor time), p95"].value > 0 and found["200 passages: first index"].value > 0


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not say what was written")
def test_writes_of_two_sizes_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["writes", "--json", "--notes", "5", "60", "--rounds", "1"]) in {0, 1}
    names = [each["name"] for each in json.loads(capsys.readouterr().out)["figures"]]
    assert len(names) == 9 and names[-1] == "60 to 5 notes: processor time"


def test_plans_of_the_upkeep_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upkeep", "--json", "--entries", "20"]) in {0, 1}
    assert len(json.loads(capsys.readouterr().out)["figures"]) == 2


def test_the_nearest_of_many_chunks_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    if choose_embedder("").embedder is None:
        pytest.skip("no embedding model")
    main(["vectors", "--chunks", "33000", "--json"])
    figures = {each["name"]: each["value"] for each in json.loads(capsys.readouterr().out)["figures"]}
    assert figures["recall of the 10 nearest"] >= 0.97
    assert 33_000 * 256 / 1e6 < figures["on disk"] < 33_000 * 340 / 1e6
