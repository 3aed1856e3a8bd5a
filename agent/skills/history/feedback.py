"""Opinions about skills and lessons, in words, by an edit, or in the boxes at the end of a run's note, which are made
and parsed here; and what follows for a learned skill that keeps failing.

A box is about the skill named beside it, or about what the link beside it names; two ticked boxes for one count as no
opinion. `usage` reads and writes the rows, `stats` counts them.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown import blocks, tasks
from agent.skills.history.stats import IN_A_ROW, Stats, count_uses
from agent.skills.history.usage import Opinion, Use, history_path, load_uses, merge_opinions, record_uses
from agent.skills.loading.files import folder_names
from agent.skills.reading.skill import FILE, Skill, SkillSource
from agent.skills.variants.variant import parse_label
from agent.texts import Language, Sentence, in_all_languages, text
from agent.vault.change import Stamp
from agent.vault.folders import DEPRECATED, LEARNED, SKILL_HISTORY
from agent.vault.store import Vault

CORRECTION = timedelta(days=1)
"""The time after a run in which an edit of what it wrote counts as a correction."""
_STAMP = Stamp("agent", tool="skill_feedback")


@dataclass(slots=True)
class SkillHistory:
    """The uses of all skills of a vault and their counts, cached until a history note changes."""

    vault: Vault
    _known: dict[str, tuple[tuple[int, int, int], tuple[Use, ...], Stats]] = field(default_factory=dict)

    def stats(self, name: str) -> Stats:
        """The counts of one skill."""
        return self._load(name)[1]

    def trial_uses(self, name: str, number: int) -> int:
        """The uses of a skill that took a version in the trial with this number."""
        labels = (parse_label(use.trial) for use in self._load(name)[0])
        return sum(label is not None and label[0] == number for label in labels)

    def last(self, name: str, session: str) -> datetime | None:
        """The time of a skill's last use in a session; None for never."""
        return max((use.time for use in self._load(name)[0] if use.session == session), default=None)

    def factors(self, names: Iterable[str]) -> dict[str, float]:
        """The feedback factor of each of these skills whose factor is not 1."""
        try:  # one scan of the folder, as most skills have no history
            there = {file.name for file in Path(self.vault.place.root, self.vault.home.at(SKILL_HISTORY)).iterdir()}
        except OSError:
            return {}
        # a file system may spell a name outside ASCII in other code points
        used = [name for name in names if f"{name}.md" in there or not name.isascii()]
        return {name: factor for name in used if (factor := self.stats(name).factor) != 1.0}

    def _load(self, name: str) -> tuple[tuple[Use, ...], Stats]:
        try:
            status = Path(self.vault.place.root, self.vault.home.at(history_path(name))).lstat()
        except OSError:
            return (), Stats()
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
        known = self._known.get(name)
        if known is None or known[0] != stamp:
            rows = load_uses(self.vault, name)
            self._known[name] = known = (stamp, rows, count_uses(rows))
        return known[1:]


def record_opinion(
    vault: Vault, name: str, opinion: Opinion, when: datetime, token: str, run: str = "", language: Language = "en"
) -> Use:
    """Record an opinion about a use of a skill, in a commit; returns the row. `language` is that of a new note.

    The use is that in `run`, else the last one without an opinion; without either, the opinion counts as a use with
    `token` as its run. Raises `UserError` for a run that did not use the skill.
    """
    known = list(merge_opinions(load_uses(vault, name)))
    if run and all(use.run != run for use in known):
        raise UserError(
            "the run {run} did not use the skill {name}",
            hint="vault-agent skills stats {name} lists the runs",
            run=run,
            name=name,
        )
    unrated = [use.run for use in known if not use.feedback]
    about = run or (unrated[-1] if unrated else "")
    row = Use(name, when, about or token, activated="feedback" if about else "manual", feedback=opinion)
    record_uses(vault, [row], _STAMP, language)
    return row


@dataclass(frozen=True, slots=True)
class RunWrites:
    """The notes in a run's commits, and the time of the last commit."""

    run: str
    when: datetime
    paths: frozenset[str]


