"""A daemon that only follows edits keeps the versions that it needs, not all that it has read."""

from pathlib import Path

import pytest

from agent.background import leftovers
from agent.index import analysis, words_met
from agent.watch import snapshot as recent
from tests.daemon.house import BRISK, House, living
from tests.stories.agents import furnish
from tests.vaults import write


def held(house: House) -> int:
    return house.live.lookout.watcher.comparison.recent.size


def test_what_edits_left_is_forgotten_a_minute_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(leftovers, "PAUSE", float("inf"))
    with living(furnish(tmp_path, monkeypatch.setenv)) as house:
        for number in range(20):
            met = " ".join(f"met{number}x{other}" for other in range(words_met.FEW // 10))
            write(house.root / f"thoughts/{number}.md", f"# Kettle {number}\n{met}\n" + f"a kettle {number}\n" * 4000)
        house.until(lambda: held(house) > recent.REST, "they are kept for the index")
        house.catches_up()
        assert len(analysis._weighty) > words_met.FEW
        monkeypatch.setattr(leftovers, "PAUSE", 2.0)
        house.until(lambda: 0 < held(house) <= recent.REST, "old versions are forgotten")
        house.until(lambda: len(analysis._weighty) <= words_met.FEW, "words are forgotten")
        assert house.finds("kettle")
