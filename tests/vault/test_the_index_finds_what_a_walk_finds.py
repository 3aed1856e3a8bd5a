"""The index of the history chooses the commits that a walk over the whole history would choose, whatever happened."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.vault.history.commit_index import NAME, IndexedCommit, load_index
from agent.vault.history.commits import Commit, newest
from agent.vault.history.difference import uncommitted
from agent.vault.history.find import Trail, commits, indexed_commits
from agent.vault.history.undo import plan
from agent.vault.history.undo_choice import Selection, UndoChoice, choose
from agent.vault.history.undo_plan import UndoPlan
from agent.vault.history.undo_walk import selectable, steps, whole
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vault.random_history import NAMES, RUNS, RandomHistory
from tests.vaults import FAST, git, head, make_vault


def of_index(each: IndexedCommit) -> tuple[object, ...]:
    return each.id, each.actor, each.tool, each.undoes, [(one.kind, one.path, one.old_path) for one in each.sides[0]]


def of_walk(each: Commit) -> tuple[object, ...]:
    return each.id, each.actor, each.tool, each.undoes, [(one.kind, one.path, one.old_path) for one in each.files]


def lineage(vault: Vault) -> list[Commit]:
    return newest(vault, head(vault.place.root), None)


def walked(
    vault: Vault, path: str = "", actor: str | None = None, run: str = "", limit: int | None = None
) -> list[Commit]:
    """What a walk over the whole history finds."""
    trail = Trail(path)
    found = [
        each
        for each in lineage(vault)
        if (not path or trail.follow(each.files))
        and (not actor or each.actor == actor)
        and (not run or each.is_of(run))
    ]
    return found[:limit]


def check_searches(vault: Vault) -> None:
    for path in (*NAMES, "box", "moved by hand.md"):
        assert commits(vault, path=path) == walked(vault, path)
        assert commits(vault, path=path, actor="human", limit=2) == walked(vault, path, "human", limit=2)
        for actor in (None, "human", "agent"):
            assert [*map(of_index, indexed_commits(vault, path, actor))] == [*map(of_walk, walked(vault, path, actor))]
    for run in RUNS:
        assert commits(vault, run=run) == walked(vault, run=run)
    for actor in ("human", "agent", "job:daily"):
        assert commits(vault, actor=actor) == walked(vault, actor=actor)
    for limit in (1, 3, None):
        assert commits(vault, limit=limit) == walked(vault, limit=limit)
    middle = lineage(vault)[len(lineage(vault)) // 2].when
    assert commits(vault, since=middle) == [each for each in lineage(vault) if each.when >= middle]
    assert commits(vault, until=middle) == [each for each in lineage(vault) if each.when <= middle]


def selections(history: Sequence[Commit]) -> list[Selection]:
    named = [Selection(commits=(each.id,)) for each in history]
    since = [Selection(since=each.when, include_human=each.actor == "human") for each in history[::4]]
    return [*named, *(Selection(run=run) for run in RUNS), Selection(jobs=("daily",)), *since]


def described(undo_plan: UndoPlan) -> list[object]:
    rows = [
        (each.now, each.path, each.before, each.after, each.reason_to_stay, each.refused, each.unsaved, each.meant)
        + tuple(commit.id for commit in each.later)
        for each in undo_plan.drafts
    ]
    return [rows, undo_plan.skipped, sorted(undo_plan.partial)]


def check_undos(vault: Vault) -> None:
    history, index, unsaved = lineage(vault), load_index(vault), uncommitted(vault)
    for selection in selections(history):
        chosen: list[UndoChoice] = [
            choose(vault, history, selection),
            choose(vault, selectable(vault, index, selection), selection),
        ]
        assert chosen[0] == chosen[1]
        picked = chosen[0].commits
        by_walk = plan(vault, whole(history, picked), unsaved, picked)
        by_index = plan(vault, steps(vault, index, unsaved, picked), unsaved, picked)
        assert described(by_index) == described(by_walk)


def check(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = RandomHistory(seed, Path(folder))
        vault = history.open()
        for _ in range(2):
            history.grow()
            grown = load_index(vault).content
            (vault.private_folder / NAME).unlink()
            assert load_index(vault).content == grown
        history.check_out()
        again = history.open()
        check_searches(again)
        check_undos(again)


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_searches_and_undos_are_those_of_a_walk(seed: int) -> None:
    check(seed)


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    history = RandomHistory(2, tmp_path)
    history.grow()
    history.check_out()
    vault = history.open()
    good = load_index(vault).content
    file = vault.private_folder / NAME
    data = file.read_bytes()
    for damaged in (b"", data[:-1], data[:70], data.replace(b"01RUN", b"03RUN", 1), b"\0" * 400, data + b"\n"):
        file.write_bytes(damaged)
        assert load_index(vault).content == good
        assert file.read_bytes() == data


def test_without_a_place_for_the_index_all_is_found_all_the_same(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    (vault.private_folder / NAME).mkdir()
    vault.private_folder.chmod(0o500)
    try:
        assert [each.id for each in commits(vault, path="a.md")] == [head(vault.place.root)]
    finally:
        vault.private_folder.chmod(0o700)


def test_a_shallow_clone_that_is_completed_later_finds_the_older_commits(tmp_path: Path) -> None:
    whole_one = make_vault(tmp_path, {"a.md": "one\n"})
    root = whole_one.place.root
    for text in ("two\n", "three\n"):
        (root / "a.md").write_text(text)
        git(root, "commit", "-qam", text)
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{root}", "shallow")
    clone = open_vault(tmp_path / "shallow", tmp_path / "state", FakeClock(), FAST)
    assert len(commits(clone, path="a.md")) == 2
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert [each.id for each in commits(clone, path="a.md")] == [each.id for each in lineage(whole_one)]
    assert head(root) == commits(clone, path="a.md")[0].id


@pytest.mark.chaos
@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_searches_and_undos_are_those_of_many_walks(seed: int) -> None:
    check(seed)
