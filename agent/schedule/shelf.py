"""All jobs of a vault, by id, as its person wrote or accepted them on this machine.

A note is parsed again only when its text has changed, so that a daemon may look as often as it likes. Of a note that
arrived from elsewhere only what its person has looked at here counts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import BadPath, Unknown, UserError
from agent.markdown.note import Note
from agent.schedule.goal_notes import GoalNotes
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.texts import Sentence, joined
from agent.vault.folders import JOBS, is_template
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Shelf:
    """The jobs at one moment, sorted by id. `waiting` are the notes of which something arrived that its person has not
    looked at yet; what they said before still counts."""

    jobs: tuple[Job, ...] = ()
    problems: tuple[JobProblem, ...] = ()
    waiting: tuple[str, ...] = ()

    def get(self, id: str) -> Job | None:
        """The job with this id."""
        return next((job for job in self.jobs if job.id == id), None)

    def find(self, name: str) -> Job:
        """The job that a person means by its id, or by the path, the file name or the title of its note.

        Raises `UserError` if there is none or more than one, and if its note has a problem or waits for a look.
        """
        path = name.removesuffix(".md")
        found = [job for job in self.jobs if job.id == name] or [job for job in self.jobs if _is_at(job.path, path)]
        found = found or [job for job in self.jobs if job.title.casefold() == name.casefold()]
        if len(found) == 1:
            return found[0]
        if found:
            paths = joined([job.path for job in found], ", ")
            raise UserError("several jobs have the name {name}", hint="name its note: {paths}", name=name, paths=paths)
        problem = next((each for each in self.problems if _is_at(each.path, path)), None)
        if problem is not None:
            raise problem_error(problem)
        if any(_is_at(each, path) for each in self.waiting):
            hint = "vault-agent approvals shows it; it runs once you say yes"
            raise UserError("{name} arrived from elsewhere and was not looked at here", hint=hint, name=name)
        raise Unknown("there is no job {name}", hint="vault-agent jobs list shows them", name=name)


def problem_error(problem: JobProblem) -> UserError:
    """The problem of a job's note, to be raised."""
    return UserError(
        "{path} cannot run: {problem}", hint="{fix}", path=problem.path, problem=problem.message, fix=problem.hint
    )


@dataclass(slots=True)
class JobShelf:
    """Loads the jobs of one vault; keeps what it parsed. Without `goals` only those that have a note in `jobs/`: such
    a note may be changed by whoever manages jobs, a goal is its person's alone. `notes` are all notes, if they are
    known: a shelf that is used once need not ask git."""

    vault: Vault
    goals: GoalNotes | None = None
    notes: Collection[str] | None = None
    _parsed: dict[str, tuple[bytes, Job | JobProblem | None]] = field(default_factory=dict, init=False)

    def load(self, paths: Sequence[str] | None = None) -> Shelf:
        """The jobs as they are now, in the notes at `paths` if these are known, else in all notes of the folder."""
        listed = self._listed() if paths is None else paths
        names = [path for path in listed if is_job_note(self.vault, path)]
        found: list[Job] = []
        problems: list[JobProblem] = []
        waiting = []
        for path in names:
            try:
                data = self.vault.read_now(path)
                own = self.vault.provenance.own_version(path, data)
            except (BadPath, OSError):
                continue
            known = self._job(path, own)
            if own != data and data is not None and (known is not None or parse_job(path, data) is not None):
                waiting.append(path)
            match known:
                case Job() as job:
                    found.append(job)
                case JobProblem() as problem:
                    problems.append(problem)
                case None:
                    pass
        goals = self.goals.load() if self.goals is not None and paths is None else ()
        found += [each for each in goals if isinstance(each, Job)]
        problems += [each for each in goals if isinstance(each, JobProblem)]
        for gone in self._parsed.keys() - set(names):
            del self._parsed[gone]
        jobs, doubles = _with_own_ids(found)
        return Shelf(tuple(jobs), tuple(sorted((*problems, *doubles), key=lambda each: each.path)), tuple(waiting))

    def containing(self, text: str) -> tuple[str, ...]:
        """The notes that had this text when they were loaded last."""
        wanted = text.encode()
        return tuple(path for path, (data, _) in self._parsed.items() if wanted in data)

    def _listed(self) -> list[str]:
        folder = self.vault.home.at(JOBS)
        if self.notes is None:
            return self.vault.note_paths(folder)
        root = self.vault.place.root
        found = (each.relative_to(root).as_posix() for each in (root / folder).rglob("*.md"))
        return sorted(path for path in found if path in self.notes)

    def _job(self, path: str, data: bytes | None) -> Job | JobProblem | None:
        if data is None:
            return None
        known = self._parsed.get(path)
        if known is None or known[0] != data:
            is_copy = b"conflict_of" in data and "conflict_of" in Note.parse(data).header
            known = data, None if is_copy else parse_job(path, data, self.vault.content_id(data))
            self._parsed[path] = known
        return known[1]


def is_job_note(vault: Vault, path: str) -> bool:
    """True for a note in which a job may be, by its place."""
    return vault.home.row(path).path == JOBS and not is_template(path)


def _with_own_ids(jobs: Sequence[Job]) -> tuple[list[Job], list[JobProblem]]:
    """The jobs whose id no other one has, in any spelling of case: their histories are files; and the others."""
    by_id: dict[str, list[Job]] = {}
    for job in jobs:
        by_id.setdefault(job.id.casefold(), []).append(job)
    alone = [each[0] for each in by_id.values() if len(each) == 1]
    return sorted(alone, key=lambda job: job.id), [
        _double(job, by_id) for same in by_id.values() if len(same) > 1 for job in same
    ]


def _double(job: Job, by_id: Mapping[str, Sequence[Job]]) -> JobProblem:
    other = next(each.path for each in by_id[job.id.casefold()] if each is not job)
    message = Sentence("{path} has the same id: {id}", path=other, id=job.id)
    return JobProblem(job.path, "id", message, Sentence("give one of the two another id"))


def _is_at(path: str, name: str) -> bool:
    """True if a person may mean the note at `path` by this name, without `.md`."""
    return name in {path.removesuffix(".md"), PurePosixPath(path).stem}
