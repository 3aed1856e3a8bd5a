"""The words of a chat that are for the chat itself: each gives the text to show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.app.build import App
from agent.app.runs import Runs
from agent.context.budget import table
from agent.interfaces.cli.remember import said as remembered
from agent.interfaces.cli.remember import save
from agent.interfaces.cli.times import relative
from agent.interfaces.cli.undo import said as undone
from agent.loop.records import Began
from agent.loop.session import load
from agent.memory.entry import Entry
from agent.memory.forget import carry_out, plan
from agent.memory.given import SPARE, is_given
from agent.memory.keeping import BEHIND
from agent.vault.find import find_note
from agent.vault.history.commits import Commit, commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection

HELP = """/context   what stands before the model, and how much room is left
/compact   put a summary in the place of the older part
/log       what was changed in this session
/remember  TEXT: keep it as an entry of your own
/recall    TASK: the passages that belong to it
/forget    PATH|ID: remove a note and keep it from coming back
/undo      take back what the last run changed; again: the one before
/continue  go on with what was interrupted, or waits for you
/quit      end; so does Ctrl-D"""
_PIECES = 8
_YES = " --yes"
_NOTHING = "nothing has been said yet"


@dataclass(slots=True)
class Place:
    """Where a chat stands: its session's path and last run, empty at first, and the runs it has taken back."""

    app: App
    agent: Runs
    session: str = ""
    run: str = ""
    undone: set[str] = field(default_factory=set)


def _context(place: Place, rest: str) -> str:
    return table(place.agent.budget(place.session)) if place.session else _NOTHING


def _compact(place: Place, rest: str) -> str:
    compacted = place.agent.compact(place.session) if place.session else None
    if compacted is None:
        return "there is nothing to gain from a summary yet"
    problem = f" ({compacted.problem}, so it was made by rule)" if compacted.problem else ""
    return f"a summary stands in for {len(compacted.dropped)} messages{problem}"


def _log(place: Place, rest: str) -> str:
    found = _changes(place)
    now = place.app.clock.now()
    asked = [commit for commit in found if commit.tool not in BEHIND]
    lines = [f"{commit.id[:8]}  {relative(commit.when, now)}  {commit.subject}" for commit in asked]
    behind = len(found) - len(asked)
    lines = lines or ["nothing was changed in this session"]
    lines += [f"memory has kept it in {behind} commit{'' if behind == 1 else 's'}: vault-agent log"] if behind else []
    return "\n".join(lines)


def _undo(place: Place, rest: str) -> str:
    if not place.session:
        return _NOTHING
    records = load(place.app.vault, place.session).records
    begun = [record.event.run for record in records if isinstance(record.event, Began)]
    place.agent.hooks.capturing.settle()  # what is remembered of a run goes with it
    changed = {commit.run.partition(".")[0] for commit in _changes(place) if commit.tool not in BEHIND}
    run = next((run for run in reversed(begun) if run in changed and run not in place.undone), "")
    if not run:
        return "there is nothing to take back in this session"
    result = undo(place.app.vault, Selection(run=run))
    place.undone.add(run)
    return "\n".join(undone(result, dry_run=False))


def _remember(place: Place, rest: str) -> str:
    if not rest:
        return "say what: /remember Anna likes green tea"
    entry = Entry(place.app.clock.new_id(), place.app.clock.now(), rest)
    return remembered(entry, save(place.app, entry))


def _recall(place: Place, rest: str) -> str:
    if not rest:
        return "say for what: /recall tea for Anna"
    answer = place.agent.recall.search(rest, _PIECES * SPARE)
    hits = [hit for hit in answer.hits if is_given(hit)][:_PIECES]
    lines = [f"## {hit.title}  ({hit.path}:{hit.lines[0]}-{hit.lines[1]})\n{hit.passage.strip()}" for hit in hits]
    lines += [f"degraded: {answer.degraded}"] if answer.degraded else []
    return "\n\n".join(lines) or "nothing to recall"


def _forget(place: Place, rest: str) -> str:
    name = rest.removesuffix(_YES).strip()
    if not name:
        return "say what: /forget PATH|ID"
    vault = place.app.vault
    forgetting = plan(vault, find_note(vault, name))
    lines = [f"  goes: {path}" for path, _ in forgetting.gone]
    for each in forgetting.changed:
        lines += [f"  {each.path} loses: {line.strip()}" for line in each.gone]
    lines += [f"  stays, and says it too: {path}" for path in forgetting.mentions]
    if forgetting.changed and not rest.endswith(_YES):
        return "\n".join(["nothing is changed yet:", *lines, f"to forget all of this: /forget {name}{_YES}"])
    outcome = carry_out(vault, forgetting, place.app.settings.vault.language)
    if outcome.queued:
        return "\n".join([f"waits, because {outcome.queued}; it is forgotten when that ends:", *lines])
    commit = (outcome.commit or "")[:10]
    return "\n".join([f"forgotten in {commit}:", *lines, f"to have it again: vault-agent undo {commit}"])


def _changes(place: Place) -> list[Commit]:
    """The commits of this session's runs, newest first; those of its transcript are not among them."""
    if not place.session:
        return []
    session = load(place.app.vault, place.session)
    runs = {record.event.run for record in session.records if isinstance(record.event, Began)}
    vault = place.app.vault
    return [each for each in commits(vault.git, vault.place) if each.run and each.run.partition(".")[0] in runs]


WORDS: Mapping[str, Callable[[Place, str], str]] = {
    "/context": _context,
    "/compact": _compact,
    "/log": _log,
    "/remember": _remember,
    "/recall": _recall,
    "/forget": _forget,
    "/undo": _undo,
}
