"""What tools change in a run is on disk at once, held until the run's record is committed, and never another's."""

import json
from pathlib import Path
from random import Random

import pytest

from agent.errors import MassChange
from agent.git.identities import AGENT
from agent.vault.change import CAPTURE, Stamp
from agent.vault.history.commits import Commit, work_of
from agent.vault.history.find import commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault
from agent.vault.waiting import work_of_call
from tests.trust import checks
from tests.vaults import committed, git, make_vault, write

LINES = "".join(f"line {number}\n" for number in range(9))


def does(vault: Vault, run: str, call: str, path: str, old: str, new: str | None) -> None:
    """What the tool does that changes a note; with None it deletes it."""
    stamp = Stamp("agent", run, "vault_edit", f"sessions/{run}.md", call)
    before = (vault.place.root / path).read_bytes()
    with vault.transaction(f"vault(edit): {path}", stamp, hold=True) as change:
        if new is None:
            change.delete(path, before)
        else:
            change.edit(path, before, before.replace(old.encode(), new.encode()))


def ends(vault: Vault, run: str) -> None:
    """The end of a run: its record, with what its tools have done."""
    stamp = Stamp("agent", run=run, tool=CAPTURE, session=f"sessions/{run}.md")
    with vault.transaction(f"session: finished: {run}", stamp) as change:
        change.create(f"sessions/{run}.md", f"# {run}\n".encode())
        for path in vault.held_of(f"sessions/{run}.md"):
            change.release(path)


def made(vault: Vault) -> list[Commit]:
    return commits(vault)[:-1]


def test_it_is_on_disk_at_once_and_in_one_commit_at_the_end(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES, "b.md": "b\n", "c.md": "c\n"})
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    does(vault, "r1", "c2", "a.md", "line 2", "two")
    does(vault, "r1", "c3", "b.md", "b", "bee")
    does(vault, "r1", "c4", "c.md", "", None)
    root = vault.place.root
    assert "one\ntwo\n" in (root / "a.md").read_text() and not (root / "c.md").exists() and not made(vault)
    assert not vault.changed_files() and not vault.commit_human().human, "none of it is a person's"
    assert [each.path for each in work_of_call(vault, "r1", "c2")] == ["a.md"]
    ends(vault, "r1")
    (one,) = made(vault)
    assert [each.path for each in work_of(one).files] == ["a.md", "b.md", "c.md"]
    assert {each.call for each in one.work} == {"c1", "c2", "c3", "c4"}
    assert git(root, "status", "--porcelain") == "" and not vault.writer.held.all()


def test_a_person_s_lines_stay_theirs_whenever_they_save(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES})
    root = vault.place.root
    write(root / "a.md", LINES.replace("line 8", "eight of the person"))
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    write(root / "a.md", (root / "a.md").read_text().replace("line 5", "five of the person"))
    does(vault, "r1", "c2", "a.md", "line 3", "three")
    write(root / "a.md", (root / "a.md").read_text().replace("line 6", "six of the person"))
    ends(vault, "r1")
    vault.commit_human()
    whose = git(root, "blame", "--line-porcelain", "a.md").split("\n")
    authors = [row.removeprefix("author ") for row in whose if row.startswith("author ")]
    texts = [row[1:] for row in whose if row.startswith("\t")]
    said = dict(zip(texts, authors, strict=True))
    assert {said["one"], said["three"]} == {AGENT.name}
    assert AGENT.name not in {said[f"{each} of the person"] for each in ("eight", "five", "six")}


def test_two_runs_in_one_note_are_told_apart(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES})
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    does(vault, "r2", "c1", "a.md", "line 7", "seven")
    does(vault, "r1", "c2", "a.md", "line 3", "three")
    ends(vault, "r2")
    ends(vault, "r1")
    undo(vault, Selection(run="r1"))
    assert (vault.place.root / "a.md").read_text() == LINES.replace("line 7", "seven")


def test_an_undo_takes_back_what_a_run_has_done_so_far(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES, "b.md": "b\n"})
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    does(vault, "r1", "c2", "b.md", "b", "bee")
    assert {each.path for each in undo(vault, Selection(run="r1"), dry_run=True).files} == {"a.md", "b.md"}
    assert not made(vault), "a dry run commits nothing"
    undo(vault, Selection(run="r1"))
    assert (vault.place.root / "a.md").read_text() == LINES and (vault.place.root / "b.md").read_text() == "b\n"


