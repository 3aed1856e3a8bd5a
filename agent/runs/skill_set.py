"""The skills of one vault put together: found for a task, reviewed, rated, put aside.

What a skill is and when it fits is `agent.skills`'s; which of them a run follows is `following`'s.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.config.resources import resource
from agent.config.skill_settings import SkillSettings as Settings
from agent.context.budget import Count
from agent.errors import AgentError
from agent.events.bus import ignore_event
from agent.events.runs import SkillRated
from agent.index.embedder import Embedder
from agent.runs.notices import announce
from agent.skills.history.feedback import SkillHistory, put_aside, record_opinion
from agent.skills.history.feedback_form import feedback_form
from agent.skills.history.usage import Opinion, Use
from agent.skills.loading.files import BadFolder
from agent.skills.loading.library import SkillLibrary
from agent.skills.loading.locations import skill_locations
from agent.skills.loading.pins import Pin, pins_of
from agent.skills.matching.matcher import Matched, MatchState, MatchTask, match
from agent.skills.matching.selection import SelectionLimits
from agent.skills.matching.similarity import Similarity
from agent.skills.reading.skill import Skill
from agent.skills.trust.owner_edits import carry_trust, load_owner_edits
from agent.skills.trust.review_note import apply_decisions, ask_reviews, settle_reviews
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SkillSet:
    """One vault's skills. May be used by several threads."""

    workspace: Workspace
    library: SkillLibrary
    history: SkillHistory
    embedder: Callable[[], Embedder | None]
    count: Count
    say: Callable[[str], None] = logger.warning
    """Hears what does not work."""
    tell: Callable[[str], None] = logger.info
    """Hears what stands in the day's note, too."""
    publish: Callable[[object], object] = ignore_event
    """Hears of what a person says of a skill, as an event."""
    _similarity: Similarity | None = None
    _used: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def settings(self) -> Settings:
        """Which of this happens by itself, and its numbers."""
        return self.workspace.settings.skills

    def match(
        self, task: MatchTask, session: str = "", present: Iterable[str] = (), room: int | None = None
    ) -> Matched:
        """Which skills fit a task now; nothing is remembered of it."""
        with self._lock:
            shelf = self.library.snapshot()
            skills = shelf.candidates
            wanting = [skill for skill in skills if skill.conditions]
            near = self._near(task.text, wanting) if wanting else {}
            factors = self.history.factors(skill.name for skill in skills if skill.has_triggers)
            state = MatchState(self._since(session, skills), factors, near, frozenset(present))
            most, tokens = self.settings.most, self.settings.tokens
            limits = SelectionLimits(most, tokens if room is None else min(tokens, room))
            return match(task, shelf, state, self.count, limits)

    def used(self, session: str, name: str) -> None:
        """A skill is put before the model of this session now; it may have to rest then."""
        with self._lock:
            self._used[session, name] = self.workspace.clock.monotonic()

    def boxes(self, names: Iterable[str]) -> str:
        """What asks a person in a note whether these skills were of use; empty for none."""
        return feedback_form(names, self.workspace.settings.vault.language)

    def person_says(self, name: str, opinion: Opinion, run: str = "") -> Use:
        """What the person says of a skill; raises `UserError` for a run that did not use it."""
        with self._lock:
            clock, language = self.workspace.clock, self.workspace.settings.vault.language
            found = record_opinion(self.workspace.vault, name, opinion, clock.now(), clock.new_id(), run, language)
            skill = self.library.snapshot().get(name)
            self.put_aside([skill] if skill is not None else [])
        self.publish(SkillRated(name, found.run, opinion))
        return found

    def changed(self, paths: Iterable[str]) -> None:
        """Files of the vault have changed."""
        self.library.changed(paths)

    def edited_here(self, commits: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
        """The person's own edits of these files were committed in their name: what was trusted stays so.

        Returns the names of the skills.
        """
        return carry_trust(self.library, load_owner_edits(self.workspace.vault, commits), self.workspace.clock.now())

    def review(self, skill: Skill, how: str) -> Pin:
        """Trust a skill as it was read; the note that asked about it says so.

        Raises `BadFolder` or `OSError` when its files cannot be read; and what a transaction raises, when it is trusted
        already.
        """
        with self._lock:
            pin = self.library.review(skill, self.workspace.clock.now(), how)
            settle_reviews(self.workspace.vault, self.library, Stamp("human"))
            return pin

    def ask_reviews(self) -> tuple[str, ...]:
        """Write a note with boxes for each skill that nobody has looked at, and say in the notes of others what has
        become of them; returns the new notes' paths."""
        with self._lock:
            try:
                settle_reviews(self.workspace.vault, self.library)
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
        """Carry out what the person has ticked about skills: their names, and whether each is trusted now."""
        with self._lock:
            try:
                return apply_decisions(self.workspace.vault, self.library, self.workspace.clock.now())
            except (BadFolder, OSError) as error:
                self.say(f"a skill could not be read, so what was ticked about it waits: {error}")
                return ()

    def _since(self, session: str, skills: Iterable[Skill]) -> Mapping[str, float]:
        """The seconds since each skill that needs rest was used in a session, by this process or another one."""
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
        """Move those of these skills away that were learned and keep failing, and say so, also in the day's note."""
        try:
            gone = put_aside(self.workspace.vault, skills, self.history, self.workspace.clock.now())
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
    """The skills of a vault, those of the package beside; the list of reviewed ones is this machine's."""
    package = Path(str(resource("skills")))
    return SkillLibrary(skill_locations(workspace.vault.place.root, package), pins_of(workspace.vault))


def skill_set(
    workspace: Workspace,
    embedder: Callable[[], Embedder | None],
    count: Count,
    publish: Callable[[object], object] = ignore_event,
) -> SkillSet:
    """The skills of a vault; `publish` hears of what a person says of one."""
    return SkillSet(
        workspace, skill_library(workspace), SkillHistory(workspace.vault), embedder, count, publish=publish
    )
