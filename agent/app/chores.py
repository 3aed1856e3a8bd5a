"""What the daemon does when nothing else is going on: the upkeep of memory, and what people say of skills in notes.

Noticing is quick and belongs to the daemon's own turn; the work is done in a thread, one piece after the other, once
the vault has lain still and what people did by hand is recorded. What cannot be done now is tried again with the next
change, and said in `problem`.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent.app.arrivals import tend_arrivals
from agent.app.build import App
from agent.app.learning import Learning, learning
from agent.app.memories import Upkeeper
from agent.app.opinions import gather
from agent.app.skills import Skills, skills
from agent.context.tokens import estimate
from agent.errors import AgentError
from agent.events.types import NoteMoved, Origin
from agent.vault.folders import APPROVALS, SESSIONS, SKILL_HISTORY, SKILLS
from agent.watch.classify import VaultEvent

STILL = 2.0
"""Seconds without a change before anything is begun."""
PATIENCE = 20.0
"""Seconds that work which has begun gets when the daemon stops: an upkeep is one commit or nothing."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Chores:
    """The chores of one vault. `others` says how many runs go on in this process; `problem` what did not work last."""

    app: App
    others: Callable[[], int] = lambda: 0
    problem: str = ""
    _skills: Skills = field(init=False)
    _learning: Learning = field(init=False)
    _wanted: dict[str, Callable[[], object]] = field(default_factory=dict)
    _edited: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    _begin_at: float = 0.0
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._skills = skills(self.app, lambda: None, estimate)
        self._learning = learning(self._skills, None)

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, now: float) -> None:
        """The daemon has started: what was done while nobody watched is looked for."""
        self._want(now, arrivals=self._arrivals, reviews=self._reviews, offers=self._offers, opinions=self._opinions)

    def notice(self, events: Iterable[VaultEvent], now: float) -> None:
        """Something has happened to these files."""
        found = list(events)
        paths = [path for event in found for path in _paths(event)]
        own = {path for event in found if event.origin is Origin.OWN for path in _paths(event)}
        changed = [path for path in paths if _is_skill(path)]
        if changed:
            self._skills.changed(changed)
            self._want(now, reviews=self._reviews)
        if any(event.origin is Origin.ARRIVED for event in found):
            self._want(now, arrivals=self._arrivals)
        if any(path.startswith(APPROVALS) and path not in own for path in paths):
            self._want(now, arrivals=self._arrivals, offers=self._offers)
        if any(path.startswith(SESSIONS) and path not in own for path in paths):
            self._want(now, opinions=self._opinions)
        if found:
            self._want(now, upkeep=Upkeeper(self.app).run_when_due)

    def recorded(self, commit: str, paths: Sequence[str]) -> None:
        """What a person did to these files by hand is in the history now, in their name."""
        now = self.app.clock.monotonic()
        self._want(now, opinions=self._opinions)
        if skills := tuple(filter(_is_skill, paths)):
            with self._lock:
                self._edited.append((commit, skills))
            self._want(now, reviews=self._reviews)

    def step(self, now: float, *, settled: bool) -> None:
        """Begin what there is to do, if the vault lies still; `settled`: what people did by hand is recorded."""
        if not self._wanted or not settled or now < self._begin_at or self.busy or self.others():
            return
        with self._lock:
            work, self._wanted = self._wanted, {}
        self._thread = threading.Thread(target=self._work, args=(work,), name="vault-agent-chores", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait for what has begun, but not for long."""
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _want(self, now: float, **work: Callable[[], object]) -> None:
        with self._lock:
            self._wanted |= work
            self._begin_at = now + STILL

    def _work(self, work: dict[str, Callable[[], object]]) -> None:
        problems = []
        for name, each in work.items():
            try:
                each()
            except (AgentError, OSError) as error:
                logger.info("%s: not done now: %s", name, error)
                problems.append(f"{name}: {error}")
            except Exception as error:  # a bug in one chore must end neither the others nor the daemon
                logger.warning("%s failed", name, exc_info=True)
                problems.append(f"{name}: {type(error).__name__}: {error}")
        self.problem = "; ".join(problems)

    def _reviews(self) -> None:
        """Keep trusting what its owner has edited here by hand; ask about the others that nobody has looked at."""
        with self._lock:
            edited, self._edited = self._edited, []
        self._skills.edited_here(edited)
        for path in self._skills.ask_reviews():
            logger.info("asked about a skill in %s", path)

    def _arrivals(self) -> None:
        """Ask about what arrived, and carry out what was decided about it."""
        tend_arrivals(self.app)

    def _offers(self) -> None:
        """Carry out what was decided about skills in notes."""
        for name, trusted in self._skills.ticked():
            logger.info("the skill %s is %s", name, "trusted now" if trusted else "not trusted")
        for offer in self._learning.settle():
            logger.info("the suggestion %s was %s", offer.name, offer.status)

    def _opinions(self) -> None:
        """Write down what people have let us know of skills; put aside what keeps failing."""
        shelf = self._skills.library.shelf()
        said = {use.name for use in gather(self.app, shelf.named)}
        self._skills.put_aside(shelf.named[name] for name in said if name in shelf.named)


def _paths(event: VaultEvent) -> tuple[str, ...]:
    return (event.path, event.source) if isinstance(event, NoteMoved) else (event.path,)


def _is_skill(path: str) -> bool:
    return path.startswith(SKILLS) and not path.startswith(SKILL_HISTORY)
