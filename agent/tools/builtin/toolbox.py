"""The tools that every run can be offered, made around one vault; which of them a run gets is the policy's to say."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent.clock import Clock
from agent.memory.capture.writer import EntryWriter
from agent.skills.loading.pins import pins_of
from agent.tools.builtin.delegate import Delegate, delegate_tool
from agent.tools.builtin.human import Questions
from agent.tools.builtin.memory import save_tool
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.search import Recall, Search, recall_tool, search_tool
from agent.tools.builtin.vault import vault_tools
from agent.tools.foreign import Foreign
from agent.tools.tool import Tool
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Behind:
    """What tools need from the rest of the program: two searches, sub-runs (None: a run that may have none), and what
    tells whether an entry is new."""

    search: Search
    recall: Recall
    delegate: Delegate | None = None
    keeper: EntryWriter | None = None


def foreign_text(vault: Vault) -> Foreign:
    """What is known on this machine of text in the vault that does not come from its owner."""
    folder = vault.private_folder
    return Foreign(folder / "foreign-lines.txt", pins_of(vault), vault.provenance.strangers)


def builtin_tools(
    vault: Vault, clock: Clock, question_hours: float, behind: Behind, more: Iterable[Tool] = (), language: str = "en"
) -> tuple[Tool, ...]:
    """All built-in tools; `more` are those that settings switch on (`web_fetch`, `shell_run`). Notes that ask are in
    `language`."""
    notes = Notes(vault, foreign_text(vault))
    tools = [*vault_tools(notes), search_tool(notes, behind.search), recall_tool(notes, behind.recall)]
    tools += [save_tool(notes, clock, behind.keeper), Questions(vault, clock, question_hours, language).tool()]
    tools += [delegate_tool(behind.delegate)] if behind.delegate else []
    return (*tools, *more)
