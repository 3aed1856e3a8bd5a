"""A research that is killed or stopped goes on where it was; its calls, its money and its time have an end."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from agent.errors import LockHeld
from agent.growth.research.record import CallShare, ResearchRecord, key_of, open_record
from agent.llm.messages import Usage
from agent.memory.forgetting.private_state import drop_unfinished
from tests.fakes import FakeClock
from tests.growth.research.study import Study, page, studying, usual

PAGES = {
    f"http://host{number}.example/roses-{number}": page(f"Roses {number}", f"The roses need {number} kilos of chalk.")
    for number in range(1, 31)
}
THINK = usual("roses", "What do they need? | roses", "How much of it? | roses chalk", "When is it? | roses kilos")


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(study: Study, call: int, topic: str = "Roses") -> None:
    """The process ends at this answer of its model."""
    assert study.thinker is not None
    think, count = study.thinker.think, [0]

    def dying(name: str, prompt: str) -> str:
        count[0] += 1
        if count[0] >= call:
            raise Killed
        return think(name, prompt)

    study.thinker.think = dying
    with pytest.raises(Killed):
        study.go(topic, "deep")
    study.thinker.think = think


@pytest.mark.parametrize("call", [1, 3, 5, 6])
def test_a_killed_research_fetches_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    with studying(tmp_path, monkeypatch, PAGES, THINK) as study:
        killed_at(study, call)
        assert not (study.made.root / "research").exists()
        found = study.go("Roses", "deep")
        assert study.thinker is not None
        asked, fetched, queries = study.thinker.prompts, study.web.fetched, study.web.queries
        again = [each for each in set(asked) if asked.count(each) > 1]
    assert found.is_resumed and found.end == "done" and found.calls <= 50
    assert len(fetched) == len(set(fetched)) and len(queries) == len(set(queries))
    assert len(again) <= 3, "only what was under way in the moment of the kill is asked again"
    assert not list((tmp_path / "state").rglob("research/*.jsonl")), "what was kept for going on is gone"


def stop_after(study: Study, fetched: int) -> Callable[[], bool]:
    """True, as after Ctrl-C, once so many pages were fetched."""
    return lambda: len(study.web.fetched) >= fetched


def test_a_stopped_research_keeps_what_it_found_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, PAGES, THINK) as study:
        stopped = study.go("Roses", cancelled=stop_after(study, 6))
        partial = study.note("Roses")
        whole = study.go("Roses")
        note = study.note("Roses")
    assert stopped.end == "stopped" and stopped.sources and "Stopped before its end" in partial
    assert "kilos of chalk" in partial
    assert whole.end == "done" and whole.is_resumed and whole.run == stopped.run
    assert "Stopped" not in note and note.count("\n## ") == 1, "the whole report takes the place of the first part"


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


def opened(tmp_path: Path, clock: FakeClock) -> AbstractContextManager[ResearchRecord]:
    """The record of a research with five calls and a minute."""
    return open_record(tmp_path, "a" * 24, clock, 5, 60.0)


def test_time_has_an_end_and_earlier_attempts_count(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path, clock) as record:
        clock.advance(50)
        assert record.begin("one", CallShare(9))
    with opened(tmp_path, clock) as record:
        assert record.is_resumed and record.seconds == 50 and record.used == 1
        assert record.begin("one", CallShare(9)) and record.begin("two", CallShare(9)) and record.used == 2
        clock.advance(10)
        assert not record.begin("three", CallShare(9)) and record.is_late


def test_a_line_that_a_kill_has_cut_is_left_out(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path, clock) as record:
        assert record.once(key_of("x"), str, lambda: "first") == "first"
        path = record.path
    path.write_bytes(path.read_bytes() + b'{"key": "y", "val')
    with opened(tmp_path, clock) as record:
        assert record.once(key_of("x"), str, lambda: "second") == "first"
        assert record.once(key_of("y"), str, lambda: "third") == "third"
    assert [json.loads(row) for row in path.read_text("utf-8").splitlines() if row.endswith("}")]


def test_two_processes_never_do_the_same_research(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path, clock), pytest.raises(LockHeld), opened(tmp_path, clock):
        pass


def test_an_old_record_is_begun_anew_and_forgetting_drops_all(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path, clock) as record:
        record.once(key_of("x"), str, lambda: "old")
    clock.advance(8 * 24 * 3600)
    with opened(tmp_path, clock) as record:
        assert not record.is_resumed and record.once(key_of("x"), str, lambda: "new") == "new"
    drop_unfinished(tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))
