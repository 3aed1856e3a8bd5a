"""All jobs of a vault, by id, as its person wrote or accepted them on this machine.

A note is parsed again only when its text has changed, so that a daemon may look as often as it likes. Of a note that
arrived from elsewhere only what its person has looked at here counts.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from importlib import import_module
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import BadPath, Unknown, UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.schedule.header_fields import plain_id
from agent.schedule.job import NO_TYPE, Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.triggers import BadTrigger, cron_of
from agent.texts import Language, Sentence, joined, text
from agent.vault.find import notes_with_line
from agent.vault.folders import JOBS, OWN_NOTES, PROFILE, AgentFolder, is_template
from agent.vault.listing import listed
from agent.vault.store import Vault

GOAL_TYPE = "goal"
GOALS_NOTE = f"{PROFILE}22-goals-aspirations.md"
"""The profile's note of goals, in the agent's folder."""
_REVIEWS = {"daily": "0 9 * * *", "weekly": "0 9 * * 1", "monthly": "0 9 1 * *"}
_OVER = frozenset({"done", "completed", "achieved", "paused", "cancelled", "dropped", "archived"})
_KEPT = (
    *("timezone", "priority", "channel", "spend", "timeout", "run_on", "active_days"),
    *("approval_required", "catch_up", "created"),
)
"""The fields of a job that a goal's note may have, too."""


def is_goal(path: str, note: Note, home: AgentFolder) -> bool:
    """True if the note at `path` is a goal."""
    is_own = home.row(path) is OWN_NOTES and note.type == GOAL_TYPE
    return is_own or home.name_of(path) == GOALS_NOTE


def is_over(note: Note) -> bool:
    """True for a goal that was reached, or that nobody works towards now."""
    return str(note.header.get("status", "")).casefold() in _OVER


def goal_job(path: str, data: bytes, home: AgentFolder, language: Language, digest: str) -> Job | JobProblem | None:
    """The job of a goal's note; None for a note that is no goal, is over, or is not to be looked at."""
    note = Note.parse(data)
    review = note.header.get("review")
    if not is_goal(path, note, home) or review in (None, "", "off", False):
        return None
    if is_over(note):
        return None
    try:
        cron = _cron(review)
    except BadTrigger as error:
        return JobProblem(path, "review", error.message, error.hint)
    title = note.title(path)
    header: Mapping[str, Value] = {
        **{key: note.header[key] for key in _KEPT if key in note.header},
        "id": f"goal-{plain_id(note.id or PurePosixPath(path).stem, GOAL_TYPE)}",
        "type": "job",
        "title": text("goal_job.title", language, title=title),
        "on": {"cron": cron},
        "source": "goal",
    }
    task = text("goal_job.task", language, link=f"[[{path.removesuffix('.md')}]]")
    return parse_job(path, Note.compose(header, f"{task}\n").data, digest)


def _cron(review: Value) -> str:
    """The expression of `weekly` and its like, or a given one; once a day at most. Raises `BadTrigger`."""
    hint = "daily, weekly, monthly, or a cron expression for once a day at most"
    if not isinstance(review, str):
        raise BadTrigger("{value} is no time to look at a goal", hint=hint, value=str(review)[:80])
    cron = _REVIEWS.get(review.strip().casefold()) or cron_of(review)
    minute, hour, *_ = cron.split()
    if not (minute.isdigit() and hour.isdigit()):
        raise BadTrigger("{value} is no time to look at a goal", hint=hint, value=review[:80])
    return cron


_REVIEW = "^[\"']?review[\"']?[[:space:]]*:"
"""A line of a header that may say how often to look at a goal, as git searches for it."""
_REVIEW_LINE = re.compile(rb"^[\"']?review[\"']?\s*:", re.MULTILINE)
"""The same, in a note's bytes."""
_MOST = 500
"""Changed notes that are read to see whether they may be goals; git searches all notes sooner than it reads more."""
_FIELD = re.compile(r"[\"']?(type|review)[\"']?\s*:")


def _unknown() -> None:
    """None: it is not known which notes may be goals."""


