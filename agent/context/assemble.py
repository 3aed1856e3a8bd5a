"""The model's input: the text that is added when a task begins (`opening`), and the request of each step (`assemble`).

The system message and the history are never changed here, so each request begins with the one before it and a
provider's cache matches. When the input is too large, memories were left out when the task began, the loop has
compacted the history (`compaction`), and only then fewer tools are described. The system message and the last turns are
never cut.
"""

import logging
from collections.abc import Iterable, Sequence
from itertools import chain

from agent.context.budget import MESSAGE, BudgetRow, Count, Window, count_message, count_tool, shorten
from agent.context.source import Piece, Receipt, Source
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached
from agent.events.bus import Injection
from agent.index.analysis import terms
from agent.llm.messages import Assistant, Context, Message, Request, System, ToolResult, ToolSpec, User
from agent.texts import Sentence
from agent.vault.folders import AGENT_NOTE

LEAST_TOOLS = 3
"""Tools that are still described when there is too little room."""
REFRESH = 500
"""Tokens that hooks may add to one step."""
_LEAST_PIECE = 64
"""The smallest room in tokens for which a best match that is too long is shortened instead of left out."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """The messages that are put into the history just before a task.

    `receipts` are those of all pieces and `message_receipts` those of each message; `untrusted` names the sources of
    text by others than the owner, with which the run is then tainted. `problems` has the failed sources with reasons;
    `absent` the sources without text.
    """

    messages: tuple[Context, ...]
    receipts: tuple[Receipt, ...]
    rows: tuple[BudgetRow, ...]
    message_receipts: tuple[tuple[Receipt, ...], ...] = ()
    untrusted: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    absent: tuple[Sentence, ...] = ()

    def remark(self, message: Context, language: str = "en") -> str:
        """The receipts of one of its messages as lines for people; empty without any."""
        return receipt_lines(self.receipts_of(message), language)

    def receipts_of(self, message: Context) -> tuple[Receipt, ...]:
        """The receipts of one of its messages."""
        found = (these for each, these in zip(self.messages, self.message_receipts, strict=True) if each is message)
        return next(found, ())


@dataclass(frozen=True, slots=True)
class Added:
    """A hook's text as a message, with its receipts."""

    message: Context
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request and the budget table that explains it."""

    request: Request
    rows: tuple[BudgetRow, ...]


def opening(
    task: str, sources: Sequence[Source], injections: Sequence[Injection], window: Window, count: Count
) -> Opening:
    """The texts of the sources and hooks for a task, within the budget for them, the best match of each first.

    The sources are asked in their order. Each may take its share of the budget; one that may take more (`Window.most`)
    leaves less to those after it. A source that fails is left out and named: a run can continue without it.
    """
    left = window.texts_room
    messages: list[Context] = []
    message_receipts: list[tuple[Receipt, ...]] = []
    rows: list[BudgetRow] = []
    pieces: list[Piece] = []
    problems: list[str] = []
    absent: list[Sentence] = []
    for source in sources:
        room = max(min(window.most(source.name), left), 0)
        answer = _pieces(source, task, room, problems)
        if answer is None:
            continue
        absent += (_left_out(source.name, each.absent) for each in answer if each.absent)
        offered = [each for each in answer if not each.absent]
        fitted = fitting(offered, room, count)
        text = "\n\n".join(piece.text for piece in fitted)
        rows.append(BudgetRow(source.name, count(text) if fitted else 0, room, len(fitted), len(offered) - len(fitted)))
        pieces += fitted
        left -= sum(count(piece.text) + MESSAGE for piece in fitted)
        if fitted:
            messages.append(Context(text, source.name))
            message_receipts.append(tuple(piece.receipt for piece in fitted if piece.receipt))
    room = max(min(window.allowed("hooks"), left), 0)
    added = injected_messages(injections, count, room)
    used = sum(count(each.message.text) for each in added)
    rows.append(BudgetRow("hooks", used, room, len(added), len(injections) - len(added)))
    message_receipts += [each.receipts for each in added]
    messages += [each.message for each in added]
    receipts = tuple(chain(filter(None, (piece.receipt for piece in pieces)), *(each.receipts for each in added)))
    untrusted = tuple(dict.fromkeys(filter(None, (piece.untrusted for piece in pieces))))
    return Opening(
        tuple(messages), receipts, tuple(rows), tuple(message_receipts), untrusted, tuple(problems), tuple(absent)
    )


def _pieces(source: Source, task: str, room: int, problems: list[str]) -> Sequence[Piece] | None:
    """The pieces of a source; None, and a line in `problems`, if it fails."""
    try:
        return source.pieces(task, room)
    except (AgentError, OSError) as error:
        logger.warning("%s cannot be asked: %s", source.name, error)
        problems.append(f"{source.name}: {error}")
        return None


def injected_messages(injections: Iterable[Injection], count: Count, room: int = REFRESH) -> tuple[Added, ...]:
    """The hooks' texts as messages, highest priority first, until `room` tokens are used up."""
    ranked = sorted((each for each in injections if each.text.strip()), key=lambda each: -each.priority)
    pieces = fitting([Piece(each.text, each.source, each.priority) for each in ranked], room, count)
    pairs = zip(pieces, ranked, strict=False)  # `fitting` keeps the beginning of `ranked`
    return tuple(Added(Context(piece.text, piece.source), each.receipts) for piece, each in pairs)


