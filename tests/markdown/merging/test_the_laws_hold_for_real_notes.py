"""Whole notes, of the tests and of published vaults where they lie beside the project, edited on two sides."""

import random
from pathlib import Path

import pytest

from tests.markdown.generate import NOTES
from tests.markdown.merging.test_laws_of_merging import check_laws

OWN = [path for path in NOTES if path.parent.name == "notes"]
OTHERS = [path for path in NOTES if path not in OWN]


def edited(data: bytes, chance: random.Random, mark: str) -> bytes:
    """The note after a few edits as a person makes them: a line added, a word changed, a line moved or taken out."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    for number in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        kind = chance.random()
        if kind < 0.4:
            shape = chance.choice(["- {}", "{} 新的一行", "\n{} is new.\n", "| {} | x |"])
            lines.insert(at, shape.format(f"{mark}{number}"))
        elif kind < 0.7:
            words = lines[at].split(" ")
            words[chance.randrange(len(words))] = f"{mark}{number}"
            lines[at] = " ".join(words)
        elif kind < 0.85 and len(lines) > 1:
            line = lines.pop(at)
            lines.insert(chance.randrange(len(lines) + 1), line)
        elif len(lines) > 1:
            del lines[at]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def check(path: Path, rounds: int) -> None:
    data = path.read_bytes()
    for seed in range(rounds):
        chance = random.Random(f"{path.name} {seed}")
        check_laws((data, edited(data, chance, "one"), edited(data, chance, "two")))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_the_laws_hold_for_the_notes_of_the_tests(path: Path) -> None:
    check(path, rounds=5)


@pytest.mark.skipif(not OTHERS, reason="no published vaults beside the project")
def test_the_laws_hold_for_a_published_vault() -> None:
    for path in OTHERS[::7]:
        check(path, rounds=1)


@pytest.mark.chaos
@pytest.mark.skipif(not OTHERS, reason="no published vaults beside the project")
def test_the_laws_hold_for_every_note_of_a_published_vault() -> None:
    for path in OTHERS:
        check(path, rounds=20)
