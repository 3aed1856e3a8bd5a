"""Promise 5 in small steps: however a run, a program or a burst cuts up a wipe, it stops and asks before it is done."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agent.errors import MassChange
from agent.vault.change import Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.options import Brake, Options
from agent.vault.store import Vault
from agent.vault.write.mass_change import lost_between
from tests.trust.plants import plant
from tests.vaults import committed, git, head, make_vault, write

LIMIT = 4
COUNT = 8
LINES = 8
NAMES = [f"notes/{number:02d}.md" for number in range(COUNT)]
RUN = Stamp("agent", "r1", tool="vault_write")


def text(name: str, lines: int = LINES) -> str:
    """A note whose lines are all its own."""
    return f"# {name}\n\n" + "".join(f"what {name} says in line {number}\n" for number in range(lines))


def vault_of(folder: Path, names: Sequence[str] = NAMES) -> Vault:
    options = Options(durable=False, brake=Brake(LIMIT))
    return make_vault(folder, {name: text(name) for name in names}, options=options)


def edit(vault: Vault, stamp: Stamp, **texts: str) -> None:
    """One transaction that gives notes another text."""
    with vault.transaction("agent: edit", stamp) as change:
        for path, data in texts.items():
            change.edit(path, vault.read(path) or b"", data.encode())


def lost(vault: Vault) -> int:
    """Notes of which HEAD holds less than half of the lines that they had."""
    gone = 0
    for name in NAMES:
        data = (committed(vault.place.root, name) or b"").decode()
        left = sum(line in data for line in text(name).splitlines() if line)
        gone += 2 * left < LINES + 1
    return gone


def by_points(vault: Vault) -> None:
    """One transaction puts a point in the place of each note."""
    edit(vault, RUN, **dict.fromkeys(NAMES, "."))


def note_by_note(vault: Vault) -> None:
    """A commit for each note."""
    for name in NAMES:
        edit(vault, RUN, **{name: f"# {name}\n\nnothing\n"})


def line_by_line(vault: Vault) -> None:
    """Each commit takes one line of every note."""
    for lines in range(LINES - 1, -1, -1):
        edit(vault, RUN, **{name: text(name, lines) for name in NAMES})


def word_by_word(vault: Vault) -> None:
    """Each commit changes one word of every line: no line is another one than a moment before."""
    for place in range(6):
        for name in NAMES:
            lines = (vault.read(name) or b"").decode().splitlines()
            words = [line.split() for line in lines]
            new = [" ".join("x" if number == place else word for number, word in enumerate(each)) for each in words]
            edit(vault, RUN, **{name: "\n".join(new) + "\n"})


def by_sub_runs(vault: Vault) -> None:
    """A run of its own for each note, begun by the same run."""
    for number, name in enumerate(NAMES):
        edit(vault, Stamp("agent", f"r1.c{number}", tool="vault_write"), **{name: "."})


def without_a_run(vault: Vault) -> None:
    """A program that writes without a run, a commit for each note."""
    for name in NAMES:
        edit(vault, Stamp("mcp:notes", tool="vault_write"), **{name: "."})


def of_a_session(vault: Vault) -> None:
    for name in NAMES:
        edit(vault, Stamp("http", session="sessions/a (1).md"), **{name: "."})


def several_edits_of_one_note(vault: Vault) -> None:
    """One transaction takes a line of each note, and then another."""
    with vault.transaction("agent: edit", RUN) as change:
        for lines in range(LINES - 1, -1, -1):
            for name in NAMES:
                change.edit(name, text(name, lines + 1).encode(), text(name, lines).encode())


def copied_and_deleted(vault: Vault) -> None:
    """The text of all notes goes into a new one, then the notes go, then the new one: no step loses anything alone."""
    with vault.transaction("agent: gather", RUN) as change:
        change.create("all.md", "".join(map(text, NAMES)).encode())
    for name in NAMES:
        with vault.transaction("agent: delete", RUN) as change:
            change.delete(name)
    with vault.transaction("agent: delete", RUN) as change:
        change.delete("all.md")


def moved_and_emptied(vault: Vault) -> None:
    """Each note is moved, and emptied in its new place."""
    for name in NAMES:
        with vault.transaction("agent: move", RUN) as change:
            change.move(name, f"new/{name}")
        edit(vault, RUN, **{f"new/{name}": "."})


def by_hand(vault: Vault) -> None:
    for name in NAMES:
        write(vault.place.root / name, text(name, 3))
    vault.commit_human()


def deleted_and_thinned_by_hand(vault: Vault) -> None:
    for number, name in enumerate(NAMES):
        path = vault.place.root / name
        if number % 2:
            path.unlink()
        else:
            write(path, f"# {name}\n")
    vault.commit_human()


WIPES: list[Callable[[Vault], None]] = [
    by_points,
    note_by_note,
    line_by_line,
    word_by_word,
    by_sub_runs,
    without_a_run,
    of_a_session,
    several_edits_of_one_note,
    copied_and_deleted,
    moved_and_emptied,
    by_hand,
    deleted_and_thinned_by_hand,
]


@pytest.mark.parametrize("wipe", WIPES, ids=lambda wipe: wipe.__name__)
def test_a_wipe_in_pieces_stops_and_asks(wipe: Callable[[Vault], None], tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    with pytest.raises(MassChange) as raised:
        wipe(vault)
    assert raised.value.paths and raised.value.hint
    if wipe is copied_and_deleted:  # all is still in one note, which may not go
        assert committed(vault.place.root, "all.md")
    elif wipe is word_by_word:  # in each note the words change until most of them are other ones
        words = [(committed(vault.place.root, name) or b"").split() for name in NAMES]
        assert sum(2 * each.count(b"x") > len(each) for each in words) <= LIMIT
    elif wipe is moved_and_emptied:
        assert sum(git(vault.place.root, "show", f"HEAD:new/{name}", check=False) == "." for name in NAMES) <= LIMIT
    else:
        assert lost(vault) <= LIMIT


def move_one_by_one(vault: Vault) -> None:
    for name in NAMES:
        with vault.transaction("agent: move", RUN) as change:
            change.move(name, f"archive/2026/{name}")


def split_each(vault: Vault) -> None:
    """Each note becomes two, with links in its place."""
    for name in NAMES:
        lines = text(name).splitlines(keepends=True)
        with vault.transaction("agent: split", RUN) as change:
            change.edit(name, text(name).encode(), f"# {name}\n\n[[{name}-1]] [[{name}-2]]\n".encode())
            change.create(f"{name}-1.md", "".join(lines[2:6]).encode())
            change.create(f"{name}-2.md", "".join(lines[6:]).encode())


def gather_all(vault: Vault) -> None:
    """All notes become one."""
    with vault.transaction("agent: gather", RUN) as change:
        change.create("all.md", "".join(map(text, NAMES)).encode())
        for name in NAMES:
            change.delete(name)


def correct_each(vault: Vault) -> None:
    """A name is corrected in every line, a line is added and one goes."""
    for name in NAMES:
        new = text(name, LINES - 1).replace(" says", " said") + "and one more\n"
        edit(vault, RUN, **{name: new})


def four_of_each_run(vault: Vault) -> None:
    """Two runs may each lose what one run may."""
    for run, names in (("r1", NAMES[:4]), ("r2", NAMES[4:])):
        edit(vault, Stamp("agent", run), **dict.fromkeys(names, "."))


def write_and_rewrite_its_own(vault: Vault) -> None:
    """What a run has made itself it may empty and delete: nothing was lost that was there before it."""
    for number in range(COUNT):
        with vault.transaction("agent: new", RUN) as change:
            change.create(f"new/{number}.md", text(str(number)).encode())
    edit(vault, RUN, **{f"new/{number}.md": "." for number in range(COUNT)})
    with vault.transaction("agent: tidy", RUN) as change:
        for number in range(COUNT):
            change.delete(f"new/{number}.md")


def tick_by_hand(vault: Vault) -> None:
    for name in NAMES:
        write(vault.place.root / name, "".join(f"- [x] {line}\n" for line in text(name).splitlines() if line))
    vault.commit_human()


def archive_by_hand(vault: Vault) -> None:
    for name in NAMES:
        data = (vault.place.root / name).read_text()
        (vault.place.root / name).unlink()
        write(vault.place.root / "archive" / name, f"---\nstatus: archived\n---\n{data}")
    vault.commit_human()


@pytest.mark.parametrize(
    "work",
    [
        move_one_by_one,
        split_each,
        gather_all,
        correct_each,
        four_of_each_run,
        write_and_rewrite_its_own,
        tick_by_hand,
        archive_by_hand,
    ],
    ids=lambda work: work.__name__,
)
def test_work_on_many_notes_is_no_wipe(work: Callable[[Vault], None], tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    before = head(vault.place.root)
    work(vault)
    assert head(vault.place.root) != before


def test_after_a_yes_the_run_goes_on_with_what_loses_nothing(tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    with vault.transaction("agent: delete", RUN, confirmed=True) as change:
        for name in NAMES[:-1]:
            change.delete(name)
    edit(vault, RUN, **{NAMES[-1]: text(NAMES[-1], LINES - 1)})
    with pytest.raises(MassChange):
        edit(vault, RUN, **{NAMES[-1]: "."})


def test_a_large_run_can_be_undone_with_a_yes(tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    for number in range(COUNT):
        with vault.transaction("agent: new", RUN) as change:
            change.create(f"new/{number}.md", text(str(number)).encode())
    with pytest.raises(MassChange):
        undo(vault, Selection(run="r1"))
    assert undo(vault, Selection(run="r1"), confirmed=True).commit


def test_what_a_pull_would_lose_is_known_before_it_is_taken(tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    root, before = vault.place.root, head(vault.place.root)
    for number, name in enumerate(NAMES):
        if number % 3 == 0:
            write(root / name, f"# {name}\n\ngone\n")
        elif number % 3 == 1:
            (root / name).unlink()
        else:
            (root / name).rename(root / name.replace("/", "-"))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "from elsewhere")
    found = lost_between(vault.git, "", before, "HEAD")
    assert found == {name for number, name in enumerate(NAMES) if number % 3 < 2}
    assert lost_between(vault.git, "", before, "HEAD", most=COUNT) == frozenset()
    assert lost_between(vault.git, "elsewhere/", before, "HEAD") == frozenset()
    with pytest.raises(MassChange):
        Brake(LIMIT).check(found, 0, COUNT, "the pull")


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.chaos) for n in range(3, 30))])
def test_no_order_of_steps_takes_more_than_the_limit(seed: int, tmp_path: Path) -> None:
    """Cuts and deletions of some notes each, by a run and its sub-runs, on and on."""
    chance, vault = random.Random(seed), vault_of(tmp_path)
    for step in range(25):
        chosen = chance.sample(NAMES, chance.randint(1, 4))
        stamp = Stamp("agent", "r1" + chance.choice(("", ".c1", f".c{step}")), tool="vault_edit")
        try:
            with vault.transaction("agent: step", stamp) as change:
                for name in chosen:
                    data = vault.read(name)
                    lines = (data or b"").splitlines(keepends=True)
                    if data is None:
                        continue
                    if chance.random() < 0.2:
                        change.delete(name)
                    else:
                        change.edit(name, data, b"".join(lines[: -chance.randint(1, 4)]))
        except MassChange:
            continue
    assert 0 < lost(vault) <= LIMIT


@pytest.mark.parametrize(
    ("bug", "wipe"), [("only empty notes are lost", by_hand), ("steps are not added up", note_by_note)]
)
def test_a_brake_that_is_too_late_is_caught(
    bug: str, wipe: Callable[[Vault], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(bug, monkeypatch.setattr)
    wipe(vault_of(tmp_path))