def receipt_lines(receipts: Iterable[Receipt], language: str) -> str:
    """The receipts as lines for people; empty without any."""
    return "\n".join(f"- {receipt.line(language)}" for receipt in receipts)


def fitting(pieces: Sequence[Piece], room: int, count: Count) -> list[Piece]:
    """The pieces with the highest scores that fit into `room` tokens; of equal scores, the first."""
    chosen: list[Piece] = []
    left = room
    for piece in sorted(pieces, key=lambda each: -each.score):
        if not piece.text.strip():
            continue
        used = count(piece.text) + MESSAGE
        if used > left and not chosen and left - MESSAGE >= _LEAST_PIECE:
            text = shorten(piece.text, left - MESSAGE, count)
            piece = Piece(text, piece.source, piece.score, piece.receipt, piece.untrusted)
            used = count(text) + MESSAGE
        if used > left:
            break
        chosen.append(piece)
        left -= used
    return chosen


def assemble(
    system: str,
    history: Sequence[Message],
    tools: Sequence[ToolSpec],
    window: Window,
    count: Count,
    max_output: int = 0,
) -> Prompt:
    """The request of one step; `max_output` in tokens, 0 for all of the reserve.

    Raises `LimitReached` when the parts that are never cut are larger than the budget.
    """
    ordered = in_order(with_text(history))
    fixed, spoken = _fixed(system, count), _spoken(ordered, count)
    described = list(tools)
    costs = [count_tool(spec, count) for spec in tools]
    while fixed + spoken + sum(costs[: len(described)]) > window.budget and len(described) > LEAST_TOOLS:
        described.pop()
    spent = sum(costs[: len(described)])
    if fixed + spoken + spent > window.budget:
        raise _too_much(fixed, spent, ordered, window, count)
    messages = (System(system), *ordered)
    rows = (
        BudgetRow("system", fixed, window.allowed("system"), 1),
        BudgetRow("history", spoken, window.allowed("history"), len(ordered)),
        BudgetRow("tools", spent, window.allowed("tools"), len(described), len(tools) - len(described)),
    )
    return Prompt(Request(messages, tuple(described), max_output or window.reserve, stable=len(messages)), rows)


def size(system: str, history: Sequence[Message], tools: Sequence[ToolSpec], count: Count) -> int:
    """The tokens of the request that `assemble` would return with all of these tools."""
    return _fixed(system, count) + _spoken(history, count) + sum(count_tool(spec, count) for spec in tools)


def with_text(history: Iterable[Message]) -> tuple[Message, ...]:
    """The history without texts that are empty: memories of which nothing is left."""
    return tuple(message for message in history if message.text or not isinstance(message, Context))


def in_order(history: Sequence[Message]) -> tuple[Message, ...]:
    """The history with tool results directly after the message that asked for them, as every provider requires, in the
    order of its calls.

    Texts of hooks between two results move after the last one. With an unanswered call, the history is unchanged.
    """
    ordered: list[Message] = []
    held: list[Message] = []
    open_calls: set[str] = set()
    asked: tuple[str, ...] = ()
    for message in history:
        if isinstance(message, ToolResult) and message.call in open_calls:
            open_calls.discard(message.call)
            ordered.append(message)
            if not open_calls:
                ordered[-len(asked) :] = sorted(ordered[-len(asked) :], key=lambda each: asked.index(_call_of(each)))
        elif isinstance(message, Assistant):
            ordered += [*held, message]
            held, asked = [], tuple(dict.fromkeys(call.id for call in message.calls))
            open_calls = set(asked)
        elif open_calls:
            held.append(message)
        else:
            ordered.append(message)
        if held and not open_calls:
            ordered += held
            held = []
    return tuple(history) if open_calls else (*ordered, *held)


