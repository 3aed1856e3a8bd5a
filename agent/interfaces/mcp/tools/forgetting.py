"""Forgetting at the wish of the person: a memory, or a text wherever the agent wrote it."""

from collections.abc import Iterator

from agent.errors import ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.forgetting.places import Forgetting
from agent.tools import arguments
from agent.tools.tool import Draft, RunContext, ToolOutput
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

_SHOWN = 20
_NOT_GONE = (
    "It can still be brought back: undo does that, and the history still holds it. Only the person can end that, in a "
    "terminal: vault-agent forget WHAT --purge --for-good"
)


def plan_forgetting(workspace: Workspace, call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
    """The notes that go, and those that lose lines."""
    planned = _planned(workspace, call)
    gone = (Draft(path, data, None) for path, data in planned.gone)
    return (*gone, *(Draft(each.path, each.before, each.after) for each in planned.changed))


def forget(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """Forget, in one commit of the program."""
    planned = _planned(workspace, call)
    stamp = Stamp(context.actor, run=context.run, session=context.session, call=context.call)
    outcome = carry_out(workspace.vault, planned, workspace.settings.vault.language, stamp=stamp)
    head = "forgotten" if outcome.commit else "accepted, and waiting" if outcome.queued else "nothing to forget"
    lines = [f"{head} (commit {outcome.commit[:10]}):" if outcome.commit else f"{head}:", *_effects(planned)]
    lines += [_NOT_GONE] if outcome.commit else []
    return ToolOutput("\n".join(lines), commits=tuple(filter(None, [outcome.commit])))


def _planned(workspace: Workspace, call: JsonObject) -> Forgetting:
    name = arguments.text(call, "what").strip()
    if not name:
        raise ToolRetry("say what to forget: a path, an id, or the words")
    try:
        return plan_named(workspace.vault, name, workspace.settings.vault.language)
    except UserError as error:
        raise ToolRetry(f"{error.message}; search finds the right path or words") from error


def _effects(forgetting: Forgetting) -> Iterator[str]:
    """The notes that go, change, or stay because the person wrote them."""
    yield from (f"  goes: {path}" for path, _ in forgetting.gone[:_SHOWN])
    yield from (f"  loses lines: {each.to or each.path}" for each in forgetting.changed[:_SHOWN])
    yield from (f"  stays, and says it too: {path}" for path in forgetting.mentions[:_SHOWN])
