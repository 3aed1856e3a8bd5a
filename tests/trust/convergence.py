"""Three clones live through a series of deeds; when all is quiet they must be equal, and no line may be missing."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import yaml

from tests.remotes import git_as
from tests.trust import checks, deeds
from tests.trust.clones import PLAIN, Clone, Company, clones, marks
from tests.trust.deeds import Deed
from tests.trust.forks import PROJECT

OPERATIONS = 60
ROUNDS = 8
"""The most rounds of all clones until nothing moves."""
NOTES = {
    "plan.md": "---\nid: plan\nmood: mark-1\n---\n# Plan\n\n- [ ] mark-2\n- [ ] mark-3\n\nmark-4\n\nmark-5\n",
    "tea.md": "# Tea\n\nGreen mark-6.\n\nBlack mark-7.\n\nSee [[plan]].\n",
    "trips/rome.md": "---\nid: rome\n---\n# Rome\n\n- [ ] pack mark-8\n- [x] book mark-9\n\nmark-10\n",
    "trips/paris.md": "# Paris\n\nmark-11\n\nmark-12\n\nmark-13\n",
    "people/bob.md": "---\nid: bob\ntags: [a, b]\n---\nmark-14, see [[trips/rome]]\n",
    "daily/2026-11-21.md": "# 2026-11-21\n\n- 08:00 mark-15\n",
}
WEIGHTS: dict[Deed, int] = {
    deeds.edit: 14,
    deeds.header: 4,
    deeds.tick: 3,
    deeds.log: 5,
    deeds.create: 6,
    deeds.delete: 3,
    deeds.rename: 5,
    deeds.move_folder: 2,
    deeds.sync: 12,
    deeds.backup: 5,
    deeds.go_offline: 1,
    deeds.stage: 2,
    deeds.commit_here: 2,
    deeds.pull: 3,
    deeds.restore: 1,
    deeds.rewrite: 1,
}
KILLS = 4


@dataclass(slots=True)
class Killer:
    """Starts syncs in another process and has them killed."""

    process: "subprocess.Popen[bytes] | None" = None
    killed: int = 0
    tried: int = 0

    def kill(self, company: Company, clone: Clone, rng: Random) -> None:
        """A sync dies at any point, often while it writes notes."""
        order = {
            "root": str(clone.root),
            "state": str(clone.state),
            "remote": str(company.remote),
            "now": clone.clock.now().isoformat(),
            "ids": clone.clock.ids,
            "within": rng.random() < 0.5,
            "family": rng.random() < 0.3,
        }
        order["at"] = rng.randint(1, 60 if order["within"] else 200)
        clone.clock.ids += 10_000
        code = self.run(order)
        self.tried += 1
        self.killed += code == -9
        company.say(f"{clone.name}: a sync is killed ({code}) at {order['at']} {order['within']} {order['family']}")
        assert code in {0, -9}, f"the sync ended with {code}"

    def run(self, order: dict[str, object]) -> int:
        """The exit status of a sync."""
        if self.process is None:
            command = [sys.executable, "-m", "tests.trust.syncer"]
            self.process = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        if self.process is not None and self.process.stdin and self.process.stdout:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


@dataclass(slots=True)
class Story:
    """One seed: what was done, and what came of it."""

    seed: int
    log: list[str] = field(default_factory=list)
    rounds: int = 0
    lines: int = 0


def live(folder: Path, seed: int, killer: Killer, skip: frozenset[int] = frozenset()) -> Story:
    """Run one series and check what is left; raises `AssertionError` with the seed and all that was done.

    `skip` are the numbers of deeds that are left out, to make a failing series shorter.
    """
    story = Story(seed)
    company = clones(folder, NOTES)
    story.log = company.log
    company.log.clear()
    try:
        for number in range(OPERATIONS):
            if number not in skip:
                company.say(f"[{number}]")
                _one(company, killer, Random(f"{seed}-{number}"))
        company.say("[quiet]")
        story.rounds = settle(company)
        check(company)
    except Exception as error:
        done = "\n".join(company.log)
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n{done}") from error
    story.lines = len(company.saved)
    return story


def _one(company: Company, killer: Killer, rng: Random) -> None:
    company.advance(rng)
    clone = rng.choice(company.clones)
    found: list[Deed] = [*WEIGHTS, killer.kill]
    (deed,) = rng.choices(found, [*WEIGHTS.values(), KILLS])
    is_busy = clone.middle in {"merge", "rebase"}
    if is_busy and deed not in {deeds.sync, deeds.backup, deeds.pull, deeds.go_offline, deeds.restore, killer.kill}:
        return  # a person who is in the middle of a merge writes nothing else
    if deed == deeds.sync and clone.name == PLAIN and not clone.is_stuck:
        deed = deeds.backup
    deed(company, clone, rng)


def settle(company: Company) -> int:
    """All finish what they have begun and sync until nothing moves; returns the number of rounds."""
    for clone in company.clones:
        clone.offline = 0
        clone.free()
        if clone.middle in {"merge", "rebase"}:
            clone.git(clone.middle, "--abort")
        elif clone.middle == "staged":
            clone.tries("commit", "-q", "-m", "The staged part")
        clone.middle = ""
    for number in range(1, ROUNDS + 1):
        ends = [company.answered(clone).end for clone in company.clones]
        if len({clone.vault.head for clone in company.clones}) == 1 and set(ends) == {"synced"}:
            return number
    raise AssertionError(f"not quiet after {ROUNDS} rounds")


def check(company: Company) -> None:
    """What must hold when all is quiet."""
    first, *others = company.clones
    files = _files(first.root)
    for clone in company.clones:
        assert clone.vault.head == company.main(), f"{clone.name} is elsewhere"
        assert clone.git("status", "--porcelain", "--untracked-files=all") == "", f"{clone.name} is not clean"
        checks.check_sound(clone.root)
    for clone in others:
        assert _files(clone.root) == files, f"{first.name} and {clone.name} differ"
    git_as(company.remote, "Anna", "fsck", "--full", "--no-dangling")
    _check_lines(company, files)
    _check_notes(files)


def _files(root: Path) -> dict[str, bytes]:
    found = {}
    for folder, names, files in os.walk(root):
        if ".git" in names:
            names.remove(".git")
        for name in files:
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = path.read_bytes()
    return found


def _check_lines(company: Company, files: dict[str, bytes]) -> None:
    """Every line that nobody took out is in the notes, and every other one in the history."""
    text = b"\n".join(files.values()).decode()
    here = marks(text)
    lost = company.saved - company.dropped - company.gone - here
    assert not lost, f"lost: {sorted(lost)}"
    taken_out = company.dropped - company.gone - here
    if taken_out:
        history = set(checks.reachable_lines(company.remote))
        for clone in company.clones:
            history |= checks.reachable_lines(clone.root)
        missing = taken_out - marks(b"\n".join(history).decode())
        assert not missing, f"not even in the history: {sorted(missing)}"
    done = {mark for line in text.split("\n") if line.startswith("- [x]") for mark in marks(line)}
    opened = (company.ticked & here) - done
    assert not opened, f"no longer ticked: {sorted(opened)}"


class _Strict(yaml.SafeLoader):
    """Refuses a key that is there twice."""


def _mapping(loader: _Strict, node: yaml.MappingNode) -> dict[object, object]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


_Strict.add_constructor("tag:yaml.org,2002:map", _mapping)


def _check_notes(files: dict[str, bytes]) -> None:
    """No conflict markers, no broken header, no id twice."""
    ids: dict[object, str] = {}
    for path, data in files.items():
        text = data.decode()
        found = [line for line in text.split("\n") if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||"))]
        assert not found, f"{path} has conflict markers"
        if not text.startswith("---\n"):
            assert "\nmood: " not in text, f"{path} has lost the fence of its header"
            continue
        fence = text.find("\n---\n", 3)
        assert fence > 0, f"{path} has an open header"
        values = yaml.load(text[4:fence], _Strict)
        assert isinstance(values, dict), f"{path} has no keys in its header"
        if "id" in values:
            assert values["id"] not in ids, f"{path} and {ids[values['id']]} have the id {values['id']}"
            ids[values["id"]] = path
