"""What is said of skills, in words or by deed, and what follows: a learned skill that keeps failing is put aside.

Reading and writing the rows is `usage`'s, counting them `stats`'s.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent.errors import UserError
from agent.skills import tree
from agent.skills.skill import FILE, Skill, Source
from agent.skills.stats import IN_A_ROW, Stats, stats
from agent.skills.usage import Opinion, Use, folded, history_path, record, uses
from agent.vault.folders import DEPRECATED, LEARNED, SKILL_HISTORY
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

CORRECTION = timedelta(days=1)
"""So long after a run an edit of what it wrote counts as a correction."""


@dataclass(slots=True)
class History:
    """The uses of all skills of one vault and their counts, read again only for histories that have changed."""

    vault: Vault
    _known: dict[str, tuple[tuple[int, int, int], tuple[Use, ...], Stats]]

    @classmethod
    def of(cls, vault: Vault) -> "History":
        """The history of a vault's skills, nothing read yet."""
        return cls(vault, {})

    def stats(self, name: str) -> Stats:
        """The counts of one skill."""
        return self._read(name)[1]

    def last(self, name: str, session: str) -> datetime | None:
        """When a skill was last used in a session; None for never."""
        return max((use.time for use in self._read(name)[0] if use.session == session), default=None)

    def factors(self, names: Iterable[str]) -> dict[str, float]:
        """What feedback multiplies each skill's score by; those that it leaves alone are not in it."""
        files = self._files()
        found = {}
        for name in names:
            status = files.get(f"{name}.md")
            if status is not None:
                found[name] = self._counted(name, status)[1].factor
            elif not name.isascii():  # a file system may spell it in other code points
                found[name] = self.stats(name).factor
        return {name: factor for name, factor in found.items() if factor != 1.0}

    def _read(self, name: str) -> tuple[tuple[Use, ...], Stats]:
        try:
            status = Path(self.vault.place.root, history_path(name)).lstat()
        except OSError:
            return (), Stats()
        return self._counted(name, status)

    def _counted(self, name: str, status: os.stat_result) -> tuple[tuple[Use, ...], Stats]:
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
        known = self._known.get(name)
        if known is None or known[0] != stamp:
            rows = uses(self.vault, name)
            self._known[name] = known = (stamp, rows, stats(rows))
        return known[1:]

    def _files(self) -> dict[str, os.stat_result]:
        """The histories there are, by file name: one look at the folder, as most skills have none."""
        found = {}
        with suppress(OSError), os.scandir(Path(self.vault.place.root, SKILL_HISTORY)) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    found[entry.name] = entry.stat(follow_symlinks=False)
        return found


def give(
    vault: Vault, name: str, opinion: Opinion, when: datetime, token: str, run: str = "", language: str = "en"
) -> Use:
    """Say of a use of a skill whether it was helpful; commits it. Returns the row. A new note begins in `language`.

    Of the use in the run named, else of the last one that nobody has said anything of; where there is none, the word
    counts as a use of its own, known as `token`. Raises `UserError` for a run that did not use the skill.
    """
    known = list(folded(uses(vault, name)))
    if run and all(use.run != run for use in known):
        raise UserError(
            f"the run {run} did not use the skill {name}", hint=f"vault-agent skills stats {name} lists the runs"
        )
    open_ = [use.run for use in known if not use.feedback]
    about = run or (open_[-1] if open_ else "")
    found = Use(name, when, about or token, activated="feedback" if about else "manual", feedback=opinion)
    record(vault, [found], Stamp("agent", tool="skill_feedback"), language)
    return found


@dataclass(frozen=True, slots=True)
class Wrote:
    """What a run has written: its id, when its last commit was made, the notes in its commits."""

    run: str
    when: datetime
    paths: frozenset[str]


def corrected_runs(path: str, edited: datetime, wrote: Sequence[Wrote]) -> tuple[str, ...]:
    """The runs that the owner's edit of a note corrects: those that have written it within the day before. Pure."""
    return tuple(each.run for each in wrote if path in each.paths and timedelta(0) <= edited - each.when <= CORRECTION)


def correct(vault: Vault, names: Iterable[str], runs: Collection[str], when: datetime) -> tuple[Use, ...]:
    """Record that the owner has corrected what came of these runs, for each of these skills that they used.

    What somebody has said in words stays, and a correction is recorded once.
    """
    found = []
    for name in names:
        said = {use.run: use.feedback for use in folded(uses(vault, name))}
        found += [
            Use(name, when, run, activated="feedback", feedback="corrected")
            for run in sorted(runs)
            if said.get(run) == ""
        ]
    record(vault, found, Stamp("agent", tool="skill_feedback"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PutAside:
    """A learned skill that was moved away: where to, in which commit, and why."""

    name: str
    path: str
    commit: str | None
    why: str

    @property
    def announcement(self) -> str:
        """What the person is told."""
        undo = f"; vault-agent undo {self.commit[:12]} brings it back" if self.commit else ""
        return f"the learned skill {self.name} was put aside in {self.path}: {self.why}{undo}"


def put_aside(vault: Vault, skills: Iterable[Skill], history: History, when: datetime) -> tuple[PutAside, ...]:
    """Move the learned skills that were of no use five times in a row to `skills/deprecated/`, a commit each.

    Undoing the commit brings the skill back; it then has as many uses again before it goes. A skill that a person has
    written is never touched.
    """
    done = []
    for skill in skills:
        if skill.source is not Source.LEARNED or history.stats(skill.name).streak < IN_A_ROW:
            continue
        why = f"its last {IN_A_ROW} uses were of no use"
        stamp = Stamp("agent", tool="skill_feedback")
        # a commit of its own, so that undoing the next one does not start the count where it was
        record(vault, [Use(skill.name, when, "", activated="put_aside")], stamp)
        folder, to = f"{LEARNED}{skill.name}", _free(vault, f"{DEPRECATED}{skill.name}")
        with vault.transaction(f"skills(deprecate): {skill.name}, {why}", stamp) as moved:
            for path in (FILE, *skill.files):
                moved.move(f"{folder}/{path}", f"{to}/{path}")
        done.append(PutAside(skill.name, f"{to}/{FILE}", moved.outcome.commit, why))
    return tuple(done)


def _free(vault: Vault, folder: str) -> str:
    """The folder's name, with a number where it is taken."""
    root = vault.place.root
    taken = set(tree.names(root, DEPRECATED))
    numbers = (folder if number == 1 else f"{folder}-{number}" for number in range(1, 1_000))
    return next(each for each in numbers if each.rpartition("/")[2] not in taken)


def as_document(found: Stats) -> Mapping[str, object]:
    """The counts for `--json`."""
    return {
        "uses": found.uses,
        "auto": found.auto,
        "successes": found.successes,
        "helpful": found.helpful,
        "not_helpful": found.not_helpful,
        "corrected": found.corrected,
        "ineffective_in_a_row": found.streak,
        "success_rate": found.success_rate,
        "helpful_rate": found.helpful_rate,
        "factor": found.factor,
    }
