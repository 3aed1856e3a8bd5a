"""Fetch and push with a remote in a folder: what is done is done whole, what is refused says why."""

from pathlib import Path

import pytest

from agent.errors import GitFailed, UserError
from agent.git.network import Network, RefUpdate, RefusedRef
from agent.git.runner import Git
from tests.remotes import git_as, make_remote
from tests.vault.network.persons import Shared, own_account, shared
from tests.vaults import git, head, init, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shared:
    own_account(tmp_path, monkeypatch)
    return shared(tmp_path)


def other(place: Shared, name: str = "other") -> Path:
    """A clone of somebody else's."""
    clone = place.remote.parent / name
    git_as(place.remote.parent, "Bob", "clone", "-q", str(place.remote), str(clone))
    return clone


def pushes(clone: Path, path: str, content: str) -> str:
    write(clone / path, content)
    git_as(clone, "Bob", "add", "-A")
    git_as(clone, "Bob", "commit", "-q", "-m", "theirs")
    git_as(clone, "Bob", "push", "-q", "origin", "HEAD:main")
    return head(clone)


def whole(root: Path) -> bool:
    """True if git finds no fault, and nothing of a transfer is left."""
    left = [*(root / ".git/vault-agent").glob("network-*"), *(root / ".git").glob("**/*.lock")]
    return not left and "missing" not in git(root, "fsck", "--full", "--strict")


def test_what_others_pushed_arrives(place: Shared) -> None:
    theirs = pushes(other(place), "notes/b.md", "two\n")
    place.network.fetch("origin", [TRACKED])
    assert git(place.root, "rev-parse", "refs/remotes/origin/main").strip() == theirs
    assert git(place.root, "show", f"{theirs}:notes/b.md") == "two\n"
    assert whole(place.root) and not (place.root / ".git/FETCH_HEAD").exists()


def test_more_objects_than_git_unpacks_arrive_as_a_pack(place: Shared) -> None:
    clone = other(place)
    for number in range(150):
        write(clone / f"many/{number}.md", f"note {number}\n")
    theirs = pushes(clone, "notes/b.md", "two\n")
    place.network.fetch(str(place.remote), [TRACKED])
    assert list((place.root / ".git/objects/pack").glob("*.idx"))
    assert git(place.root, "show", f"{theirs}:many/149.md") == "note 149\n"
    assert whole(place.root)


def test_only_what_a_refspec_names_is_fetched_and_nothing_is_removed(place: Shared) -> None:
    clone = other(place)
    git_as(clone, "Bob", "push", "-q", "origin", "HEAD:refs/heads/gone", "HEAD:refs/tags/v1")
    place.network.fetch("origin", [TRACKED])
    git_as(clone, "Bob", "push", "-q", "origin", ":refs/heads/gone")
    git(place.root, "config", "--global", "fetch.prune", "true")
    place.network.fetch("origin", [TRACKED])
    assert git(place.root, "for-each-ref", "--format=%(refname)", "refs/remotes", "refs/tags").split() == [
        "refs/remotes/origin/gone",
        "refs/remotes/origin/main",
    ]


