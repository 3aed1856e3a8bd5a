"""Promise 2: whatever way a person saves while the agent changes the same notes, every line can be found afterwards."""

from pathlib import Path

import pytest

from tests.trust.editor import STYLES
from tests.trust.races import Races, race, save_slowly
from tests.trust.wipes import clear


def test_a_program_that_has_opened_a_note_and_not_yet_written_it_loses_nothing(tmp_path: Path) -> None:
    assert save_slowly(tmp_path) == "human slow line\n"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("saves", [250, pytest.param(10_000, marks=pytest.mark.chaos)])
def test_no_save_is_lost(tmp_path: Path, style: str, saves: int) -> None:
    total, met = Races(), saves // 50
    while total.saves < saves or (total.collisions <= met and total.saves < 4 * saves):  # a quick agent is rarely met
        series = tmp_path / str(total.saves)
        total.add(race(series, style, min(saves, 500), f"races-{total.saves}"))
        clear(series)
    assert total.collisions > met, f"the person was hardly ever in the way: {total}"
    assert total.refused < total.saves // 50, f"the agent gave up too often: {total}"
    assert style == "append" or total.copies > 0, f"no save ever met the same lines: {total}"
