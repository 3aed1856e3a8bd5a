"""The settings are read again when a file of theirs may have changed, and not when none has."""

import os
from pathlib import Path

import pytest

from agent.config.directories import directories
from agent.config.setting_files import SettingFiles
from tests.vaults import write


def is_read(files: SettingFiles) -> bool:
    """Whether a look has the files read."""
    has_changed = files.may_have_changed()
    if has_changed:
        files.were_read()
    return has_changed


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SettingFiles:
    """Files that have lain still for long."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    write(tmp_path / "vault/vault-agent.yaml", "schedule:\n  enabled: true\n")
    found = SettingFiles.of(tmp_path / "vault", "ID")
    assert [is_read(found) for _ in range(4)] == [True, True, False, False]
    return found


def test_a_file_that_comes_changes_or_goes_is_read(files: SettingFiles) -> None:
    of_vault, of_machine, here = files.files
    assert (of_machine, here) == (directories().settings_file, directories().settings_of("ID"))
    write(here, "schedule:\n  enabled: false\n")
    assert is_read(files)
    write(of_machine, "schedule:\n  enabled: false\n")
    assert is_read(files)
    write(of_vault, "schedule:\n  enabled: false\n")
    assert is_read(files)
    of_machine.unlink()
    assert is_read(files)


def test_an_edit_with_the_size_and_the_time_of_before_is_read(files: SettingFiles) -> None:
    of_vault = files.files[0]
    before = of_vault.stat()
    while of_vault.stat().st_ctime_ns == before.st_ctime_ns:
        write(of_vault, "schedule:\n  enabled: trux\n")
        os.utime(of_vault, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert of_vault.stat().st_mtime_ns == before.st_mtime_ns and is_read(files)


def test_a_second_edit_that_leaves_the_same_times_is_read_at_the_next_look(files: SettingFiles) -> None:
    write(files.files[0], "schedule:\n  enabled: false\n")
    assert [is_read(files) for _ in range(3)] == [True, True, False]


def test_files_with_a_mistake_are_read_until_it_is_mended(files: SettingFiles) -> None:
    write(files.files[0], "schedule: [\n")
    assert [files.may_have_changed() for _ in range(5)] == [True] * 5
