"""Skills come in as files from a folder or a repository: checked, in one commit, untrusted, and nothing is run."""

import os
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.skills.loading.install import install
from agent.vault.fetched import is_address
from agent.vault.store import Vault
from tests.skills.shelves import library, text
from tests.vaults import git, make_vault, write


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path)


def repository(folder: Path, files: dict[str, str | bytes], bare: bool = False) -> Path:
    """A stranger's repository with these files committed."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for path, content in files.items():
        write(folder / path, content)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "x")
    if bare:
        git(folder.parent, "clone", "-q", "--bare", str(folder), f"{folder.name}.git")
        return folder.parent / f"{folder.name}.git"
    return folder


PDF: dict[str, str | bytes] = {
    "pdf/SKILL.md": text("pdf"),
    "pdf/scripts/fill.py": "print(1)",
    "pdf/assets/a.bin": b"\0\1\2",
    "pdf/.hidden": "x",
    "deep/down/csv/SKILL.md": text("csv"),
    "README.md": "hello",
}


@pytest.mark.parametrize("how", ["folder", "skill folder", "file address", "bare folder"])
def test_skills_come_with_their_files_in_one_commit_and_untrusted(tmp_path: Path, vault: Vault, how: str) -> None:
    source = repository(tmp_path / "strangers", PDF, bare=how == "bare folder")
    said = {"skill folder": f"{source}/pdf", "file address": f"file://{source}"}.get(how, str(source))
    root = vault.place.root
    before = int(git(root, "rev-list", "--count", "HEAD"))
    done = install(vault, said)
    assert done.names == (("pdf",) if how == "skill folder" else ("csv", "pdf"))
    assert int(git(root, "rev-list", "--count", "HEAD")) == before + 1 and git(root, "status", "--porcelain") == ""
    assert (root / "skills/pdf/assets/a.bin").read_bytes() == b"\0\1\2"
    assert (root / "skills/pdf/scripts/fill.py").is_file() and not (root / "skills/pdf/.hidden").exists()
    found = library(tmp_path).snapshot().named["pdf"]
    assert not found.reviewed and found.files == ("assets/a.bin", "scripts/fill.py")
    assert said in git(root, "log", "-1", "--format=%b")


def test_no_file_becomes_a_program(tmp_path: Path, vault: Vault) -> None:
    write(tmp_path / "s/a/SKILL.md", text("a"))
    write(tmp_path / "s/a/scripts/x.sh", "#!/bin/sh\ntouch /tmp/never\n")
    (tmp_path / "s/a/scripts/x.sh").chmod(0o755)
    install(vault, str(tmp_path / "s"))
    assert not os.access(vault.place.root / "skills/a/scripts/x.sh", os.X_OK)


def test_a_hostile_repository_runs_nothing(tmp_path: Path, vault: Vault) -> None:
    ran = tmp_path / "ran"
    source = repository(
        tmp_path / "hostile",
        {
            "a/SKILL.md": text("a"),
            ".gitattributes": "* filter=evil diff=evil merge=evil\n*.md filter=lfs",
            ".lfsconfig": "[lfs]\n url = http://127.0.0.1:1/",
            ".gitmodules": f'[submodule "m"]\n path = m\n url = ext::sh -c "touch {ran}"\n',
        },
    )
    for name in ("post-checkout", "post-merge", "pre-commit", "post-index-change", "reference-transaction"):
        write(source / ".git/hooks" / name, f"#!/bin/sh\ntouch {ran}\n")
        (source / ".git/hooks" / name).chmod(0o755)
    for key in (
        "filter.evil.smudge",
        "filter.evil.clean",
        "core.fsmonitor",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
    ):
        git(source, "config", key, f"touch {ran}; cat")
    assert install(vault, f"file://{source}").names == ("a",)
    assert not ran.exists()


@pytest.mark.parametrize(
    "address",
    ["ext::sh -c id", "--upload-pack=touch x", "http://example.org/x.git", "git://example.org/x", "-oProxyCommand=x",
     "ftp://x/y", "user@-oProxyCommand=x:y", "https://a b", "fd::7", "nothing/here"],
)  # fmt: skip
def test_other_addresses_are_refused_before_anything_is_asked(tmp_path: Path, vault: Vault, address: str) -> None:
    with pytest.raises(UserError, match="is no folder, and no address"):
        install(vault, address)


def test_the_addresses_that_are_asked() -> None:
    for address in (
        "https://example.org/a.git",
        "ssh://git@example.org/a",
        "git@example.org:me/skills.git",
        "file:///a",
    ):
        assert is_address(address)


def test_one_that_does_not_answer_is_said_in_plain_words(tmp_path: Path, vault: Vault) -> None:
    with pytest.raises(UserError, match="could not be fetched"):
        install(vault, f"file://{tmp_path}/nobody")


def test_links_and_bad_skills_stay_outside(tmp_path: Path, vault: Vault) -> None:
    source = tmp_path / "strangers"
    repository(
        source, {"good/SKILL.md": text("good"), "bad/SKILL.md": text("other"), "learned/SKILL.md": text("learned")}
    )
    (source / "good/passwd").symlink_to("/etc/passwd")
    (source / "linked").symlink_to(tmp_path)
    write(tmp_path / "SKILL.md", text("linked"))
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "links")
    for said in (str(source), f"file://{source}"):
        done = install(vault, said)
        assert done.names == ("good",) and not (vault.place.root / "skills/good/passwd").exists()
        reasons = " ".join(f"{problem.path} {problem.reason}" for problem in done.problems)
        assert "passwd is a link" in reasons and "its folder is bad" in reasons and "agent's own" in reasons
        git(vault.place.root, "rm", "-q", "-r", "skills/good")
        git(vault.place.root, "commit", "-q", "-m", "again")


def test_what_is_there_is_never_overwritten(tmp_path: Path, vault: Vault) -> None:
    write(vault.place.root / "skills/a/SKILL.md", "mine")
    write(tmp_path / "s/a/SKILL.md", text("a"))
    write(tmp_path / "s/b/SKILL.md", text("b"))
    with pytest.raises(UserError, match="has a already; nothing was installed"):
        install(vault, str(tmp_path / "s"))
    assert install(vault, str(tmp_path / "s"), ["b"]).names == ("b",)
    assert (vault.place.root / "skills/a/SKILL.md").read_text() == "mine"


def test_what_is_wanted_must_be_there(tmp_path: Path, vault: Vault) -> None:
    write(tmp_path / "s/a/SKILL.md", text("a"))
    with pytest.raises(UserError, match="no skill zzz"):
        install(vault, str(tmp_path / "s"), ["zzz"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"no skill with a SKILL\.md"):
        install(vault, str(tmp_path / "empty"))


def test_a_skill_at_the_top_of_a_repository_keeps_its_name(tmp_path: Path, vault: Vault) -> None:
    source = repository(tmp_path / "some-repo", {"SKILL.md": text("tea"), "references/r.md": "r"})
    assert install(vault, f"file://{source}").names == ("tea",)
    assert (vault.place.root / "skills/tea/references/r.md").read_text() == "r"