def test_the_commit_of_a_run_is_undone_without_its_record(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES})
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    ends(vault, "r1")
    undo(vault, Selection(commits=(vault.head or "",)))
    assert (vault.place.root / "a.md").read_text() == LINES
    assert committed(vault.place.root, "sessions/r1.md") == b"# r1\n"


def test_small_steps_of_a_run_add_up_before_they_are_committed(tmp_path: Path) -> None:
    notes = {f"n{number}.md": f"the text of note {number}\nand more of it\n" for number in range(60)}
    vault = make_vault(tmp_path, notes)
    most = vault.options.brake.limit(len(notes))
    with pytest.raises(MassChange):
        for number in range(60):
            does(vault, "r1", f"c{number}", f"n{number}.md", notes[f"n{number}.md"], None)
    gone = [name for name in notes if not (vault.place.root / name).exists()]
    assert len(gone) == most


@pytest.mark.parametrize("name", ["50%0020 of it \u8336.md", "new\nline.md"])
def test_a_note_with_an_odd_name_is_named_in_its_commit(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {name: LINES, "b.md": "b\n"})
    does(vault, "r1", "c 1", name, "line 1", "one")
    ends(vault, "r1")
    (one,) = made(vault)
    assert [each.path for each in one.work] == [name] == [each.path for each in work_of(one).files]


def test_one_note_of_a_run_is_undone_and_then_the_rest(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": LINES, "b.md": "b\n"})
    does(vault, "r1", "c1", "a.md", "line 1", "one")
    does(vault, "r1", "c2", "b.md", "b", "bee")
    ends(vault, "r1")
    done, root = vault.head or "", vault.place.root
    assert undo(vault, Selection(commits=(done,), notes=("a.md",))).partial == (done,)
    assert ((root / "a.md").read_text(), (root / "b.md").read_text()) == (LINES, "bee\n")
    undo(vault, Selection(commits=(done,)))
    assert ((root / "a.md").read_text(), (root / "b.md").read_text()) == (LINES, "b\n")


@pytest.mark.parametrize("seed", range(10))
def test_in_any_order_no_line_is_lost_and_each_is_in_its_writer_s_name(tmp_path: Path, seed: int) -> None:
    """The law: two runs and a person in two notes, through saves, ends, undone nothing, and a process that is gone."""
    vault = make_vault(tmp_path, {"a.md": "agent a\n", "b.md": "agent b\n"})
    root, rng, written = vault.place.root, Random(seed), ["agent a", "agent b"]
    for number in range(16):
        path, run = rng.choice(["a.md", "b.md"]), rng.choice(["r1", "r2"])
        match rng.choice(["tool", "tool", "tool", "person", "human", "end", "gone"]):
            case "tool":
                written.append(f"agent {number}")
                stamp = Stamp("agent", run, "vault_append", f"sessions/{run}.md", f"c{number}")
                with vault.transaction("vault(append)", stamp, hold=True) as change:
                    change.append(path, f"agent {number}\n".encode())
            case "person":
                written.append(f"human {number}")
                write(root / path, f"human {number}\n{(root / path).read_text()}")
            case "human":
                vault.commit_human()
            case "end":
                vault.commit_held(vault.held_of(f"sessions/{run}.md"))
            case "gone":  # the process that wrote them: the next write commits what it has left
                for file in vault.layout.held.glob("*.json"):
                    file.write_text(json.dumps({**json.loads(file.read_text()), "by": ""}))
    vault.commit_held()
    vault.commit_human()
    there = [line for name in ("a.md", "b.md") for line in (root / name).read_text().splitlines()]
    assert sorted(there) == sorted(written) and git(root, "status", "--porcelain") == ""
    ours = git(root, "log", "-p", "--format=", "--author=vault-agent", "-U0", "--", "a.md", "b.md")
    theirs = git(root, "log", "-p", "--format=", "--author=Anna", "-U0", f"{made(vault)[-1].parents[0]}..")
    assert "+human" not in ours and "-human" not in ours and "+agent" not in theirs and "-agent" not in theirs
    checks.check_sound(root)
