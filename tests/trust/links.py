"""Links that lead out of a vault, and whether anything outside was read into it or changed through them."""

from contextlib import suppress
from pathlib import Path

from agent.errors import AgentError
from agent.vault.change import Stamp
from tests.trust import checks
from tests.vaults import make_vault, write


def check_links(folder: Path) -> None:
    """Write and remove through links to folders and files outside; raises `AssertionError` if one is followed."""
    vault = make_vault(folder, {"note.md": "# note\n"})
    root, outside = vault.place.root, folder / "outside"
    write(outside / "secret.md", "the secret\n")
    (root / "door").symlink_to(outside)
    (root / "window.md").symlink_to(outside / "secret.md")
    for path in ("door/new.md", "door/secret.md", "window.md"):
        for kind in ("append", "delete"):
            with suppress(AgentError), vault.transaction("agent: reach out", Stamp("agent", "r1")) as change:
                if kind == "append":
                    change.append(path, b"agent was here\n")
                else:
                    change.delete(path)
    held = {path.name: path.read_text() for path in outside.iterdir()}
    assert held == {"secret.md": "the secret\n"}, f"outside the vault there is now {held}"
    assert b"the secret" not in _in_history(root), "a file from outside was committed"
    assert (root / "door").is_symlink() and (root / "window.md").is_symlink()


def _in_history(root: Path) -> set[bytes]:
    names = [f"{commit.id}:{path}" for commit in checks.commits(root) for path in ("door/secret.md", "window.md")]
    return {line for data in checks.blobs(root, names) if data for line in data.split(b"\n")}
