"""The tools as programs see them: few, and with few words, since a program's model reads all of them in every task.

Each stands for one of the agent's own tools or several; `calls` says how a call becomes one of theirs.
"""

from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.llm.messages import Json, JsonObject
from agent.texts import joined
from agent.tools.arguments import schema
from agent.vault.change import LEAVE

_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}
_YES: JsonObject = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool: `stands_for` are the agent's tools that it uses; the first, and its `group`, decide by the policy
    whether it is offered. `readonly`: it is also offered where nothing may be changed."""

    name: str
    description: str
    parameters: JsonObject
    stands_for: tuple[str, ...]
    group: str
    readonly: bool = False

    @property
    def only_reads(self) -> bool:
        """True if no call of it changes anything, so that a program need not ask before it."""
        return self.readonly and len(self.stands_for) == 1


def _about(description: str, kind: JsonObject = _TEXT) -> Json:
    return {**kind, "description": description}


DEFINITIONS = (
    Definition(
        "search",
        "Find passages in the person's notes by words and meaning. Filters: path: tag: type: after: before:",
        schema("query", query=_TEXT, limit=_NUMBER),
        ("search_vault",),
        "search",
        readonly=True,
    ),
    Definition(
        "recall",
        "What is remembered about a person, a preference, a decision.",
        schema("query", query=_TEXT, limit=_NUMBER),
        ("memory_recall",),
        "memory",
        readonly=True,
    ),
    Definition(
        "read",
        "Read a note, some lines, or one section. Gives the base that write needs.",
        schema("path", path=_about("path or id"), heading=_TEXT, lines=_about("10-20")),
        ("vault_read",),
        "fs",
        readonly=True,
    ),
    Definition(
        "write",
        "Write a note in one commit, one way: content (a new note; with base it replaces what you read), "
        "old and new (old must occur once), or append. With heading, content or append is for that section.",
        schema(
            "path",
            path=_about("such as projects/garden.md"),
            content=_TEXT,
            base=_about("from read"),
            old=_TEXT,
            new=_TEXT,
            append=_TEXT,
            heading=_TEXT,
            dry_run=_about("only show the diff", _YES),
        ),
        ("vault_write", "vault_edit", "vault_append"),
        "fs",
    ),
    Definition(
        "remember",
        "Remember one fact, preference or decision for good.",
        schema("text", text=_about("whole sentences, with names"), keywords={"type": "array", "items": _TEXT}),
        ("memory_save",),
        "memory",
    ),
    Definition(
        "undo",
        "Take back your own changes: the last one, one commit, or all since a time (2h, today).",
        schema(commit=_TEXT, since=_TEXT, dry_run=_YES),
        ("vault_undo",),
        "fs",
    ),
    Definition(
        "log",
        "List changes, newest first: who, when, what.",
        schema(path=_TEXT, actor=_TEXT, since=_about("2h, today, 2026-11-21"), limit=_NUMBER),
        ("vault_log",),
        "fs",
        readonly=True,
    ),
    Definition(
        "move",
        "Give a note another path; without `to`, put it into the archive.",
        schema("path", path=_TEXT, to=_TEXT, why=_TEXT),
        ("vault_move",),
        "fs",
    ),
    Definition(
        "forget",
        "Forget a memory, or words wherever the agent wrote them, and keep them from coming back.",
        schema("what", what=_about("path, id or the words"), dry_run=_YES),
        ("memory_forget",),
        "memory",
    ),
    Definition(
        "ask",
        "Give the vault's own agent a task and wait for its answer, which names the session for going on. A session "
        "without a task waits on.",
        schema(task=_TEXT, session=_TEXT),
        ("agent_ask",),
        "orchestration",
    ),
    Definition(
        "jobs",
        "List what the agent does at its time, or show one job.",
        schema(id=_TEXT),
        ("jobs.list",),
        "schedule",
        readonly=True,
    ),
    Definition(
        "inbox",
        "List the requests to the agent and what waits for the person; with text, leave a request.",
        schema(text=_TEXT),
        ("inbox_list", LEAVE),
        "human",
        readonly=True,
    ),
)
NAMES = tuple(each.name for each in DEFINITIONS)
DEFAULT = ("search", "recall", "read", "write", "remember", "undo", "log")
"""Listed unless the person names others: what most tasks need, in at most 900 tokens. The others can be called."""
ALL = "all"


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """What a person offers to programs: the tools that may be called, those of them that are listed, and whether only
    reading is allowed."""

    callable: Sequence[Definition]
    listed: Sequence[Definition]
    read_only: bool = False


def offer_of(names: str, *, read_only: bool) -> ToolOffer:
    """The offer of the tools that a person names, such as `search,read` or `all` (empty: the usual ones, and no other
    is refused); raises `UserError` for an unknown one."""
    listed = _named(names)
    return ToolOffer(listed if names.strip() else DEFINITIONS, listed, read_only)


def _named(names: str) -> Sequence[Definition]:
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(DEFAULT)
    wanted = list(NAMES) if wanted == [ALL] else wanted
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        raise UserError(
            "there is no tool {names}",
            hint="the tools are {known}; all stands for all of them",
            names=joined(unknown, ", "),
            known=joined(NAMES, ", "),
        )
    return tuple(each for each in DEFINITIONS if each.name in wanted)
