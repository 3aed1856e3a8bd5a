"""Promise 5: more than max(20 notes, 5 %) deleted or emptied stops and asks; nothing is propagated meanwhile."""

from pathlib import Path

import pytest

from agent.errors import MassChange
from agent.vault.change import Stamp
from tests.trust.wipes import check, clear, scenarios, text
from tests.vaults import git, head, make_vault, write


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.chaos)])
def test_no_wipe_goes_through_unasked(tmp_path: Path, count: int) -> None:
    tried = scenarios(count, "wipes")
    for number, scenario in enumerate(tried):
        check(tmp_path / str(number), scenario)
        clear(tmp_path / str(number))
    assert len(tried) == count


def test_moving_a_folder_of_a_hundred_notes_is_no_wipe(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"old/{number}.md": text(str(number)) for number in range(100)})
    with vault.transaction("agent: move", Stamp("agent", "r1")) as change:
        for number in range(100):
            change.move(f"old/{number}.md", f"new/{number}.md")
    assert change.outcome.commit
    (vault.place.root / "new").rename(vault.place.root / "newer")
    assert vault.commit_human().human
    assert git(vault.place.root, "show", "--stat", "-M", "--format=", "HEAD").count("=>") == 100


def test_the_share_counts_in_a_large_vault(tmp_path: Path) -> None:
    names = [f"notes/{number}.md" for number in range(600)]
    vault = make_vault(tmp_path, {name: text(name) for name in names})
    with pytest.raises(MassChange), vault.transaction("agent: delete", Stamp("agent", "r1")) as change:
        for name in names[:31]:
            change.delete(name)
    with vault.transaction("agent: delete", Stamp("agent", "r2")) as change:
        for name in names[:30]:
            change.delete(name)
    assert change.outcome.commit


def test_notes_that_never_said_more_than_their_header_may_be_edited_by_hand(tmp_path: Path) -> None:
    names = [f"profile/{number}.md" for number in range(25)]
    vault = make_vault(tmp_path, {name: "---\nkind: a\n---\n" for name in names})
    for name in names:
        write(vault.place.root / name, "---\nkind: b\n---\n")
    assert vault.commit_human().human


def test_after_a_wipe_by_hand_the_agent_still_writes(tmp_path: Path) -> None:
    names = [f"notes/{number}.md" for number in range(40)]
    vault = make_vault(tmp_path, {name: text(name) for name in names})
    for name in names:
        (vault.place.root / name).unlink()
    before = head(vault.place.root)
    with pytest.raises(MassChange):
        vault.commit_human()
    assert head(vault.place.root) == before
    with vault.transaction("agent: note", Stamp("agent", "r1")) as change:
        change.create("new.md", b"text\n")
    assert change.outcome.commit
    assert git(vault.place.root, "show", "--name-only", "--format=", "HEAD").split() == ["new.md"]
