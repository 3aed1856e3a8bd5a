"""The jobs of goal notes: which notes of the vault are goals that are to be looked at, and what job each one is.

Git finds the few notes with a line `review:`; only these are read. A goal starts a job only if its person wrote what
makes it one: what has arrived and was not looked at does not count, nor a `type` or `review` that a run has written.
"""

import re
from collections.abc import Iterable
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import BadPath
from agent.schedule.goals import GOALS_NOTE, goal_job
from agent.schedule.job import Job, JobProblem
from agent.texts import Language, Sentence
from agent.vault.find import notes_with_line
from agent.vault.folders import OWN_NOTES
from agent.vault.history.blame import blame
from agent.vault.history.commits import claimed_trailers
from agent.vault.history.trailers import HUMAN
from agent.vault.store import Vault

_REVIEW = "^[\"']?review[\"']?[[:space:]]*:"
"""A line of a header that may say how often to look at a goal, as git searches for it."""
_FIELD = re.compile(r"[\"']?(type|review)[\"']?\s*:")


@dataclass(slots=True)
class GoalNotes:
    """The goals of one vault; looks for them only after `changed` has named a note that may be a new one.

    `among` has the notes that may be goals, if the caller knows them: git's search reads every note.
    """

    vault: Vault
    language: Language
    among: frozenset[str] | None = None
    _paths: tuple[str, ...] | None = field(default=None, init=False)
    _parsed: dict[str, tuple[bytes, Job | JobProblem | None]] = field(default_factory=dict, init=False)

    def changed(self, paths: Iterable[str]) -> bool:
        """Notes have changed: True if one of them was a goal, or may have been, when they were loaded last."""
        known, named = set(self._paths or ()), [path for path in paths if self._may_be_goal(path)]
        if not known.issuperset(named):
            self._paths = None
        return not known.isdisjoint(named)

    def load(self) -> tuple[Job | JobProblem, ...]:
        """The jobs of all goals as they are now, and what is wrong with some."""
        if self._paths is None:
            self._paths = tuple(filter(self._may_be_goal, self._look()))
        found = tuple(self._job(path) for path in self._paths)
        self._parsed = {path: self._parsed[path] for path in self._paths if path in self._parsed}
        return tuple(each for each in found if each is not None)

    def _look(self) -> list[str]:
        if self.among is None:
            return notes_with_line(self.vault, _REVIEW)
        return sorted({*self.among, self.vault.home.at(GOALS_NOTE)})

    def _may_be_goal(self, path: str) -> bool:
        home = self.vault.home
        return home.row(path) == OWN_NOTES or home.name_of(path) == GOALS_NOTE

    def _job(self, path: str) -> Job | JobProblem | None:
        try:
            now = self.vault.read_now(path)
            data = self.vault.provenance.own_version(path, now)
        except (BadPath, OSError):
            return None
        if data is None:
            return None
        known = self._parsed.get(path)
        if known is None or known[0] != data:
            job = goal_job(path, data, self.vault.home, self.language, self.vault.content_id(data))
            if job is not None and not self._is_by_person(path, data):
                says = Sentence("`type` or `review` was not written by you, so nothing starts the job")
                job = JobProblem(path, "review", says, Sentence("write the line yourself"))
            known = self._parsed[path] = data, job
        return known[1]

    def _is_by_person(self, path: str, data: bytes) -> bool:
        """True if a person wrote the lines that make a note a goal; a commit that only claims a run as its author
        counts as a run's."""
        wanted = {line for line in data.decode("utf-8", "surrogateescape").splitlines() if _FIELD.match(line)}
        blamed = [(line, commit) for line, commit in blame(self.vault, path) if line in wanted]
        claimed = claimed_trailers(self.vault, {commit for _, commit in blamed})
        if any(trailers.get("vault-actor", HUMAN) != HUMAN for trailers in claimed.values()):
            return False
        is_new = not wanted.issubset(line for line, _ in blamed)
        return not (is_new and self.vault.is_own_version(path, self.vault.content_id(data)))
