"""The work on the rules of a vault: what it needs, and what it writes."""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime

from agent.dataclass import dataclass
from agent.events.bus import ignore_event
from agent.events.growth import RuleChanged
from agent.growth.patterns.likeness import Vectors
from agent.growth.reflections.reflection import Reflection
from agent.growth.rules.rule_log import RuleRow, append_rows
from agent.runs.status import growth_account
from agent.texts import Language, Sentence
from agent.vault.change import Edit, Request, Stamp
from agent.vault.store import Vault

TOOL = "rules"
"""The tool of a commit with which the program changes rules."""
ACTOR = f"job:{growth_account('rules')}"
"""Who changes rules, as a commit names it: `undo --job growth/rules` takes it all back."""
PROBATION = 10


def no_vectors() -> Vectors | None:
    """No vectors: meaning is then told by words."""
    return None


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill that runs may use: its name, all that it says, and the path of its `SKILL.md` in the vault (empty: it is
    not in the vault, and cannot be changed)."""

    name: str
    text: str
    path: str = ""


def no_skills() -> Sequence[KnownSkill]:
    """No skills."""
    return ()


def trust_nothing(path: str) -> None:
    """Trust no skill: the person is asked about it in a note."""


@dataclass(frozen=True, slots=True)
class RuleWork:
    """What the work on the rules of one vault needs.

    `reflections` loads those from which rules may come, `skills` those that may be used; `vectors` compare meanings.
    `probation` is the length of that, in uses. `corrections`: what the person does after a run, and their next words,
    are an opinion of it. `trust_skill` trusts the skill at a path, whose change was approved.
    """

    vault: Vault
    language: Language = "en"
    reflections: Callable[[], Sequence[Reflection]] = tuple
    skills: Callable[[], Sequence[KnownSkill]] = no_skills
    vectors: Callable[[], Vectors | None] = no_vectors
    probation: int = PROBATION
    corrections: bool = True
    actor: str = ACTOR
    tell: Callable[[object], object] = ignore_event
    trust_skill: Callable[[str], object] = trust_nothing

    @property
    def now(self) -> datetime:
        """The present time, in whole seconds, as notes have it."""
        return self.vault.clock.now().replace(microsecond=0)


@dataclass(slots=True)
class RuleChanges:
    """Rows for the log, and changes of rules' notes, that become one commit."""

    rows: list[RuleRow] = field(default_factory=list)
    edits: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """The notes that change: the bytes before, and after."""
    more: list[Request] = field(default_factory=list)
    """What else is written with it."""

    def edit(self, path: str, before: bytes, after: bytes) -> None:
        """Change a note, from what it was before all changes."""
        if before != after:
            self.edits[path] = (self.edits.get(path, (before, after))[0], after)

    def requests(self, work: RuleWork) -> list[Request]:
        """All of it as requests of one transaction."""
        edits: list[Request] = [*(Edit(path, *both) for path, both in self.edits.items()), *self.more]
        return [*edits, append_rows(work.vault.home, self.rows, work.language)] if self.rows else edits

    def write(self, work: RuleWork, subject: str, stamp: Stamp | None = None, body: str = "") -> None:
        """Write it in one commit, and tell of it; nothing if nothing changes."""
        if requests := self.requests(work):
            by = stamp or Stamp(work.actor, tool=TOOL)
            with work.vault.transaction(subject, by, body=body, masked=True) as change:
                change.requests += requests
        for row in self.rows:
            work.tell(RuleChanged(row.path, row.event, row.by))


def subject_of(rows: Sequence[RuleRow]) -> str:
    """The subject of a commit with these rows."""
    first = rows[0]
    name = first.path.rpartition("/")[2].removesuffix(".md") or first.words[:60]
    if len(rows) == 1:
        return f"rules({first.event}): {name}"
    more = "rules({event}): {name} and {count} more"
    return Sentence(more, event=first.event, name=name, count=len(rows) - 1)
