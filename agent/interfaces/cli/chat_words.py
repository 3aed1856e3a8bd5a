"""The words of a chat that are for the chat itself: each gives the text to show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agent.app.build import App
from agent.app.runs import Runs
from agent.context.budget import table
from agent.interfaces.cli.chat_texts import said
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.remember import save
from agent.interfaces.cli.times import absolute, relative
from agent.interfaces.cli.undo import said as undone
from agent.loop.records import Began
from agent.loop.session import load
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.memory.entry import Entry
from agent.memory.forgetting.forget import carry_out, plan
from agent.memory.recall.eligibility import SPARE, may_be_offered
from agent.vault.find import find_note
from agent.vault.history.commits import Commit, commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection

_PIECES = 8
_YES = " --yes"


@dataclass(slots=True)
class Place:
    """Where a chat stands: its session's path and last run, empty at first, and the runs it has taken back."""

    app: App
    agent: Runs
    session: str = ""
    run: str = ""
    undone: set[str] = field(default_factory=set)

    def said(self, what: str, **values: object) -> str:
        """One of the chat's texts, in the vault's language."""
        return said(self.app.settings.vault.language, what, **values)


def _help(place: Place, rest: str) -> str:
    return place.said("help")


def _context(place: Place, rest: str) -> str:
    return table(place.agent.budget(place.session)) if place.session else place.said("nothing said")


def _compact(place: Place, rest: str) -> str:
    compacted = place.agent.compact(place.session) if place.session else None
    if compacted is None:
        return place.said("nothing to compact")
    problem = place.said("by rule", problem=compacted.problem) if compacted.problem else ""
    return place.said("compacted", count=len(compacted.dropped)) + problem


def _log(place: Place, rest: str) -> str:
    found = _changes(place)
    now = place.app.clock.now()
    asked = [commit for commit in found if commit.tool not in AFTER_RUN_TOOLS]
    lines = [f"{commit.id[:8]}  {_when(place, commit, now)}  {commit.subject}" for commit in asked]
    behind = len(found) - len(asked)
    lines = lines or [place.said("no change")]
    lines += [place.said("behind", count=behind, s="" if behind == 1 else "s")] if behind else []
    return as_lines(lines)


def _when(place: Place, commit: Commit, now: datetime) -> str:
    own = place.app.settings.vault.language == "en"
    return relative(commit.when, now) if own else absolute(commit.when, now)


def _undo(place: Place, rest: str) -> str:
    if not place.session:
        return place.said("nothing said")
    records = load(place.app.vault, place.session).records
    begun = [record.event.run for record in records if isinstance(record.event, Began)]
    place.agent.hooks.capturing.settle()  # what is remembered of a run goes with it
    changed = {commit.run.partition(".")[0] for commit in _changes(place) if commit.tool not in AFTER_RUN_TOOLS}
    run = next((run for run in reversed(begun) if run in changed and run not in place.undone), "")
    if not run:
        return place.said("nothing to undo")
    result = undo(place.app.vault, Selection(run=run))
    place.undone.add(run)
    return as_lines(undone(result, dry_run=False))


def _remember(place: Place, rest: str) -> str:
    if not rest:
        return place.said("remember what")
    entry = Entry(place.app.clock.new_id(), place.app.clock.now(), rest)
    outcome = save(place.app, entry)
    if outcome.queued:
        return place.said("remembered later", why=outcome.queued, path=entry.path)
    return place.said("remembered", path=entry.path, commit=(outcome.commit or "")[:12])


def _recall(place: Place, rest: str) -> str:
    if not rest:
        return place.said("recall what")
    answer = place.agent.recall.search(rest, _PIECES * SPARE)
    hits = [hit for hit in answer.hits if may_be_offered(hit)][:_PIECES]
    lines = [f"## {hit.title}  ({hit.path}:{hit.lines[0]}-{hit.lines[1]})\n{hit.passage.strip()}" for hit in hits]
    lines += [place.said("degraded", why=answer.degraded)] if answer.degraded else []
    return "\n\n".join(lines) or place.said("no recall")


def _forget(place: Place, rest: str) -> str:
    name = rest.removesuffix(_YES).strip()
    if not name:
        return place.said("forget what")
    vault = place.app.vault
    forgetting = plan(vault, find_note(vault, name))
    lines = [place.said("goes", path=path) for path, _ in forgetting.gone]
    for each in forgetting.changed:
        lines += [place.said("loses", path=each.path, line=line.strip()) for line in each.gone]
    lines += [place.said("stays", path=path) for path in forgetting.mentions]
    if forgetting.changed and not rest.endswith(_YES):
        return "\n".join([place.said("not yet"), *lines, place.said("forget all", name=name)])
    outcome = carry_out(vault, forgetting, place.app.settings.vault.language)
    if outcome.queued:
        return "\n".join([place.said("forgotten later", why=outcome.queued), *lines])
    commit = (outcome.commit or "")[:10]
    return "\n".join([place.said("forgotten", commit=commit), *lines, place.said("back", commit=commit)])


def _changes(place: Place) -> list[Commit]:
    """The commits of this session's runs, newest first; those of its transcript are not among them."""
    if not place.session:
        return []
    session = load(place.app.vault, place.session)
    runs = {record.event.run for record in session.records if isinstance(record.event, Began)}
    vault = place.app.vault
    return [each for each in commits(vault) if each.run and each.run.partition(".")[0] in runs]


WORDS: Mapping[str, Callable[[Place, str], str]] = {
    "/help": _help,
    "/context": _context,
    "/compact": _compact,
    "/log": _log,
    "/remember": _remember,
    "/recall": _recall,
    "/forget": _forget,
    "/undo": _undo,
}
