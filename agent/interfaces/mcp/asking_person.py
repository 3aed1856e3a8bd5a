"""The person's yes to a call, asked for through their program where it can show a form (elicitation).

What they answer there is written into the note that asks, as a tick would be. Older programs are asked in the middle of
the call; those of the protocol of 2026 get the question as the result, and repeat the call with the answer.
"""

from contextlib import suppress
from typing import Any, TypeAlias

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agent.errors import UserError
from agent.escape import escape_line
from agent.interfaces.mcp.clients import Client
from agent.runs.decisions import approvals
from agent.texts import Language, text
from agent.tools.approvals import Approvals
from agent.tools.wrappers import cut
from agent.workspace.workspace import Workspace

Request: TypeAlias = ServerRequestContext[Any, Any]

_KEY = "approval"
_SHOWN = 3_000


async def ask(request: Request, workspace: Workspace, path: str) -> bool | InputRequiredResult:
    """Ask for the decision in the note at `path`. True: the person has decided, which is in the note now; False: they
    have not, or cannot be asked. A result: the question, for a program that repeats the call with the answer."""
    capabilities, asks = request.session.client_capabilities, approvals(workspace)
    if capabilities is None or capabilities.elicitation is None:
        return False
    form = await to_thread.run_sync(_form, asks, path)
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=form)}, request_state=path)
    try:
        answer = await request.session.elicit_form(form.message, form.requested_schema, request.request_id)
    except MCPError:  # the program cannot ask now: the question stays in its note
        return False
    return await to_thread.run_sync(_record, asks, path, _decision(answer))


def take_in(workspace: Workspace, params: CallToolRequestParams, client: Client) -> None:
    """Record the answer that a repeated call brings, if it is about a question of this program."""
    asks, path = approvals(workspace), params.request_state or ""
    asked, answer = asks.find(path) if path else None, (params.input_responses or {}).get(_KEY)
    if asked is not None and asked.run == client.context.run and isinstance(answer, ElicitResult):
        _record(asks, path, _decision(answer))


def _record(asks: Approvals, path: str, yes: bool | None) -> bool:
    """Tick the box in the note; False without a decision. A question that was decided meanwhile stays as it is."""
    if yes is None:
        return False
    with suppress(UserError):
        asks.decide(path, yes)
    return True


def _decision(answer: ElicitResult) -> bool | None:
    if answer.action == "accept":
        return (answer.content or {}).get("approve") is True
    return False if answer.action == "decline" else None


def _form(approvals: Approvals, path: str) -> ElicitRequestFormParams:
    asked, language = approvals.find(path), approvals.language
    lines = [path]
    if asked is not None:
        words = "\n".join(filter(None, [asked.shown, asked.change]))
        lines = [asked.question, asked.why, cut(words, _SHOWN), path]
    message = "\n".join(escape_line(line) for part in lines for line in part.split("\n"))
    return ElicitRequestFormParams(message=message, requested_schema=_schema(language))


def _schema(language: Language) -> dict[str, Any]:
    allow = {"type": "boolean", "title": text("reply.allow", language), "default": False}
    return {"type": "object", "properties": {"approve": allow}, "required": ["approve"]}