def _call_of(message: Message) -> str:
    return message.call if isinstance(message, ToolResult) else ""


def _fixed(system: str, count: Count) -> int:
    return count(system) + MESSAGE


def _spoken(history: Sequence[Message], count: Count) -> int:
    return sum(count_message(message, count) for message in history)


def _left_out(source: str, why: str) -> Sentence:
    reason = Sentence(why)
    return Sentence("{problem}: {words}", problem=Sentence(source), words=reason)


def _too_much(fixed: int, tools: int, history: Sequence[Message], window: Window, count: Count) -> LimitReached:
    """The error that names the largest part of a request, with a hint for the person."""
    if window.budget <= 0:
        return LimitReached(
            "the model's window of {tokens:,} tokens leaves nothing for the question "
            "once {reserve:,} are kept for the answer",
            limit="llm.max_output",
            hint="vault-agent config set llm.max_output {max}, or a model with a larger window",
            tokens=window.tokens,
            reserve=window.reserve,
            max=max(window.tokens // 8, 1),
        )
    longest = max((count_message(each, count) for each in history if isinstance(each, User)), default=0)
    spoken = _spoken(history, count)
    if longest > window.budget // 2:
        what = Sentence("what you wrote is about {tokens:,} tokens long", tokens=longest)
        todo = Sentence("put the text into a note and ask about the note")
    elif fixed > window.budget // 2:
        what = Sentence("{note} and the rules take about {tokens:,} tokens", note=AGENT_NOTE, tokens=fixed)
        todo = Sentence("make {note} shorter", note=AGENT_NOTE)
    elif spoken > window.budget // 2:
        what = Sentence("the last turns take about {tokens:,} tokens", tokens=spoken)
        todo = Sentence("begin a new session")
    else:
        needed = fixed + tools
        what = Sentence("what every request needs takes about {tokens:,} tokens", tokens=needed)
        todo = Sentence("lower llm.max_output, which is kept free for the answer")
    return LimitReached(
        "{what}; with all that goes with it that makes {tokens:,}, and the model takes {budget:,} at once",
        limit="llm.window",
        hint="{todo}, or choose a model with a larger window (llm.model, llm.window)",
        what=what,
        tokens=fixed + spoken + tools,
        budget=window.budget,
        todo=todo,
    )


TOOL_SEARCH = "tool_search"
"""The tool that finds the others and has them described."""
CORE = frozenset(
    (
        *("search_vault", "vault_read", "vault_write", "vault_edit", "vault_append", "vault_move"),
        *("memory_recall", "memory_save", "human_ask", "skills", TOOL_SEARCH),
    )
)
"""The tools that are described in any window: nearly every task about notes needs some of them."""
_PART = 10
"""All tools are described while they take less than this part of the window, as a divisor."""


def choose_tools(
    specs: Sequence[ToolSpec], window: int, count: Count, others: Sequence[ToolSpec] = ()
) -> tuple[ToolSpec, ...]:
    """The tools to describe with a window of so many tokens, in their order: all if they take less than a tenth of it,
    else those of `CORE`; after them the `others`, of other programs, if they have room in the same tenth."""

    def takes(described: Sequence[ToolSpec]) -> int:
        return sum(count_tool(spec, count) for spec in described) * _PART

    chosen = tuple(specs) if takes(specs) < window else tuple(spec for spec in specs if spec.name in CORE)
    return (*chosen, *others) if takes((*chosen, *others)) < window else chosen


_OF_ALL = "mcp note notes vault file files text line person agent tool"
"""Words that the descriptions of many tools have."""


def find_tools(purpose: str, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools that share words with a purpose, the best first, without those that share less than half as much as the
    best; a word in a tool's name counts twice. What most tools are about, such as notes, tells none from another."""
    asked = set(terms(purpose)) - set(terms(_OF_ALL))
    names = [asked & set(terms(spec.name.replace("_", " "))) for spec in specs]
    fits = [
        len(name) + len(name | asked & set(terms(spec.description))) for name, spec in zip(names, specs, strict=True)
    ]
    ranked = sorted(zip(fits, specs, strict=True), key=lambda pair: -pair[0])
    return tuple(spec for fit, spec in ranked if fit and fit * 2 >= ranked[0][0])
