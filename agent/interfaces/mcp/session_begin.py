"""What a program is told when a session of its begins: who the owner of the vault is, and what is open there.

At most 600 tokens, only the person's own words, and only for a program that the policy lets recall.
"""

import json

from agent.context.budget import estimate
from agent.deeds.decisions import list_needs
from agent.interfaces.mcp.session_program import SessionProgram
from agent.runs.owner import notes_about_owner
from agent.tools.policy import Permission
from agent.workspace.workspace import Workspace

MOST = 600
"""The most tokens."""
_RECALL = ("memory_recall", ("memory",))
_HEAD = "The person keeps a vault of notes, which you reach by the tools recall, search and read of its MCP server."


def begin_text(workspace: Workspace, program: SessionProgram) -> str:
    """The text; empty where the policy keeps the program from what is remembered."""
    if program.policy.permission(*_RECALL) is not Permission.ALLOW:
        return ""
    open_things = _open(workspace)
    room = MOST - estimate("\n\n".join([_HEAD, open_things])) - 20
    about = notes_about_owner(workspace.vault, estimate)(room).strip()
    return "\n\n".join(filter(None, [_HEAD, about, open_things]))


def hook_output(text: str) -> str:
    """The text in the form in which hooks of Claude Code, Codex and Gemini CLI give it to the model."""
    output = {"hookEventName": "SessionStart", "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output} if text else {}, ensure_ascii=False)


def _open(workspace: Workspace) -> str:
    """How much waits for the person; without titles, which may be a stranger's words."""
    needs = list_needs(workspace)
    counts = {
        "for a yes or no": len(needs.approvals),
        "question(s) of the agent": len(needs.questions),
        "other thing(s) that need them": len(needs.others),
    }
    waiting = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"Open in the vault: {waiting}. `vault-agent needs` lists them." if waiting else ""
