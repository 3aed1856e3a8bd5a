"""The slash commands of a chat, such as /recall: each returns the text to show."""

from collections.abc import Callable, Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.interfaces.cli.changes import format_undone
from agent.interfaces.cli.context import format_budget
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.time_format import format_ago
from agent.loop.records import Began
from agent.loop.session import load_session
from agent.memory.capture.writer import is_work
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.remember import remember
from agent.runs.service import RunService
from agent.texts import Language, text
from agent.vault.history.commits import Commit, work_of
from agent.vault.history.difference import summary
from agent.vault.history.find import commits_of_runs
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.workspace.workspace import Workspace

_YES = " --yes"


@dataclass(slots=True)
class ChatState:
    """The path of the chat's session (empty before the first message), and the runs that /undo has taken back."""

    workspace: Workspace
    agent: RunService
    session: str = ""
    undone: set[str] = field(default_factory=set)

    @property
    def language(self) -> Language:
        """The language of the chat: the vault's."""
        return self.workspace.settings.vault.language


def _help(chat: ChatState, rest: str) -> str:
    return text("chat.help", chat.language)


def _context(chat: ChatState, rest: str) -> str:
    return format_budget(chat.agent.budget(chat.session)) if chat.session else text("chat.nothing_asked", chat.language)


def _compact(chat: ChatState, rest: str) -> str:
    compacted = chat.agent.compact(chat.session) if chat.session else None
    if compacted is None:
        return text("chat.nothing_to_compact", chat.language)
    problem = text("chat.compacted_by_rule", chat.language, problem=tr(compacted.problem)) if compacted.problem else ""
    return text("chat.compacted", chat.language, count=len(compacted.dropped)) + problem


def _log(chat: ChatState, rest: str) -> str:
    now = chat.workspace.clock.now()
    lines: list[str] = []
    for each in _changes(chat):
        lines.append(f"{each.id[:8]}  {format_ago(each.when, now)}  {each.subject}")
        lines += [f"          {tr(summary(change))}" for change in work_of(each).files]
    return as_lines(lines or [text("chat.no_change", chat.language)])


def _undo(chat: ChatState, rest: str) -> str:
    if not chat.session:
        return text("chat.nothing_asked", chat.language)
    records = load_session(chat.workspace.vault, chat.session).records
    begun = [record.event.run for record in records if isinstance(record.event, Began)]
    changed = {commit.run.partition(".")[0] for commit in _changes(chat)}
    run = next((run for run in reversed(begun) if run in changed and run not in chat.undone), "")
    if not run:
        return text("chat.nothing_to_undo", chat.language)
    result = undo(chat.workspace.vault, Selection(run=run))
    chat.undone.add(run)
    return as_lines(format_undone(result, dry_run=False))


def _remember(chat: ChatState, rest: str) -> str:
    if not rest:
        return text("chat.remember_usage", chat.language)
    entry, outcome, _ = remember(chat.workspace.vault, rest, language=chat.language)
    path = chat.workspace.vault.home.at(entry.path)
    if outcome.queued:
        return text("chat.remembered_later", chat.language, why=outcome.queued, path=path)
    return text("chat.remembered", chat.language, path=path, commit=(outcome.commit or "")[:12])


def _recall(chat: ChatState, rest: str) -> str:
    if not rest:
        return text("chat.recall_usage", chat.language)
    passages = chat.agent.passages(rest, chat.session)
    paths = {each.path for each in passages.found}
    lines = [f"## {each.title}  ({each.path}:{each.lines[0]}-{each.lines[1]})\n{each.text}" for each in passages.found]
    lines = lines or [text("chat.nothing_recalled", chat.language)]
    before = {each.path for each in chat.agent.passages(rest).found} - paths if chat.session else ()
    lines += [text("chat.recalled_before", chat.language, paths=", ".join(sorted(before)))] if before else []
    degraded = passages.degraded
    lines += [text("chat.degraded", chat.language, why=degraded)] if degraded else []
    return "\n\n".join(lines)


def _forget(chat: ChatState, rest: str) -> str:
    name = rest.removesuffix(_YES).strip()
    if not name:
        return text("chat.forget_usage", chat.language)
    vault, language = chat.workspace.vault, chat.language
    forgetting = plan_named(vault, name, language)
    lines = [text("chat.forget_note", language, path=path) for path, _ in forgetting.gone]
    for each in forgetting.changed:
        lines += [text("chat.forget_line", language, path=each.path, line=line.strip()) for line in each.gone]
    lines += [text("chat.forget_mention", language, path=path) for path in forgetting.mentions]
    if forgetting.should_be_seen(vault.home) and not rest.endswith(_YES):
        return "\n".join(
            [text("chat.forget_preview", language), *lines, text("chat.forget_confirm", language, name=name)]
        )
    outcome = carry_out(vault, forgetting, language)
    if outcome.queued:
        return "\n".join([text("chat.forgotten_later", language, why=tr(outcome.queued)), *lines])
    commit = (outcome.commit or "")[:10]
    return "\n".join(
        [text("chat.forgotten", language, commit=commit), *lines, text("chat.forget_undo", language, commit=commit)]
    )


def _changes(chat: ChatState) -> list[Commit]:
    """The commits of this session's runs with what their tools have done, newest first."""
    if not chat.session:
        return []
    chat.agent.capturing.settle()
    session = load_session(chat.workspace.vault, chat.session)
    runs = {record.event.run for record in session.records if isinstance(record.event, Began)}
    return [commit for commit in commits_of_runs(chat.workspace.vault, runs) if is_work(commit)]


COMMANDS: Mapping[str, Callable[[ChatState, str], str]] = {
    "/help": _help,
    "/context": _context,
    "/compact": _compact,
    "/log": _log,
    "/remember": _remember,
    "/recall": _recall,
    "/forget": _forget,
    "/undo": _undo,
}