@dataclass(slots=True)
class GoalNotes:
    """The goals of one vault; looks for them once, and then only among the notes that `changed` has named.

    `among` returns the notes that may be goals, if the caller knows them (else None): git's search reads every note.
    """

    vault: Vault
    language: Language
    among: Callable[[], frozenset[str] | None] = _unknown
    _paths: tuple[str, ...] | None = field(default=None, init=False)
    _changed: set[str] = field(default_factory=set, init=False)
    _parsed: dict[str, tuple[bytes, Job | JobProblem | None]] = field(default_factory=dict, init=False)

    def changed(self, paths: Iterable[str]) -> bool:
        """Notes have changed: True if one of them was a goal, or may have been, when they were loaded last."""
        known, named = set(self._paths or ()), {path for path in paths if self._may_be_goal(path)}
        self._changed |= named - known
        return not known.isdisjoint(named)

    def load(self) -> tuple[Job | JobProblem, ...]:
        """The jobs of all goals as they are now, and what is wrong with some."""
        changed, self._changed = self._changed, set()
        if len(changed) > _MOST:
            self._paths = self._own(notes_with_line(self.vault, _REVIEW))
        else:
            known = self._look() if self._paths is None else self._paths
            self._paths = self._own({*known, *self._with_line(changed)})
        found = tuple(self._job(path) for path in self._paths)
        self._parsed = {path: self._parsed[path] for path in self._paths if path in self._parsed}
        return tuple(each for each in found if each is not None)

    def _look(self) -> Collection[str]:
        known = self.among()
        if known is None:
            return notes_with_line(self.vault, _REVIEW)
        return {*known, self.vault.home.at(GOALS_NOTE)}

    def _own(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(filter(self._may_be_goal, paths)))

    def _with_line(self, paths: Iterable[str]) -> set[str]:
        """The notes, without what git ignores, that have a line such as a goal's."""
        return listed(self.vault, {path for path in paths if _REVIEW_LINE.search(self._read(path))})

    def _read(self, path: str) -> bytes:
        try:
            return self.vault.read_now(path) or b""
        except (BadPath, OSError):
            return b""

    def _may_be_goal(self, path: str) -> bool:
        home = self.vault.home
        return home.row(path) is OWN_NOTES or home.name_of(path) == GOALS_NOTE

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
        commits = import_module("agent.vault.history.commits")  # with what reads commits
        found = commits.blame(self.vault, path)
        human = import_module("agent.vault.history.commit_index").HUMAN
        blamed = [(line, commit) for line, commit in found if line in wanted]
        claimed = commits.claimed_trailers(self.vault, {commit for _, commit in blamed})
        if any(trailers.get("vault-actor", human) != human for trailers in claimed.values()):
            return False
        is_new = not wanted.issubset(line for line, _ in blamed)
        return not (is_new and self.vault.is_own_version(path, self.vault.content_id(data)))


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

    def _named(self, name: str, path: str) -> list[Job]:
        """The jobs with this id; if there is none, those in this note, else those of this title."""
        by_id = [job for job in self.jobs if job.id == name]
        by_note = [job for job in self.jobs if _is_at(job.path, path)]
        return by_id or by_note or [job for job in self.jobs if job.title.casefold() == name.casefold()]

    def whole_name(self, part: str) -> str:
        """The id of the one job that has this in its title, if none is named so: to look at it, not to change it.

        Raises `UserError` if several have.
        """
        if self._named(part, part.removesuffix(".md")):
            return part
        found = [job for job in self.jobs if part.casefold() in job.title.casefold()]
        if len(found) > 1:
            titles = joined([f"{job.title} ({job.id})" for job in found], ", ")
            raise UserError(
                "several jobs have {part} in their titles", hint="name one of them: {titles}", part=part, titles=titles
            )
        return found[0].id if found else part

    def find(self, name: str) -> Job:
        """The job that a person means by its id, or by the path, the file name or the title of its note.

        Raises `UserError` if there is none or more than one, and if its note has a problem or waits for a look.
        """
        path = name.removesuffix(".md")
        found = self._named(name, path)
        if len(found) == 1:
            return found[0]
        if found:
            paths = joined([job.path for job in found], ", ")
            raise UserError("several jobs have the name {name}", hint="name its note: {paths}", name=name, paths=paths)
        problem = next((each for each in self.problems if _is_at(each.path, path)), None)
        if problem is not None:
            raise problem_error(problem)
        if any(_is_at(each, path) for each in self.waiting):
            hint = "vault-agent needs shows it; it runs once you say yes"
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
        found: list[Job | JobProblem | None] = []
        waiting: list[str] = []
        for path in names:
            with suppress(BadPath, OSError):
                known, is_waiting = self._read(path)
                found.append(known or self._without_type(path))
                waiting += [path] if is_waiting else []
        found += self.goals.load() if self.goals is not None and paths is None else ()
        for gone in self._parsed.keys() - set(names):
            del self._parsed[gone]
        jobs, doubles = _with_own_ids([each for each in found if isinstance(each, Job)])
        problems = [*(each for each in found if isinstance(each, JobProblem)), *doubles]
        return Shelf(tuple(jobs), tuple(sorted(problems, key=lambda each: each.path)), tuple(waiting))

    def _read(self, path: str) -> tuple[Job | JobProblem | None, bool]:
        """The job in a note as its person wrote it, and whether another version of it waits for a look; raises
        `BadPath` and `OSError`."""
        data = self.vault.read_now(path)
        own = self.vault.provenance.own_version(path, data)
        known = self._job(path, own)
        if data is None or own == data:
            return known, False
        return known, known is not None or parse_job(path, data) is not None

    def _without_type(self, path: str) -> JobProblem | None:
        """That a note of its person's here, with no type at all, is no job; None for any other."""
        own = self.vault.own_version(path)
        if own is None or Note.parse(own).type is not None:
            return None
        what = Sentence("it is no job: its header has no `type: job`")
        return JobProblem(path, NO_TYPE, what, Sentence("add it, and `on:` with a time; or move the note"))

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
    single = [each[0] for each in by_id.values() if len(each) == 1]
    return sorted(single, key=lambda job: job.id), [
        _double(job, by_id) for same in by_id.values() if len(same) > 1 for job in same
    ]


def _double(job: Job, by_id: Mapping[str, Sequence[Job]]) -> JobProblem:
    other = next(each.path for each in by_id[job.id.casefold()] if each is not job)
    message = Sentence("{path} has the same id: {id}", path=other, id=job.id)
    return JobProblem(job.path, "id", message, Sentence("give one of the two another id"))


def _is_at(path: str, name: str) -> bool:
    """True if a person may mean the note at `path` by this name, without `.md`."""
    return name in {path.removesuffix(".md"), PurePosixPath(path).stem}
