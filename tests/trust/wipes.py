"""Ways in which many notes vanish at once, and what the brake must do about each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree

from agent.errors import MassChange
from agent.vault.change import Outcome, Stamp
from agent.vault.store import Vault
from tests.trust import checks
from tests.vaults import head, make_vault

LIMIT = 20
_SHORT = 40
"""Bytes: a note with less is nothing but its header."""
Wipe = Callable[[Vault, Sequence[str], str, bool], Outcome]


def text(name: str) -> str:
    """A note that says something under its header."""
    return f"---\ntitle: {name}\n---\n# {name}\n\nwhat {name} says\n"


def _emptied(vault: Vault, path: str, how: int) -> bytes:
    """What is left of a note: nothing, white space, its header."""
    return [b"", b" \n\t\n", (vault.read(path) or b"").partition(b"# ")[0]][how % 3]


def delete(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """One transaction deletes them all."""
    with vault.transaction("agent: delete", Stamp("agent", run), confirmed=confirmed) as change:
        for path in paths:
            change.delete(path)
    return change.outcome


def empty(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """One transaction empties them all, each in another way."""
    with vault.transaction("agent: empty", Stamp("agent", run), confirmed=confirmed) as change:
        for number, path in enumerate(paths):
            change.edit(path, vault.read(path) or b"", _emptied(vault, path, number))
    return change.outcome


def bit_by_bit(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """Small transactions of one run, of which the last one is too much."""
    outcome = Outcome()
    for start in range(0, len(paths), 4):
        part = paths[start : start + 4]
        outcome = (delete if start % 8 else empty)(vault, part, run, confirmed)
    return outcome


def behind_one_copy(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """Notes with the same text are deleted while one note with that text is made: that is no move."""
    with vault.transaction("agent: tidy", Stamp("agent", run), confirmed=confirmed) as change:
        change.create("kept.md", vault.read(paths[0]) or b"")
        for path in paths:
            change.delete(path)
    return change.outcome


def by_hand(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """The files are gone from the disk, as when a folder is not mounted."""
    for path in paths:
        (vault.place.root / path).unlink(missing_ok=True)
    return vault.commit_human(confirmed=confirmed)


def emptied_by_hand(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """The files are empty, as after a sync program's accident."""
    for number, path in enumerate(paths):
        if (vault.place.root / path).stat().st_size >= _SHORT:
            (vault.place.root / path).write_bytes(_emptied(vault, path, number))
    return vault.commit_human(confirmed=confirmed)


def by_hand_behind_one_copy(vault: Vault, paths: Sequence[str], run: str, confirmed: bool) -> Outcome:
    """Notes with the same text are gone from the disk, and one copy of that text is new."""
    if (vault.place.root / paths[0]).exists():
        (vault.place.root / "kept.md").write_bytes(vault.read(paths[0]) or b"")
    return by_hand(vault, paths, run, confirmed)


WIPES: dict[str, Wipe] = {
    "delete": delete,
    "empty": empty,
    "bit by bit": bit_by_bit,
    "behind one copy": behind_one_copy,
    "by hand": by_hand,
    "emptied by hand": emptied_by_hand,
    "by hand behind one copy": by_hand_behind_one_copy,
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One vault of `total` notes, of which `lost` are to vanish in the way called `kind`."""

    kind: str
    total: int
    lost: int

    @property
    def limit(self) -> int:
        return max(LIMIT, self.total * 5 // 100)


def scenarios(count: int, seed: str) -> list[Scenario]:
    """Every kind in turn; one above the limit, at the limit, and far above it, in small vaults and larger ones."""
    rng = Random(seed)
    kinds = list(WIPES)
    found = []
    for number in range(count):
        total = 60 if number % 4 else 500
        limit = max(LIMIT, total * 5 // 100)
        lost = [limit + 1, limit, rng.randint(limit + 1, limit + 30)][number // len(kinds) % 3]
        found.append(Scenario(kinds[number % len(kinds)], total, lost))
    return found


def check(folder: Path, scenario: Scenario) -> None:
    """Above the limit nothing is committed and no note of ours touched, until a person says yes; below it goes."""
    same = "copy" in scenario.kind
    names = [f"notes/{number:03d}.md" for number in range(scenario.total)]
    vault = make_vault(folder, {name: text("same" if same else name) for name in names})
    root, wipe = vault.place.root, WIPES[scenario.kind]
    lost = names[: scenario.lost + same]  # the copy makes up for one
    held = scenario.limit - scenario.lost
    shrinking = scenario.kind == "bit by bit" and scenario.limit > LIMIT  # the share is of the notes that are left
    before = head(root)
    try:
        outcome = wipe(vault, lost, "r1", False)
    except MassChange as error:
        assert held < 0 or shrinking, f"braked at the limit: {scenario}"
        assert error.paths and error.hint
        if scenario.kind != "bit by bit":
            assert head(root) == before, f"propagated: {scenario}"
    else:
        assert held >= 0, f"propagated: {scenario}"
        assert outcome.commit or outcome.human
        return
    held_now = checks.blobs(root, [f"HEAD:{name}" for name in names])
    gone = sum(1 for data in held_now if data is None or len(data) < _SHORT)
    assert gone <= scenario.limit + same, f"{gone} are gone from HEAD: {scenario}"
    left = [n for n, data in zip(names, held_now, strict=True) if n in lost and data and len(data) >= _SHORT]
    agreed = wipe(vault, left if scenario.kind == "bit by bit" else lost, "r1", True)
    assert agreed.commit or agreed.human, f"a yes is not heard: {scenario}"


def clear(folder: Path) -> None:
    """Make room for the next vault."""
    rmtree(folder, ignore_errors=True)
