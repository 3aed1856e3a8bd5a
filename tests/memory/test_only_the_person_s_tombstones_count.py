"""A note in archive/forgotten/ silences a memory only if the person or `forget` wrote it, whichever way it came."""

from pathlib import Path

import pytest

from agent.memory.forgetting.tombstones import Tombstones, compose_tombstone, foreign_tombstones, load_tombstones, marks
from agent.vault.change import Stamp
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import FAST, git, make_vault, write

SAID = "I am allergic to peanuts."


def stone() -> tuple[str, bytes]:
    clock = FakeClock()
    return compose_tombstone(marks(SAID), clock.new_id(), clock.now())


def counts(vault: Vault) -> bool:
    """Whether the tombstone counts, the first time and from the record; the list of those that do not must agree."""
    first, again = load_tombstones(vault), load_tombstones(vault)
    assert first == again
    assert bool(foreign_tombstones(vault)) is not first.is_forgotten(SAID)
    return first.is_forgotten(SAID)


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (Stamp("human", tool="forget"), True),
        (Stamp("human", tool="undo"), True),
        (Stamp("agent", run="r", tool="vault_write"), False),
        (Stamp("agent", run="r", tool="vault_move"), False),
        (Stamp("agent", run="r", tool="forget"), False),
        (Stamp("job:tidy", tool="shell_run"), False),
        (Stamp("mcp:client", tool="vault_write"), False),
        (Stamp("mcp:client", tool="forget"), True),
        (Stamp("http"), False),
    ],
    ids=str,
)
def test_what_was_written_by_a_tool_does_not_count(tmp_path: Path, stamp: Stamp, expected: bool) -> None:
    vault = make_vault(tmp_path)
    with vault.transaction("a tombstone", stamp) as change:
        change.create(*stone())
    assert counts(vault) is expected


def test_what_the_person_saved_or_committed_by_hand_counts(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    path, data = stone()
    write(vault.place.root / path, data)
    assert counts(vault)
    git(vault.place.root, "add", "-A")
    git(vault.place.root, "commit", "-qm", "mine")
    assert counts(vault)


def test_what_somebody_else_has_committed_does_not_count_until_the_person_saves_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    path, data = stone()
    write(vault.place.root / path, data)
    git(vault.place.root, "add", "-A")
    git(vault.place.root, "commit", "-qm", "theirs", "--author=Eve <eve@example.org>")
    assert not counts(vault)
    assert foreign_tombstones(vault) == (path,)
    write(vault.place.root / path, data + b"Yes, I want that forgotten.\n")
    assert counts(vault)


def test_a_tombstone_counts_on_the_person_s_second_machine(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    with vault.transaction("forget", Stamp("human", tool="forget")) as change:
        change.create(*stone())
    git(tmp_path, "clone", "-q", "vault", "second")
    git(tmp_path / "second", "config", "user.email", "anna@example.org")
    second = open_vault(tmp_path / "second", tmp_path / "state2", vault.clock, FAST)
    assert not counts(second)
    second.provenance.answers.answer(plain_address(str(vault.place.root)), Writers.ME)
    assert counts(second)


@pytest.mark.parametrize("damage", [b"", b"{", b"\0\xff", b"[1]", b"null", b'{"a": {"b": []}}'])
def test_a_damaged_record_is_asked_of_git_again(tmp_path: Path, damage: bytes) -> None:
    vault = make_vault(tmp_path)
    with vault.transaction("forged", Stamp("agent", tool="vault_write")) as change:
        change.create(*stone())
    assert not counts(vault)
    (vault.writer.layout.folder / "forgotten.json").write_bytes(damage)
    assert not counts(vault)


def test_another_rule_can_decide_what_counts(tmp_path: Path) -> None:
    path, data = stone()
    vault = make_vault(tmp_path, {path: data})
    assert load_tombstones(vault, lambda vault, notes: [*notes]).is_forgotten(SAID)
    assert load_tombstones(vault, lambda vault, notes: []) == Tombstones()