def corrected_runs(path: str, edited: datetime, wrote: Sequence[RunWrites]) -> tuple[str, ...]:
    """The runs that the owner's edit of a note corrects: those that wrote it within the day before."""
    return tuple(each.run for each in wrote if path in each.paths and timedelta(0) <= edited - each.when <= CORRECTION)


def record_corrections(vault: Vault, names: Iterable[str], runs: Collection[str], when: datetime) -> tuple[Use, ...]:
    """Record, for each skill, the owner's correction of these runs; returns the rows, one per use.

    A use with an opinion keeps it.
    """
    rows = []
    for name in names:
        opinions = {use.run: use.feedback for use in merge_opinions(load_uses(vault, name))}
        unrated = (run for run in sorted(runs) if opinions.get(run) == "")
        rows += [Use(name, when, run, activated="feedback", feedback="corrected") for run in unrated]
    record_uses(vault, rows, _STAMP)
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class PutAside:
    """A learned skill that was moved away: its new path, the commit (None: queued), and the reason."""

    name: str
    path: str
    commit: str | None
    why: str

    @property
    def announcement(self) -> str:
        """The sentence for the person."""
        undo = f"; vault-agent undo {self.commit[:12]} brings it back" if self.commit else ""
        return f"the learned skill {self.name} was put aside in {self.path}: {self.why}{undo}"


def put_aside(vault: Vault, skills: Iterable[Skill], history: SkillHistory, when: datetime) -> tuple[PutAside, ...]:
    """Move learned skills with five ineffective uses in a row to `skills/deprecated/`, one commit per skill.

    Undoing the commit restores the skill with a new count. A skill that a person wrote is never moved.
    """
    done = []
    for skill in skills:
        if skill.source is not SkillSource.LEARNED or history.stats(skill.name).streak < IN_A_ROW:
            continue
        why = f"its last {IN_A_ROW} uses were of no use"
        # a separate commit, so that undoing the next one starts a new count
        record_uses(vault, [Use(skill.name, when, "", activated="put_aside")], _STAMP)
        folder, to = vault.home.at(f"{LEARNED}{skill.name}"), _free_folder(vault, skill.name)
        aside = "skills(deprecate): {skill}, its last {count} uses were of no use"
        with vault.transaction(Sentence(aside, skill=skill.name, count=IN_A_ROW), _STAMP) as moved:
            for path in (FILE, *skill.files):
                moved.move(f"{folder}/{path}", f"{to}/{path}")
        done.append(PutAside(skill.name, f"{to}/{FILE}", moved.outcome.commit, why))
    return tuple(done)


def _free_folder(vault: Vault, name: str) -> str:
    """A free folder for the skill in `skills/deprecated/`, with a number if its name is taken."""
    aside = vault.home.at(DEPRECATED)
    taken = set(folder_names(vault.place.root, aside))
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, 1_000))
    return f"{aside}{next(each for each in names if each not in taken)}"


_BOX = re.compile(r"(?:`?([\w-]+)`?|\[\[([^\]|]+)[^\]]*\]\])\s*[:：]\s*(\S.*)")


def feedback_form(names: Iterable[str], question: str, language: Language) -> str:
    """The question with this key and two boxes for each name or link; empty without any."""
    opinions = text("skill_feedback.helpful", language), text("skill_feedback.not_helpful", language)
    boxes = [text("skill_feedback.box", language, name=name, opinion=each) for name in names for each in opinions]
    return "\n".join([text(question, language), "", *(f"- [ ] {box}" for box in boxes)]) if boxes else ""


def parse_feedback_form(note: str) -> Mapping[str, Opinion]:
    """The opinions by the names, or the targets of links, that have exactly one ticked box, for a note in any
    language."""
    opinions_by_words: dict[str, Opinion] = {
        **dict.fromkeys(in_all_languages("skill_feedback.helpful"), "helpful"),
        **dict.fromkeys(in_all_languages("skill_feedback.not_helpful"), "not_helpful"),
    }
    found: dict[str, set[Opinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(note)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done and (opinion := opinions_by_words.get(box[3].strip())):
            found.setdefault(box[1] or box[2], set()).add(opinion)
    return {name: opinions.pop() for name, opinions in found.items() if len(opinions) == 1}
