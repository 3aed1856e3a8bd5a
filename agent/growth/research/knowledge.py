"""What a research leaves beside its note: one memory of what it found, and the tools and methods, for a person to tick.

The memory is a model's conclusion with its evidence. If it rests on text of strangers, the entry names them: such a
memory is given only to who asks for it, framed, and nothing of it becomes a fact about the person or a rule.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.events.growth import MethodFound
from agent.growth.lessons.found_methods import append_tools, found_tool
from agent.growth.research.source import Reading
from agent.growth.research.statements import FoundMethod
from agent.memory.capture.dedupe import changes_of
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import MODEL, Entry, EntryType
from agent.memory.forgetting.tombstones import load_tombstones
from agent.runs.service import RunService
from agent.vault.change import Create, Edit, Request

_LONGEST = 1_200
"""The most characters of a memory."""
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was concluded about a topic, in a few sentences, in the note at `path`; `untrusted` as in `Entry`."""

    topic: str
    short: str
    path: str
    at: datetime
    run: str
    untrusted: tuple[str, ...]


def memory_requests(runs: RunService, found: Conclusion) -> tuple[Request, ...]:
    """The requests that remember a conclusion, compared with what is known; none for one that was forgotten, or where
    memory is switched off."""
    vault = runs.workspace.vault
    words = vault.masked(f"{found.topic}: {found.short}")[:_LONGEST]
    is_off = runs.workspace.settings.memory.capture == "off"
    if is_off or not found.short or load_tombstones(vault).is_forgotten(words):
        return ()
    entry = Entry(
        vault.clock.new_id(),
        found.at,
        words,
        type=EntryType.RESEARCH,
        source=MODEL,
        slots={"run": found.run},
        evidence=(f"[[{found.path.removesuffix('.md')}]]",),
        untrusted=found.untrusted[:_NAMED],
    )
    verdict = EntryWriter(vault, runs.recall.near, runs.workspace.settings.vault.language).judged(entry)
    return tuple(
        Create(path, after) if before is None else Edit(path, before, after)
        for path, before, after in changes_of(verdict, vault.home)
    )


def method_requests(
    runs: RunService, methods: Sequence[FoundMethod], path: str, readings: Mapping[int, Reading], at: datetime
) -> tuple[Request, ...]:
    """The requests that list the tools and methods for the person, who may tick one to have it proposed as a lesson."""
    found = [
        found_tool(
            each.name,
            each.use,
            path,
            f"{at:%Y-%m-%d}",
            (readings[number].origin for number in each.cites if number in readings),
        )
        for each in methods
    ]
    listed = append_tools(runs.workspace.vault, found, runs.workspace.settings.vault.language)
    return (listed,) if listed is not None else ()


def tell_methods(runs: RunService, methods: Sequence[FoundMethod], path: str, untrusted: tuple[str, ...]) -> None:
    """Publish the tools and methods that were found, for whoever counts them."""
    for each in methods:
        runs.bus.publish(MethodFound(each.name, each.use, path, untrusted))
