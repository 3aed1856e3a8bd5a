"""What is kept of a program's session when it ends: the decisions that the program itself has stated, as its words.

They go through the door for facts: under the program's policy, in its name, as what a model said. Nothing that it calls
the person's words counts, and nothing of a program that has read a stranger's text in the vault.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISREG

from agent.errors import AgentError
from agent.interfaces.mcp.session_program import SessionProgram
from agent.llm.messages import Json, JsonObject, ToolCall, items, mapping, text
from agent.memory.capture.facts import stated
from agent.memory.entry import Entry
from agent.memory.remember import SameWords
from agent.memory.store import load_entries
from agent.memory.understanding.seam import FactKind
from agent.runs.decisions import approvals
from agent.tools.builtin.memory import SAVE, MemoryTools
from agent.tools.builtin.notes import Notes
from agent.tools.policy import Permission
from agent.tools.registry import Registry
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import ENTRIES
from agent.workspace.workspace import Workspace

MOST = 5
"""The most decisions of one session: the last ones."""
_LARGEST = 64 * 1024 * 1024
_LONGEST = 400
logger = logging.getLogger(__name__)


def keep_decisions(workspace: Workspace, program: SessionProgram, event: Json) -> list[str]:
    """Keep what was decided in the session that a hook tells of; returns what was written, without what is known."""
    fields = mapping(event)
    file, folder = text(fields.get("transcript_path")), Path(text(fields.get("cwd"))).name
    if program.context.taint or program.policy.permission(SAVE, ("memory",)) is not Permission.ALLOW:
        logger.info("nothing of a session of %s is kept: its policy, or what it has read", program.name)
        return []
    found = dict.fromkeys(decisions(program_words(Path(file))))
    where = f" in {folder}" if folder else ""
    lines = [f"{program.name}{where}: “{each}”" for each in list(found)[-MOST:]]
    return [each for each in lines if not _is_known(workspace, each) and _save(workspace, program, each)]


def decisions(messages: Sequence[str] | Iterator[str]) -> Iterator[str]:
    """The sentences of messages that state a decision."""
    for message in messages:
        for fact in stated(message):
            if fact.kind is FactKind.DECISION and len(fact.text) <= _LONGEST:
                yield " ".join(fact.text.split())


def program_words(file: Path) -> Iterator[str]:
    """The messages of the program in a transcript of Claude Code, Codex or Gemini CLI; none of one that cannot be
    read."""
    try:
        found = file.stat()
        if not S_ISREG(found.st_mode) or found.st_size > _LARGEST:  # a pipe would have no end
            return
        rows = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for row in rows:
        try:
            yield from _words(mapping(json.loads(row)))
        except (ValueError, RecursionError):
            continue


def _words(row: JsonObject) -> Iterator[str]:
    payload = mapping(row.get("payload"))
    message = mapping(row.get("message"))
    if row.get("type") == "assistant" and message.get("role") == "assistant":
        yield from _texts(message.get("content"))
    elif row.get("type") == "response_item" and payload.get("role") == "assistant":
        yield from _texts(payload.get("content"))
    elif row.get("type") == "gemini":
        yield from _texts(row.get("content"))


def _texts(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in map(mapping, items(content)):
        if text(part.get("type")) in ("text", "output_text", ""):
            yield text(part.get("text"))


def _save(workspace: Workspace, program: SessionProgram, words: str) -> bool:
    vault, clock = workspace.vault, workspace.vault.clock
    notes = Notes(vault, text_origin_of(vault), workspace.texts)
    language = workspace.settings.vault.language
    tools = MemoryTools(notes, clock, SameWords(vault), language, is_models=True).tools()
    guard = approvals(workspace).guard
    registry = Registry(tools, program.policies, guard, clock, lambda tool, context: True, vault.masked)
    try:
        called = registry.call(ToolCall(clock.new_id(), SAVE, {"text": words}), program.context)
    except AgentError as error:
        logger.warning("a decision of %s is not kept: %s", program.name, error.message)
        return False
    return called.output is not None


def _is_known(workspace: Workspace, words: str) -> bool:
    """True if an entry has these words: a session that goes on is told of again."""
    root, home, clock = workspace.vault.place.root, workspace.vault.home, workspace.vault.clock
    name = Path(Entry(clock.new_id(), clock.now(), words).path).stem  # a day, the first words, the end of an id
    found = (Path(root) / home.at(ENTRIES)).glob(f"*/*/*{name[10:-6]}*.md")
    paths = [path.relative_to(root).as_posix() for path in found]
    return any(each.entry.text == words for each in load_entries(workspace.vault, paths))
