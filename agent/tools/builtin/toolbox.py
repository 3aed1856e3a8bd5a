"""The tools that every run can be offered, made around one vault; which of them a run gets is the policy's to say."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent.clock import Clock
from agent.memory.keeping import Keeper
from agent.skills.reviewed import pins_of
from agent.texts import Language
from agent.tools.builtin.delegate import Delegate, delegate_tool
from agent.tools.builtin.human import Questions
from agent.tools.builtin.memory import save_tool
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.search import RecallMemories, SearchNotes, recall_tool, search_tool
from agent.tools.builtin.vault import vault_tools
from agent.tools.text_origin import TextOrigin
from agent.tools.tool import Tool
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ToolDeps:
    """What tools need from the rest of the program: two searches, sub-runs (None: a run that may have none), and what
    tells whether an entry is new."""

    search: SearchNotes
    recall: RecallMemories
    delegate: Delegate | None = None
    keeper: Keeper | None = None


def text_origin_of(vault: Vault) -> TextOrigin:
    """What is known on this machine of text in the vault that does not come from its owner."""
    folder = vault.writer.layout.folder
    return TextOrigin(folder / "foreign-lines.txt", pins_of(vault), vault.provenance.strangers)


def builtin_tools(
    vault: Vault,
    clock: Clock,
    question_hours: float,
    deps: ToolDeps,
    more: Iterable[Tool] = (),
    language: Language = "en",
) -> tuple[Tool, ...]:
    """All built-in tools; `more` are those that settings switch on (`web_fetch`, `shell_run`). Notes that ask are in
    `language`."""
    notes = Notes(vault, text_origin_of(vault))
    tools = [*vault_tools(notes), search_tool(notes, deps.search), recall_tool(notes, deps.recall)]
    tools += [save_tool(notes, clock, deps.keeper), Questions(vault, clock, question_hours, language).tool()]
    tools += [delegate_tool(deps.delegate)] if deps.delegate else []
    return (*tools, *more)
