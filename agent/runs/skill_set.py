"""The skills of one vault: matched to a task, reviewed, rated, put aside.

A skill that is put aside is announced in the day's note. The definition of a skill and the matching are left to
`agent.skills`, the skills that a run follows to `active_skills`.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from agent.config.resources import resource
from agent.config.skill_settings import SkillSettings as Settings
from agent.context.budget import MESSAGE, Count
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.bus import ignore_event
from agent.events.runs import SkillRated
from agent.index.embedder import Embedder
from agent.memory import daily
from agent.memory.capture.writer import Addition
from agent.skills.history.feedback import PutAside, SkillHistory, feedback_form, put_aside, record_opinion
from agent.skills.history.usage import Opinion, Use
from agent.skills.loading.files import BadFolder, Pin, pins_of, skill_locations
from agent.skills.loading.library import SkillLibrary
from agent.skills.matching.matcher import Matched, MatchState, MatchTask, match
from agent.skills.matching.similarity import Similarity
from agent.skills.matching.skill_text import SelectionLimits, compose_text
from agent.skills.reading.skill import Skill
from agent.skills.trust.owner_edits import carry_trust, load_owner_edits, trust_approved
from agent.skills.trust.reviews import ask_reviews, reviews_of, settle_reviews
from agent.skills.variants.trial_shelf import TrialShelf
from agent.texts import Sentence, text
from agent.tools.tool import Draft
from agent.vault.change import Stamp
from agent.vault.folders import SKILLS
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SkillSet:
    """One vault's skills. May be used by several threads."""

    workspace: Workspace
    library: SkillLibrary
    history: SkillHistory
    trials: TrialShelf
    embedder: Callable[[], Embedder | None]
    count: Count
    say: Callable[[str], None] = logger.warning
    """Receives a message about each failure."""
    tell: Callable[[str], None] = logger.info
    """Receives each message that is also in the day's note."""
    publish: Callable[[object], object] = ignore_event
    """Receives an event for each opinion of the person about a skill."""
    _similarity: Similarity | None = None
    _used: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def settings(self) -> Settings:
        """The settings of skills: the automatic actions and their limits."""
        return self.workspace.settings.skills

    def match(
        self,
        task: MatchTask,
        session: str = "",
        present: Iterable[str] = (),
        room: int | None = None,
        versions: Mapping[str, Skill] = MappingProxyType({}),
    ) -> Matched:
        """The skills that fit a task now, with their texts for the model, each a message of its own, in `room` tokens;
        records nothing. `versions` are given in place of the skills of their names."""
        with self._lock:
            shelf = self.library.snapshot()
            skills = shelf.candidates
            wanting = [skill for skill in skills if skill.conditions or not skill.has_triggers]
            near = self._near(task.text, wanting) if wanting else {}
            factors = self.history.factors(skill.name for skill in skills)
            state = MatchState(self._since(session, skills), factors, near, frozenset(present), versions)
            limits = SelectionLimits(self.settings.most, self.text_room(room))
            return match(task, shelf, state, self.count, limits)

    def text_room(self, room: int | None) -> int:
        """The tokens for the texts of skills in `room`, without those that make a message of each."""
        most, tokens = self.settings.most, self.settings.tokens
        return tokens if room is None else max(min(tokens, room - most * MESSAGE), 0)

    def text(self, skill: Skill) -> str:
        """The text of a skill for a model that opens it; of a chain with the steps for which there is room."""
        with self._lock:
            return compose_text(skill, self.library.snapshot().get, self.settings.tokens, self.count).text

    def used(self, session: str, name: str) -> None:
        """Record that a skill is given to the model of this session now; a cooldown counts from here."""
        with self._lock:
            self._used[session, name] = self.workspace.clock.monotonic()

    def boxes(self, names: Iterable[str]) -> str:
        """The feedback form that asks a person in a note if these skills were useful; empty for no skills."""
        return feedback_form(names, "skill_feedback.question", self.workspace.settings.vault.language)

    def person_says(self, name: str, opinion: Opinion, run: str = "") -> Use:
        """Record the person's opinion of a skill; raises `UserError` for a run that did not use the skill."""
        with self._lock:
            clock, language = self.workspace.clock, self.workspace.settings.vault.language
            found = record_opinion(self.workspace.vault, name, opinion, clock.now(), clock.new_id(), run, language)
            skill = self.library.snapshot().get(name)
            self.put_aside([skill] if skill is not None else [])
        self.publish(SkillRated(name, found.run, opinion))
        return found

    def changed(self, paths: Iterable[str]) -> None:
        """Read the skills of these changed files again before the next use."""
        self.library.changed(paths)

    def edited_here(self, commits: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
        """Keep the trust in skills that the person edited: these commits hold the person's own edits of these files.

        Returns the names of the skills.
        """
        vault = self.workspace.vault
        return carry_trust(
            self.library, reviews_of(vault), load_owner_edits(vault, commits), self.workspace.clock.now()
        )

    def agreed(self, drafts: Iterable[Draft]) -> None:
        """Trust the skills of which the person has approved each text that is new since they were trusted."""
        home = self.workspace.vault.home
        texts = {each.path: (each.before, each.after) for each in drafts if home.holds(each.path, SKILLS)}
        if texts:
            with self._lock, suppress(BadFolder, OSError):  # it stays unreviewed, and is asked about
                trust_approved(self.library, reviews_of(self.workspace.vault), texts, self.workspace.clock.now())

    def review(self, skill: Skill, how: str) -> Pin:
        """Trust a skill as it was read, and record that in the note that asked about it.

        Raises `BadFolder` or `OSError` if its files cannot be read; raises the errors of a transaction after the skill
        is trusted already.
        """
        with self._lock:
            pin = self.library.review(skill, self.workspace.clock.now(), how)
            settle_reviews(self.workspace.vault, self.library, self.workspace.clock.now(), Stamp("human"))
            return pin

    def ask_reviews(self) -> tuple[str, ...]:
        """Write a note with boxes for each unreviewed skill, and record decisions in the notes of the others; returns
        the paths of the new notes."""
        with self._lock:
            try:
                settle_reviews(self.workspace.vault, self.library, self.workspace.clock.now())
                new = [skill for skill in self.library.snapshot().candidates if not skill.reviewed]
                return ask_reviews(
                    self.workspace.vault,
                    self.library,
                    new,
                    self.workspace.clock.now(),
                    self.workspace.settings.vault.language,
                )
            except (BadFolder, OSError) as error:
                self.say(f"a skill could not be read, so it is not asked about yet: {error}")
                return ()

    def ticked(self) -> tuple[tuple[str, bool], ...]:
        """Apply the person's ticks about skills; returns each skill's name, with True if it is trusted now."""
        with self._lock:
            try:
                done = settle_reviews(self.workspace.vault, self.library, self.workspace.clock.now())
                return tuple((each.name, each.status == "approved") for each in done)
            except (BadFolder, OSError) as error:
                self.say(f"a skill could not be read, so what was ticked about it waits: {error}")
                return ()

    def _since(self, session: str, skills: Iterable[Skill]) -> Mapping[str, float]:
        """The seconds since each skill with a cooldown was used in a session, by this or another process."""
        found: dict[str, float] = {}
        for skill in skills:
            if not skill.cooldown or not session:
                continue
            here, written = self._used.get((session, skill.name)), self.history.last(skill.name, session)
            ago = [self.workspace.clock.monotonic() - here] if here is not None else []
            ago += [(self.workspace.clock.now() - written).total_seconds()] if written is not None else []
            found |= {skill.name: max(min(ago), 0.0)} if ago else {}
        return found

    def _near(self, text: str, skills: Sequence[Skill]) -> Mapping[str, float]:
        if self._similarity is None:
            embedder = self.embedder()
            self._similarity = Similarity(embedder) if embedder is not None else None
        return self._similarity.near(text, skills) if self._similarity is not None else {}

    def put_aside(self, skills: Iterable[Skill]) -> None:
        """Put aside those of these skills that were learned and keep failing; report it, also in the day's note."""
        watched = {name for name, trial in self.trials.trials().items() if trial.variant is None}
        left = [skill for skill in skills if skill.name not in watched]  # their former text comes back before
        try:
            gone = put_aside(self.workspace.vault, left, self.history, self.workspace.clock.now())
        except AgentError as error:
            self.say(f"a learned skill that keeps failing could not be put aside: {error.message}")
            return
        if gone:
            self.library.refresh()
        for each in gone:
            try:
                announce(self.workspace, each)
            except AgentError as error:
                self.say(f"{each.announcement}; the day's note does not say so: {error.message}")
            else:
                self.tell(each.announcement)


def skill_library(workspace: Workspace) -> SkillLibrary:
    """The skills of a vault and of the package; the list of reviewed skills belongs to this machine."""
    package = Path(str(resource("skills")))
    home = workspace.vault.home
    locations = skill_locations(workspace.vault.place.root, package, home)
    language = workspace.settings.vault.language
    return SkillLibrary(locations, pins_of(workspace.vault), home=home, language=language)


def skill_set(
    workspace: Workspace,
    embedder: Callable[[], Embedder | None],
    count: Count,
    publish: Callable[[object], object] = ignore_event,
) -> SkillSet:
    """The skills of a vault; `publish` receives an event for each opinion of the person about a skill."""
    return SkillSet(
        workspace,
        library := skill_library(workspace),
        SkillHistory(workspace.vault),
        TrialShelf(workspace.vault, library),
        embedder,
        count,
        publish=publish,
    )


def announce(workspace: Workspace, gone: PutAside) -> None:
    """Write into today's note that a learned skill was put aside, and how to restore it; raises the errors of a
    transaction."""
    language, now = workspace.settings.vault.language, workspace.clock.now()
    lines = [text("notices.skill_why", language, link=gone.path.removesuffix(".md"))]
    if gone.commit:
        lines.append(text("notices.skill_back", language, commit=gone.commit[:12]))
    block = daily.block(now, text("notices.skill_aside", language, name=gone.name), lines)
    note = Addition(
        workspace.vault.home.day_note(now.date()),
        daily.beginning(workspace.vault, now.date()),
        block.encode(),
        daily.section("upkeep", language).encode(),
    )
    stamp = Stamp("agent", tool="skill_feedback")
    subject = Sentence("skills(deprecate): say so of {skill}", skill=gone.name)
    with workspace.unasked.vault.transaction(subject, stamp) as day:
        day.append(note.path, note.text, note.head, note.section)
