"""The doctor's questions: each answered by trying or looking, each repair keeping what it replaces."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import UserError
from agent.vault.change import Change, Collision, Create, Stamp
from agent.vault.health import examine, note_checks, probe
from agent.vault.health.probe import Check, Level
from agent.vault.health.trust import Executable
from agent.vault.store import Vault
from agent.vault.transaction import Order
from agent.vault.write.journal import JournalRecord, planned
from tests.vaults import FAST, committed, git, make_vault, write

OLD = 1_700_000_000


def look(vault: Vault, *, fix: bool = False) -> dict[str, Check]:
    """All answers by name; a bad one wins over a good one of the same name."""
    found = examine.repository(vault, fix=fix) + note_checks.notes(vault)
    order = [Level.OK, Level.WARN, Level.BAD]
    return {check.name: check for check in sorted(found, key=lambda check: order.index(check.level))}


def levels(checks: list[Check]) -> dict[str, Level]:
    return {check.name: check.level for check in checks}


def test_a_machine_is_probed_in_a_scratch_vault_that_is_gone_afterwards(tmp_path: Path) -> None:
    checks = probe.machine(tmp_path / "state", SystemClock(), FAST)
    found = levels(checks)
    assert found["git"] is Level.OK and found["write"] is Level.OK
    assert found["durable"] is Level.WARN
    assert list((tmp_path / "state").iterdir()) == []


def test_an_undo_that_does_not_undo_is_bad(tmp_path: Path) -> None:
    checks = probe.machine(tmp_path / "state", SystemClock(), FAST, lambda vault, commit: None)
    assert levels(checks)["undo"] is Level.BAD


def test_a_state_folder_that_cannot_be_made_is_bad_and_ends_the_probe(tmp_path: Path) -> None:
    write(tmp_path / "state", "a file")
    checks = probe.machine(tmp_path / "state", SystemClock(), FAST)
    assert levels(checks) == {"git": Level.OK, "state": Level.BAD}


def test_a_failing_question_is_an_answer(tmp_path: Path) -> None:
    def ask() -> list[Check]:
        raise UserError("no", hint="do this")

    assert probe.guarded("x", ask) == [Check(Level.BAD, "x", "no", next="do this")]


def test_a_healthy_vault_is_ok_everywhere(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "---\nid: one\n---\na\n"})
    assert {check.level for check in look(vault).values()} == {Level.OK}


def test_a_corrupted_index_is_made_anew_and_the_old_one_is_kept(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    index = vault.place.gitdir / "index"
    index.write_bytes(b"DIRC garbage")
    assert look(vault)["index"].level is Level.BAD
    assert look(vault)["index"].next == examine.FIX
    assert index.read_bytes() == b"DIRC garbage"
    assert "fixed" in look(vault, fix=True)["index"].what
    assert git(vault.place.root, "status", "--porcelain") == ""
    kept = list(vault.place.gitdir.glob("index.broken-*"))
    assert [path.read_bytes() for path in kept] == [b"DIRC garbage"]


def _empty(vault: Vault) -> None:
    (vault.place.gitdir / "HEAD").write_bytes(b"")


def _noise(vault: Vault) -> None:
    (vault.place.gitdir / "HEAD").write_bytes(b"\0\xff\0")


@pytest.mark.parametrize("damage", [_empty, _noise])
def test_a_damaged_head_is_bad_and_the_next_step_mends_it(tmp_path: Path, damage: Callable[[Vault], None]) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    damage(vault)
    answer = look(vault)["HEAD"]
    assert answer.level is Level.BAD
    os.system(answer.next)
    assert look(vault)["HEAD"].level is Level.OK


def test_missing_objects_are_bad(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    oid = git(vault.place.root, "rev-parse", "HEAD:a.md").strip()
    (vault.place.gitdir / "objects" / oid[:2] / oid[2:]).unlink()
    assert look(vault)["objects"].level is Level.BAD


def _gone(vault: Vault, oid: str) -> None:
    (vault.place.gitdir / "objects" / oid[:2] / oid[2:]).unlink()


def _pack_gone(vault: Vault, oid: str) -> None:
    git(vault.place.root, "repack", "-adq")
    for path in (vault.place.gitdir / "objects" / "pack").glob("pack-*"):
        path.unlink()


@pytest.mark.parametrize("damage", [_gone, _pack_gone])
@pytest.mark.parametrize("name", ["HEAD~1:a.md", "HEAD~1^{tree}", "HEAD~1"])
def test_damage_since_a_check_that_found_all_is_bad(
    tmp_path: Path, damage: Callable[[Vault, str], None], name: str
) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    root = vault.place.root
    write(root / "a.md", "later\n")
    git(root, "commit", "-qam", "later")
    oid = git(root, "rev-parse", name).strip()
    assert look(vault)["objects"].level is Level.OK
    damage(vault, oid)
    assert look(vault)["objects"].level is Level.BAD


def test_one_damaged_byte_of_a_pack_is_no_history_that_was_checked(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    git(vault.place.root, "repack", "-adq")
    assert look(vault)["objects"].level is Level.OK
    (pack,) = (vault.place.gitdir / "objects" / "pack").glob("*.pack")
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    assert look(vault)["objects"].level is Level.BAD


def test_what_is_packed_or_new_since_a_check_is_well(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    root = vault.place.root
    assert look(vault)["objects"].level is Level.OK
    git(root, "repack", "-adq")
    write(root / "a.md", "later\n")
    git(root, "commit", "-qam", "later")
    assert look(vault)["objects"].level is Level.OK
    _gone(vault, git(root, "rev-parse", "HEAD:a.md").strip())
    assert look(vault)["objects"].level is Level.BAD


def test_an_old_lock_is_moved_aside_and_a_young_one_is_left(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    old, young = vault.place.gitdir / "refs/heads/main.lock", vault.place.gitdir / "index.lock"
    for lock in (old, young):
        lock.write_bytes(b"")
    os.utime(old, (OLD, OLD))
    assert look(vault)["lock"].level is Level.WARN
    assert old.exists()
    assert look(vault, fix=True)["lock"].level is Level.WARN
    assert not old.exists() and young.exists()


def test_our_own_working_files_that_nobody_needs_are_removed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    private = vault.place.gitdir / "vault-agent-index.01ABC"
    private.write_bytes(b"x")
    assert look(vault)["locks"].level is Level.OK
    os.utime(private, (OLD, OLD))
    assert look(vault)["leftovers"].level is Level.WARN
    assert look(vault, fix=True)["leftovers"].level is Level.OK
    assert not private.exists()


def test_what_a_crash_left_and_what_waits_is_finished(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    writer = vault.writer
    writer.enqueue(Order(vault.clock.new_id(), (Create("late.md", b"late\n"),), "late", Stamp()), "busy")
    token = vault.clock.new_id()
    change = Change("half.md", None, b"half\n", f".vault-agent-{token}-0", Collision.REFUSE)
    writer.journal.open(JournalRecord(token, "half", "", Stamp(), planned([change], vault.git.width)))
    assert look(vault)["unfinished"].level is Level.WARN and look(vault)["queue"].level is Level.WARN
    assert "2 changes were finished" in look(vault, fix=True)["unfinished"].what
    assert committed(vault.place.root, "late.md") == b"late\n"


def test_a_change_that_could_not_be_carried_out_is_shown_with_its_reason(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    vault.writer.enqueue(Order(vault.clock.new_id(), (Create("a.md", b"b\n"),), "again", Stamp()), "busy")
    found = look(vault, fix=True)["queue"]
    assert found.level is Level.WARN and "exists already" in found.details[0]


def test_temporary_files_are_removed_only_when_a_commit_has_their_bytes(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"sub/a.md": "known\n"})
    root = vault.place.root
    write(root / "sub/.vault-agent-1-0", "known\n")
    write(root / "sub/.vault-agent-2-0", "precious\n")
    write(root / ".vault-agent-3-0", "")
    git(root, "hash-object", "-w", "sub/.vault-agent-2-0")
    assert len(look(vault)["temporaries"].details) == 3
    assert "fixed" in look(vault, fix=True)["temporaries"].what
    assert list(root.rglob(".vault-agent-*")) == []
    copies = list((root / "sub").glob("recovered (conflict *).md"))
    assert [path.read_bytes() for path in copies] == [b"precious\n"]
    assert committed(root, copies[0].relative_to(root).as_posix()) == b"precious\n"


def test_a_link_with_a_temporary_name_is_left_alone(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    write(tmp_path / "outside.txt", "precious\n")
    (vault.place.root / ".vault-agent-1-0").symlink_to(tmp_path / "outside.txt")
    assert look(vault, fix=True)["temporaries"].level is Level.WARN
    assert (vault.place.root / ".vault-agent-1-0").is_symlink()
    assert list(vault.place.root.glob("recovered*")) == []


def test_notes_with_bad_headers_and_ids_that_stand_twice_are_listed(tmp_path: Path) -> None:
    notes = {"bad.md": "---\na: [\n---\n", "one.md": "---\nid: X\n---\n", "two.md": "---\nid: X\n---\n"}
    found = look(make_vault(tmp_path, notes))
    assert found["notes"].details[0].startswith("bad.md:")
    assert found["ids"].details == ("X: one.md, two.md",)


def test_conflict_copies_are_listed(tmp_path: Path) -> None:
    name = "a (conflict 2026-11-21 141200 abcd).md"
    found = look(make_vault(tmp_path, {name: "---\nconflict_of: '[[a]]'\n---\n"}))
    assert found["conflicts"].details == (name,)
    assert "vault-agent sync resolve" in found["conflicts"].next


def test_a_rebase_under_way_is_a_warning(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    (vault.place.gitdir / "rebase-merge").mkdir()
    assert look(vault)["repository"].level is Level.WARN


def test_hooks_known_to_be_ours_do_not_count_as_a_danger(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    for name in ("pre-commit", "post-commit"):
        write(vault.place.gitdir / "hooks" / name, "#!/bin/sh\n")
        (vault.place.gitdir / "hooks" / name).chmod(0o755)

    def is_own(item: Executable) -> bool:
        return False

    assert len(examine.trust(vault, ["pre-commit"], is_own)[0].details) == 1
    assert examine.trust(vault, ["pre-commit", "post-commit"], is_own)[0].level is Level.OK
