"""Memories of an older layout become entries: each once, with all it says; what is none is left alone and named."""

from pathlib import Path

import pytest

from agent.memory.capture.importing import SLOT, ImportedFile, ImportResult, load_folder
from agent.memory.entry import EntryType, Scope
from agent.memory.forgetting.tombstones import Tombstones, fingerprints
from agent.memory.store import load_entries
from agent.vault.change import Stamp
from agent.vault.folders import ENTRIES
from tests.memory.days import Days, days
from tests.vaults import write

KSUID = "0ujsswThIGTUYm2K8FjOOfXtY1K"
NONE = Tombstones()
UUID = "123e4567-e89b-12d3-a456-426614174000"
TURN = (
    "---\nid: {id}\ncreated: 2025-03-04T05:06:07Z\nkeywords: [tea, anna]\nslots:\n  type: chat_turn\n  scope: user\n"
    "  channel: lark\n  chat_id: c1\n  sender_id: anna\n  mood: good\n---\nUser: I like tea\nAssistant: Noted.\n"
)


def take(home: Days, folder: Path, stones: Tombstones = NONE) -> dict[str, ImportedFile]:
    """Import a folder as the command does; what became of each file."""
    found = load_folder(folder, load_entries(home.vault, home.paths(ENTRIES)), stones, home.clock)
    entries = [each.entry for each in found if each.result is ImportResult.TAKEN and each.entry]
    if entries:
        with home.vault.transaction("memory(import): take in", Stamp("agent", tool="import")) as change:
            for entry in entries:
                change.create(entry.path, entry.note())
    return {each.name: each for each in found}


def test_a_memory_keeps_its_words_time_places_and_what_else_it_says(tmp_path: Path) -> None:
    home, old = days(tmp_path), tmp_path / "old"
    write(old / f"{KSUID}.md", TURN.format(id=KSUID))
    entry = take(home, old)[f"{KSUID}.md"].entry
    assert entry is not None
    (path,) = home.paths(ENTRIES)
    assert path.startswith("entries/2025/03/2025-03-04-")
    assert (entry.type, entry.scope, entry.channel) == (EntryType.CHAT_TURN, Scope.USER, "lark")
    assert (entry.chat_id, entry.sender_id, entry.keywords) == ("c1", "anna", ("tea", "anna"))
    assert entry.text == "User: I like tea\nAssistant: Noted."
    assert entry.slots["mood"] == "good" and entry.slots[SLOT] == KSUID


def test_a_bare_note_named_by_its_id_is_a_memory_of_that_time(tmp_path: Path) -> None:
    home, old = days(tmp_path), tmp_path / "old"
    write(old / f"{KSUID}.md", "The boat is blue\n")
    write(old / f"{UUID}.md", "The car is red\n")
    found = take(home, old)
    ksuid, uuid = found[f"{KSUID}.md"].entry, found[f"{UUID}.md"].entry
    assert ksuid is not None and uuid is not None
    assert f"{ksuid.created:%Y-%m-%d}" == "2017-10-10"
    assert uuid.type is EntryType.USER_EXPLICIT


def test_a_second_import_brings_nothing(tmp_path: Path) -> None:
    home, old = days(tmp_path), tmp_path / "old"
    write(old / f"{KSUID}.md", TURN.format(id=KSUID))
    write(old / f"{UUID}.md", "The car is red\n")
    take(home, old)
    (old / f"{UUID}.md").rename(old / f"{UUID[:-1]}9.md")
    commits = home.commits()
    assert {each.result for each in take(home, old).values()} == {ImportResult.KNOWN}
    assert home.commits() == commits


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("todo.md", "- buy milk\n"),
        ("2025-03-04.md", "# A day\n"),
        ("MEMORY.md", "# Long-term memory\n"),
        (f"{KSUID}.txt", "no note\n"),
        (f"{KSUID}.md", ""),
        (f"{UUID}.md", "---\n: [\n---\nbroken\n"),
    ],
)
def test_what_is_no_memory_is_left_alone(tmp_path: Path, name: str, text: str) -> None:
    home, old = days(tmp_path), tmp_path / "old"
    write(old / name, text)
    assert take(home, old)[name].result is ImportResult.UNKNOWN
    assert (old / name).read_text("utf-8") == text and home.paths(ENTRIES) == []


def test_what_was_forgotten_and_what_is_secret_stays_out(tmp_path: Path) -> None:
    home, old = days(tmp_path), tmp_path / "old"
    write(old / f"{KSUID}.md", "The boat is blue\n")
    write(old / f"{UUID}.md", "the key: sk-ant-" + "a1B2" * 6 + "\n")
    found = take(home, old, Tombstones(fingerprints("The boat is blue")))
    assert found[f"{KSUID}.md"].result is ImportResult.FORGOTTEN and found[f"{UUID}.md"].result is ImportResult.SECRET
    assert home.paths(ENTRIES) == []
