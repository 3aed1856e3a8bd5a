"""`git.binaries: embedded`: a small picture that a note shows is committed with it, and all else stays out."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault
from tests.vaults import FAST, git, make_vault, write

PNG = b"\x89PNG\0\0"
EMBEDDED: Options = replace(FAST, binaries="embedded", largest_embedded=1_000, quiet_seconds=0.0)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {"tea.md": "# Tea\n"}, options=EMBEDDED)


@pytest.mark.parametrize(
    "note",
    [
        "![[pot.png]]",
        "![[Pictures/pot.png|200]]",
        "[[POT.png]]",
        "![a pot](../Pictures/pot.png)",
        "![](<Pictures/pot.png>)",
        "![](Pictures/p%6ft.png)",
        '![a pot](Pictures/pot.png "My pot (blue)")',
        "[a pot](<Pictures/pot.png> 'My pot')",
        "Two of them: ![[cup.png]] ![[pot.png#x]]",
    ],
)
def test_a_picture_that_a_note_embeds_is_committed(vault: Vault, note: str) -> None:
    root = vault.place.root
    write(root / "Pictures/pot.png", PNG)
    write(root / "notes/green.md", f"# Green\n\n{note}\n")
    vault.commit_human()
    assert "Pictures/pot.png" in git(root, "ls-files")
    assert status(vault).left_out == {}


@pytest.mark.parametrize("note", ["pot.png", "![[my pot.png]]", "![[Other/pot.png]]", "![x](https://a.org/b.png)"])
def test_another_one_stays_on_this_machine_and_is_named(vault: Vault, note: str) -> None:
    root = vault.place.root
    write(root / "Pictures/pot.png", PNG)
    write(root / "notes/green.md", f"# Green\n\n{note}\n")
    vault.commit_human()
    assert "Pictures/pot.png" not in git(root, "ls-files")
    assert status(vault).left_out == {"Pictures/pot.png": "no text, and no note embeds it"}
    write(root / "tea.md", "# Tea\n\n![[pot.png]]\n")
    vault.commit_human()
    assert "Pictures/pot.png" in git(root, "ls-files"), "it goes along once a note embeds it"


def test_a_large_one_stays_and_is_named(vault: Vault) -> None:
    write(vault.place.root / "film.mov", PNG * 1_000)
    write(vault.place.root / "tea.md", "# Tea\n\n![[film.mov]]\n")
    vault.commit_human()
    assert str(status(vault).left_out["film.mov"]) == "larger than 0.001 MB"
    assert "film.mov" not in git(vault.place.root, "ls-files")
