"""The upkeep reads the entries that changed since the last one; its plan is the one that it makes of all of them."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from agent.markdown.note import Note
from agent.memory.entry import EntryType, Scope
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan
from agent.vault.change import Stamp
from agent.vault.layout import OUTLINES
from agent.vault.worktree.files import Files
from tests.memory.days import Days, days
from tests.vaults import write

TEXTS = (
    "I go swimming on Mondays, I drink black coffee",
    "I drink black coffee",
    "We sold the old boat",
    "Anna likes green tea in the morning",
    "Anna likes green tea in the morning.",
    "In the morning Anna likes green tea",
    "My name is Anna Weber",
    "My sister lives in Porto",
    "安娜喜欢绿茶",
    "The meeting is on 3 May",
    "The meeting is on 4 May",
)
KINDS = (EntryType.FACT, EntryType.USER_EXPLICIT, EntryType.CHAT_TURN, EntryType.AUTO_CAPTURE)


@pytest.fixture(autouse=True)
def _old_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.memory.upkeep.outlines._RECENT", -(10**12))  # no test waits until a file is old enough


def planned(home: Days) -> UpkeepPlan:
    return plan(home.vault, home.settings, home.language, home.clock.now())


def from_all(home: Days) -> UpkeepPlan:
    """The plan without the cache."""
    file = home.vault.private_folder / OUTLINES
    kept = file.read_bytes() if file.exists() else None
    file.unlink(missing_ok=True)
    found = planned(home)
    if kept is not None:
        file.write_bytes(kept)
    return found


def reads(home: Days, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes that the next plans read."""
    found, read = list[str](), Files.read

    def counting(self: Files, path: str) -> bytes | None:
        found.append(path)
        return read(self, path)

    monkeypatch.setattr(Files, "read", counting)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_plan_is_the_one_made_of_all_entries(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    home = days(tmp_path, facts_times=2)
    paths: list[str] = []
    for _ in range(10):
        for _ in range(chance.randint(0, 4)):
            kind = chance.choice(KINDS)
            entry = home.entry(chance.choice(TEXTS) + chance.choice(["", "", f" {chance.randint(0, 3)}"]), kind)
            paths.append(home.keep(replace(entry, scope=chance.choice([Scope.USER, Scope.USER, Scope.CHAT]))))
        there = [path for path in dict.fromkeys(paths) if (home.root / path).exists()]
        if there and chance.random() < 0.4:
            by_hand(home, chance.choice(there), chance)
        if there and chance.random() < 0.6:
            said_otherwise(home, chance.choice(there), chance.choice(TEXTS))
        home.pass_days(chance.choice([0.2, 1, 9, 30]))
        expected = from_all(home)
        assert planned(home) == expected
        assert planned(home) == expected
        if chance.random() < 0.5:
            home.tend()


def said_otherwise(home: Days, path: str, text: str) -> None:
    """The agent gives an entry another text."""
    data = home.vault.read(path)
    if data is not None:
        with home.vault.transaction("memory(capture): other words", Stamp("agent", tool="capture")) as change:
            change.edit(path, data, Note.parse(data).with_body(f"\n{text}\n").data)


def by_hand(home: Days, path: str, chance: random.Random) -> None:
    """A person edits, deletes, moves or damages a note."""
    file = home.root / path
    match chance.randint(0, 3):
        case 0:
            write(file, file.read_bytes() + b"\nand more\n")
        case 1:
            file.unlink()
        case 2:
            file.rename(file.with_name(f"moved-{file.name}"))
        case _:
            write(file, "no header any more\n")


def test_entries_that_did_not_change_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = days(tmp_path)
    old = [home.keep(home.entry(f"My friend number {number} is called Ben{'x' * number}")) for number in range(30)]
    home.pass_days(60)
    planned(home)
    new = home.keep(home.entry("My dentist is Dr Costa"))
    read = reads(home, monkeypatch)
    planned(home)
    assert new in read and not set(read) & set(old)


def test_a_note_that_changed_within_the_same_moment_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.memory.upkeep.outlines._RECENT", 10**12)
    home = days(tmp_path)
    path = home.keep(home.entry("My dentist is Dr Costa"))
    planned(home)
    read = reads(home, monkeypatch)
    planned(home)
    assert path in read, "it could have changed again without another time"


@pytest.mark.parametrize("damage", [b"", b"entries-known 1 00000000\n[]", b"\xff" * 300])
def test_a_damaged_cache_changes_nothing(tmp_path: Path, damage: bytes) -> None:
    home = days(tmp_path)
    for text in TEXTS:
        home.keep(home.entry(text))
    home.pass_days(1)
    expected = planned(home)
    assert expected.report.counts["merged"]
    (home.vault.private_folder / OUTLINES).write_bytes(damage)
    assert planned(home) == expected


def test_the_cache_has_no_word_of_an_entry(tmp_path: Path) -> None:
    home = days(tmp_path)
    home.keep(home.entry("Marmalade is in the larder"))
    planned(home)
    kept = (home.vault.private_folder / OUTLINES).read_bytes().lower()
    assert kept and not any(word in kept for word in (b"marmalade", b"larder"))


def test_what_a_stranger_wrote_is_asked_for_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = days(tmp_path)
    mine = home.keep(home.entry("Anna likes green tea in the morning"))
    home.pass_days(1)
    home.keep(home.entry("Anna likes green tea in the morning."))
    home.pass_days(1)
    assert planned(home).report.counts["merged"] == 1
    provenance = type(home.vault.provenance)
    monkeypatch.setattr(provenance, "strangers_among", lambda self, texts: {mine} & {each[0] for each in texts})
    monkeypatch.setattr(provenance, "strangers", lambda self, path, data: "elsewhere" if path == mine else "")
    assert planned(home).report.counts["merged"] == 0