def test_one_ref_that_may_not_move_stops_all(place: Shared) -> None:
    clone = other(place)
    git_as(clone, "Bob", "push", "-q", "origin", "HEAD:refs/heads/new")
    git_as(clone, "Bob", "commit", "-q", "--amend", "-m", "another beginning")
    git_as(clone, "Bob", "push", "-q", "-f", "origin", "HEAD:main")
    git(place.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    with pytest.raises(GitFailed):
        place.network.fetch("origin", ["refs/heads/*:refs/remotes/origin/*"])
    assert git(place.root, "rev-parse", "refs/remotes/origin/main").strip() == head(place.root)
    assert "new" not in git(place.root, "for-each-ref", "refs/remotes")


def test_a_vault_in_a_worktree_and_one_without_a_commit_fetch_too(place: Shared, tmp_path: Path) -> None:
    theirs = pushes(other(place), "notes/b.md", "two\n")
    git(place.root, "worktree", "add", "-q", str(tmp_path / "second"))
    gitdir = place.root / ".git/worktrees/second"
    Network(Git(gitdir, tmp_path / "second", durable=False)).fetch("origin", [TRACKED])
    assert git(place.root, "rev-parse", "origin/main").strip() == theirs
    empty = tmp_path / "empty"
    empty.mkdir()
    init(empty)
    network_of(empty).fetch(str(place.remote), [TRACKED])
    assert git(empty, "rev-parse", "origin/main").strip() == theirs


def test_a_push_is_a_fast_forward_or_what_was_expected(place: Shared) -> None:
    old, new = head(place.root), place.saves("notes/a.md", "mine\n")
    assert place.network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    assert place.there() == new
    git(place.root, "commit", "-q", "--amend", "-m", "another")
    rewritten = head(place.root)
    assert place.network.push("origin", [RefUpdate(rewritten, MAIN, None)]) == (RefusedRef(MAIN, "non-fast-forward"),)
    assert place.network.push("origin", [RefUpdate(rewritten, MAIN, old)]) == (RefusedRef(MAIN, "stale info"),)
    assert place.there() == new
    assert place.network.push("origin", [RefUpdate(rewritten, MAIN, new)]) == ()
    assert place.there() == rewritten
    assert place.network.push("origin", [RefUpdate(rewritten, MAIN, None)]) == ()


def test_a_ref_that_must_not_exist_is_made_once_and_deleted_as_expected(place: Shared) -> None:
    ref = "refs/vault-agent/lease"
    assert place.network.push("origin", [RefUpdate("HEAD", ref, "")]) == ()
    assert place.network.push("origin", [RefUpdate("HEAD^0", ref, "")]) == ()  # it is what it should become
    git(place.root, "commit", "-q", "--allow-empty", "-m", "next")
    assert place.network.push("origin", [RefUpdate("HEAD", ref, "")]) == (RefusedRef(ref, "stale info"),)
    there = place.there(ref)
    assert place.network.push("origin", [RefUpdate("", ref, head(place.root))]) == (RefusedRef(ref, "stale info"),)
    assert place.network.push("origin", [RefUpdate("", ref, there)]) == ()
    assert place.there(ref) == ""


@pytest.mark.parametrize("atomic", [False, True])
def test_one_refused_ref_stops_the_others_only_where_asked(place: Shared, atomic: bool) -> None:
    new = place.saves("notes/a.md", "mine\n")
    updates = [RefUpdate("HEAD", MAIN, None), RefUpdate("HEAD", "refs/heads/x", "1" * len(new))]
    refused = place.network.push("origin", updates, atomic=atomic)
    assert (place.there() == new) is not atomic
    assert [each.ref for each in refused] == ([MAIN, "refs/heads/x"] if atomic else ["refs/heads/x"])


def test_a_server_s_hook_may_refuse(place: Shared) -> None:
    """A remote in a folder is a server too: its own hooks run there, as on any server."""
    hook = place.remote / "hooks/pre-receive"
    write(hook, "#!/bin/sh\necho 'no pushes on Sundays' >&2\nexit 1\n")
    hook.chmod(0o755)
    place.saves("notes/a.md", "mine\n")
    assert place.network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == (
        RefusedRef(MAIN, "pre-receive hook declined"),
    )


def test_refs_of_a_remote_are_listed(place: Shared) -> None:
    git(place.root, "tag", "-a", "v1", "-m", "one")
    git(place.root, "push", "-q", "origin", "v1")
    assert place.network.list_refs("origin") == {
        "HEAD": head(place.root),
        MAIN: head(place.root),
        "refs/tags/v1": git(place.root, "rev-parse", "v1").strip(),
    }
    assert place.network.list_refs(str(place.remote), ["main"]) == {MAIN: head(place.root)}


def test_an_address_may_be_relative_to_the_vault_and_a_push_has_its_own(place: Shared, tmp_path: Path) -> None:
    git(place.root, "remote", "set-url", "origin", "../remote.git")
    assert MAIN in place.network.list_refs("origin")
    make_remote(tmp_path / "second.git")
    git(place.root, "remote", "set-url", "--push", "origin", "../second.git")
    assert place.network.push("origin", [RefUpdate("HEAD", "refs/heads/copy", "")]) == ()
    assert git(tmp_path / "second.git", "rev-parse", "copy").strip() == head(place.root)


def test_a_remote_that_nobody_has_set_is_named(place: Shared) -> None:
    with pytest.raises(UserError, match="there is no remote upstream"):
        place.network.list_refs("upstream")


def test_a_ref_that_moves_meanwhile_is_not_overwritten(place: Shared) -> None:
    """Another program fetches at the same time: the later one fails, and nothing is half done."""
    clone, address = other(place), f"file://{place.remote}"
    pushes(clone, "notes/b.md", "two\n")
    place.network.fetch("origin", [TRACKED])
    before, newer = head(place.root), pushes(clone, "notes/b.md", "three\n")
    move = f"git --git-dir='{place.root}/.git' update-ref refs/remotes/origin/main {before}"
    write(place.root / "mover", f'#!/bin/sh\n{move}\nexec git-upload-pack "$@"\n')
    (place.root / "mover").chmod(0o755)
    git(place.root, "config", "--global", f"remote.{address}.uploadpack", str(place.root / "mover"))
    with pytest.raises(GitFailed):
        place.network.fetch(address, [TRACKED])
    assert git(place.root, "rev-parse", "origin/main").strip() == before
    git(place.root, "config", "--global", "--unset", f"remote.{address}.uploadpack")
    place.network.fetch(address, [TRACKED])
    assert git(place.root, "rev-parse", "origin/main").strip() == newer


def network_of(root: Path) -> Network:
    return Network(Git(root / ".git", root, durable=False))


def test_a_clone_with_a_cut_history_fetches_and_pushes(place: Shared) -> None:
    place.saves("notes/a.md", "mine\n")
    place.network.push("origin", [RefUpdate("HEAD", MAIN, None)])
    clone = place.remote.parent / "shallow"
    git(clone.parent, "clone", "-q", "--depth=1", f"file://{place.remote}", str(clone))
    theirs = pushes(other(place), "notes/b.md", "two\n")
    network_of(clone).fetch("origin", [TRACKED])
    assert git(clone, "rev-list", "--count", "origin/main").strip() == "2"
    git(clone, "merge", "-q", "--ff-only", theirs)
    git(clone, "commit", "-q", "--allow-empty", "-m", "next")
    assert network_of(clone).push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    git(clone, "fsck", "--full")


def test_a_partial_clone_is_told_how_to_become_whole(place: Shared) -> None:
    git(place.remote, "config", "uploadpack.allowFilter", "true")
    clone = place.remote.parent / "partial"
    git(clone.parent, "clone", "-q", "--filter=blob:none", "-n", f"file://{place.remote}", str(clone))
    theirs = pushes(other(place), "notes/b.md", "two\n")
    with pytest.raises(UserError, match="partial clone") as caught:
        network_of(clone).fetch("origin", [TRACKED])
    git(clone, *caught.value.hint.partition(": git ")[2].split())
    network_of(clone).fetch("origin", [TRACKED])
    assert git(clone, "rev-parse", "origin/main").strip() == theirs


@pytest.mark.parametrize("name", ['qu"ote', "new\nline", "über #1", "back\\slash", "col:on"])
def test_a_vault_may_lie_in_a_folder_with_any_name(place: Shared, name: str) -> None:
    clone = other(place, name)
    theirs = pushes(other(place), "notes/b.md", "two\n")
    network_of(clone).fetch("origin", [TRACKED])
    assert git(clone, "rev-parse", "origin/main").strip() == theirs
