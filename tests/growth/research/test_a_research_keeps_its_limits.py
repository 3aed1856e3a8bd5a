"""A research that is stopped keeps what it found; its calls, its money and its time have an end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.growth.research.calls import CallShare, ResearchCalls
from agent.llm.messages import Usage
from agent.memory.forgetting.private_state import drop_unfinished
from tests.fakes import FakeClock
from tests.growth.research.study import Study, page, studying, usual
from tests.vaults import write

PAGES = {
    f"http://host{number}.example/roses-{number}": page(f"Roses {number}", f"The roses need {number} kilos of chalk.")
    for number in range(1, 31)
}
THINK = usual("roses", "What do they need? | roses", "How much of it? | roses chalk", "When is it? | roses kilos")


def stop_after(study: Study, fetched: int) -> Callable[[], bool]:
    """True, as after Ctrl-C, once so many pages were fetched."""
    return lambda: len(study.web.fetched) >= fetched


def test_a_stopped_research_keeps_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, PAGES, THINK) as study:
        stopped = study.go("Roses", cancelled=stop_after(study, 6))
        partial = study.note("Roses")
        whole = study.go("Roses")
        note = study.note("Roses")
    assert stopped.end == "stopped" and stopped.sources and "Stopped before its end" in partial
    assert "kilos of chalk" in partial
    assert whole.end == "done" and whole.run != stopped.run
    assert note.count("\n## ") == 2 and "Stopped before its end" in note, "it is done anew, below"


def test_no_call_is_made_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = usual("roses", *(f"Question {number}? | roses {number} | chalk {number}" for number in range(20)))

    def more(name: str, prompt: str) -> str:
        return greedy(name, prompt) + ("\nMISSING: more\nSEARCH: roses more" if name == "statements" else "")

    with studying(tmp_path, monkeypatch, PAGES, more) as study:
        for kind, most in (("fact", 5), ("topic", 20), ("deep", 50)):
            before = len(study.web.fetched) + len(study.web.queries)
            found = study.go(f"Roses {kind}", kind)  # type: ignore[arg-type]
            made = len(study.web.fetched) + len(study.web.queries) - before
            assert made <= found.calls <= most


def test_money_is_checked_before_each_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_SPEND__RUN", "0.05")
    with studying(tmp_path, monkeypatch, PAGES, THINK) as study:
        assert study.thinker is not None
        study.thinker.usage = Usage(1_000, 1_000)  # 1.2 cents; reserved are two and more
        found = study.go("Roses")
        note = study.note("Roses")
    assert found.end == "limit" and found.money <= 0.05 and found.sources
    assert "The model was not asked any more: the next call may cost" in note and "kilos of chalk" in note


def test_time_has_an_end(tmp_path: Path) -> None:
    clock = FakeClock()
    calls = ResearchCalls(clock, 5, 60.0)
    assert calls.begin(("one",), CallShare(9)) and calls.begin(("one",), CallShare(9)) and calls.used == 1
    clock.advance(60)
    assert not calls.begin(("two",), CallShare(9)) and calls.is_late


def test_forgetting_drops_what_researches_of_earlier_versions_have_left(tmp_path: Path) -> None:
    write(tmp_path / "research/aaa.jsonl", '{"key": "x"}\n')
    drop_unfinished(tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))
