"""Memories of an older layout become entries: each once, with all it says; what is none is left alone and named."""

from pathlib import Path

import pytest

from agent.importers.plan import SLOT
from agent.importers.values import LeftReason
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.store import load_entries
from agent.vault.store import Vault
from tests.importers.exports import take
from tests.vaults import make_vault, write

KSUID = "0ujsswThIGTUYm2K8FjOOfXtY1K"
UUID = "123e4567-e89b-12d3-a456-426614174000"
TURN = (
    "---\nid: {id}\ncreated: 2025-03-04T05:06:07Z\nkeywords: [tea, anna]\nslots:\n  type: chat_turn\n  scope: user\n"
    "  channel: lark\n  chat_id: c1\n  sender_id: anna\n  mood: good\n---\nUser: I like tea\nAssistant: Noted.\n"
)


def entries(vault: Vault) -> dict[str, Entry]:
    paths = [each for each in vault.note_paths() if each.startswith("entries/")]
    return {each.entry.slots[SLOT]: each.entry for each in load_entries(vault, paths)}


def test_a_memory_keeps_its_words_time_places_and_what_else_it_says(tmp_path: Path) -> None:
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / f"{KSUID}.md", TURN.format(id=KSUID))
    (path,) = take(vault, old, mine=True)[1].paths
    entry = entries(vault)[KSUID]
    assert path.startswith("entries/2025/03/2025-03-04-")
    assert (entry.type, entry.scope, entry.channel) == (EntryType.CHAT_TURN, Scope.USER, "lark")
    assert (entry.chat_id, entry.sender_id, entry.keywords) == ("c1", "anna", ("tea", "anna"))
    assert entry.text == "User: I like tea\nAssistant: Noted."
    assert entry.slots["mood"] == "good" and not entry.untrusted


def test_a_folder_from_anybody_is_not_the_persons_own_unless_they_say_so(tmp_path: Path) -> None:
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / f"{KSUID}.md", TURN.format(id=KSUID))
    take(vault, old)
    assert entries(vault)[KSUID].untrusted == ("vault-agent",)


def test_a_bare_note_named_by_its_id_is_a_memory_of_that_time(tmp_path: Path) -> None:
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / f"{KSUID}.md", "The boat is blue\n")
    write(old / f"{UUID}.md", "The car is red\n")
    take(vault, old)
    found = entries(vault)
    assert f"{found[KSUID].created:%Y-%m-%d}" == "2017-10-10"
    assert found[UUID].type is EntryType.USER_EXPLICIT


def test_a_second_import_brings_nothing(tmp_path: Path) -> None:
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / f"{KSUID}.md", TURN.format(id=KSUID))
    write(old / f"{UUID}.md", "The car is red\n")
    take(vault, old)
    (old / f"{UUID}.md").rename(old / f"{UUID[:-1]}9.md")
    plan, done = take(vault, old)
    assert {each.why for each in plan.left} == {LeftReason.KNOWN} and not done.commits


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
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / name, text)
    plan, done = take(vault, old, "older-layout")
    assert [(each.name, each.why) for each in plan.left] == [(name, LeftReason.UNKNOWN)]
    assert (old / name).read_text("utf-8") == text and not done.paths


def test_what_is_secret_stays_out(tmp_path: Path) -> None:
    vault, old = make_vault(tmp_path, {}), tmp_path / "old"
    write(old / f"{UUID}.md", "the key: sk-ant-" + "a1B2" * 6 + "\n")
    plan, done = take(vault, old)
    assert [each.why for each in plan.left] == [LeftReason.SECRET] and not done.paths
