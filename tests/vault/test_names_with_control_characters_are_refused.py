"""Every character that must not stand in a note's path is refused, and every form of a closed name."""

import sys
import unicodedata

import pytest

from agent.errors import BadPath
from agent.vault.worktree.paths import check


def test_every_control_character_and_half_character_is_refused_and_no_other_letter() -> None:
    closed = {"Cc", "Cs"}
    for number in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(number))
        if category in closed:
            with pytest.raises(BadPath):
                check(f"a{chr(number)}b.md", system=True)
        elif category in {"Ll", "Lo", "Cf", "Zs", "Co"} and number % 7 == 0:
            assert check(f"a{chr(number)}b.md", system=True)


@pytest.mark.parametrize("name", [".git", ".GIT", ".git.", ".git ", ".git::$x", ".g\u200bit", "．git", "git~1"])
def test_git_is_closed_however_it_is_written(name: str) -> None:
    with pytest.raises(BadPath):
        check(f"{name}/x.md", system=True)
