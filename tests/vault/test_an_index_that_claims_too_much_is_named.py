"""An index of git's that claims to have billions of files is named as damaged, before git makes room for them."""

import hashlib
from pathlib import Path

import pytest

from agent.errors import Permanent
from agent.vault.health.examine import repository
from agent.vault.health.probe import Level
from tests.vaults import git, make_vault, object_format, write


def test_it_is_named_and_made_anew_once_it_is_moved_away(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tea.md": "# Tea\n"})
    index = vault.place.gitdir / "index"
    git(vault.place.root, "update-index", "--refresh")
    width = hashlib.new(object_format()).digest_size
    data = index.read_bytes()
    claims = data[:8] + b"\xff\xff\xff\xf0" + data[12:-width]
    index.write_bytes(claims + hashlib.new(object_format(), claims).digest())
    write(vault.place.root / "tea.md", "# Tea\n\ngreen\n")
    with pytest.raises(Permanent, match="damaged") as found:
        vault.commit_human()
    assert "4,294,967,280 files" in found.value.message and "doctor --fix" in found.value.hint
    assert {each.name: each.level for each in repository(vault, fix=True)}["index"] is Level.OK
    assert vault.commit_human().paths == ("tea.md",) and vault.changed_files() == []
