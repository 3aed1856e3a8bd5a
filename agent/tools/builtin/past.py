"""What happened, and what is known: the tools with which the agent looks back in the work that nobody waits for.

Episodic memory is what happened, with dates; semantic memory is what holds, whenever it was said. They exist only in
runs with such a purpose: elsewhere `memory_recall` and `search_vault` answer what a person asks.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby, zip_longest
from typing import TypeAlias

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import ToolRetry
from agent.index.query import Hit
from agent.llm.messages import JsonObject
from agent.memory.daily import cut
from agent.memory.entry import EntryType, parse_entry
from agent.memory.forgetting.tombstones import Tombstones, load_tombstones
from agent.memory.recall.authorship import Asker
from agent.memory.recall.candidates import SPARE, is_bare, is_recalled_as_note
from agent.memory.recall.recaller import is_for, plain
from agent.memory.store import KINDS, PastEvent, PastKind, day_in, past_events
from agent.times.periods import Period, parse_period
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.search import RecallMemories, SearchNotes
from agent.tools.note_access import may_read
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.vault.folders import DAILY, ENTRIES, SESSIONS

PURPOSES = frozenset({"self_reflection", "prepare", "draft", "chase"})
"""The purposes of the runs in which these tools exist."""
CHARACTERS = 2_000
"""The most characters of a result."""
DAYS, MOST_DAYS = 7, 366
LIMIT, MOST = 8, 20
_EVENTS, _MOST_EVENTS = 40, 100
_QUOTE = 200
_NAMED = 8
"""The most notes changed by hand that are named for one day."""
_REMARK = 160
"""Characters that are left for a remark at the end."""
_CONCLUDED = frozenset(str(each) for each in (EntryType.CHAT_TURN, EntryType.AUTO_CAPTURE))
"""Kinds of entries that tell what happened, not what holds."""
_EPISODES = frozenset({*_CONCLUDED, "daily"})
_PERIOD = "such as last week, past 3 days, 2026-11, 2026-11-01..2026-11-15, 上周"

_Block: TypeAlias = tuple[str, tuple[Cited, ...], str]
"""A piece of a result: its text, the notes in it, and the origin of text in it that the person did not write."""


@dataclass(frozen=True, slots=True)
class PastTools:
    """The tools for one vault."""

    notes: Notes
    clock: Clock
    search: SearchNotes
    recall: RecallMemories

    def episodic(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """Find events that have to do with some words: passages of entries, daily notes and sessions."""
        paths = " ".join(f'path:"{self.notes.vault.home.at(each)}"' for each in (ENTRIES, DAILY, SESSIONS))
        period = self._days(call)
        between = f" after:{period.first} before:{period.last}" if period else ""
        return self._passages(call, context, f"{paths}{between}", self._is_episode(context))

    def semantic(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """Find knowledge that has to do with some words: memories that hold, and passages of the person's notes."""
        query, limit = arguments.text(call, "query"), arguments.number(call, "limit", LIMIT)
        home = self.notes.vault.home
        recalled = self.recall(query, limit * SPARE, context)
        memories = [each.hit for each in recalled.found if each.kind not in _EPISODES][:limit]
        answer = self.search(plain(query), limit * SPARE)
        seen = (each for each in answer.hits if may_read(context.role, each.path, home))
        notes = [each for each in seen if is_recalled_as_note(each, home)]
        pairs = zip_longest(memories, notes)
        found = list({(each.path, each.lines): each for pair in pairs for each in pair if each is not None}.values())
        days = {each.path: each.day for each in recalled.found}
        degraded = recalled.degraded or answer.degraded or ""
        return self._format_passages(found[:limit], degraded, lambda hit: days.get(hit.path, ""))

    def recent(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List what was asked, said and changed by hand in the last days."""
        days, today = arguments.number(call, "days", DAYS), self.clock.now().date()
        return self._events(Period(today - timedelta(days=days - 1), today), KINDS, _EVENTS, context)

    def between(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """The same for a period in words or dates; with words to look for, the passages of that time about them."""
        period = self._period(arguments.text(call, "period"))
        if arguments.text(call, "query").strip():
            within = f"after:{period.first} before:{period.last}"
            return self._passages(call, context, within, self._is_seen(context))
        asked = arguments.texts(call, "kinds")
        kinds = tuple(each for each in KINDS if not asked or each in asked)
        return self._events(period, kinds, arguments.number(call, "limit", _EVENTS), context)

    def _days(self, call: JsonObject) -> Period | None:
        return self._period(period) if (period := arguments.text(call, "period")) else None

    def _period(self, text: str) -> Period:
        found = parse_period(text, self.clock.now().date())
        if found is None:
            raise ToolRetry(f"period: {text[:60]} is not understood, or is not in the past; write it {_PERIOD}")
        return found

    def _passages(
        self, call: JsonObject, context: RunContext, filters: str, is_allowed: Callable[[Hit], bool]
    ) -> ToolOutput:
        query, limit = plain(arguments.text(call, "query")), min(arguments.number(call, "limit", LIMIT), MOST)
        answer = self.search(f"{query} {filters}", limit * SPARE)
        found = [each for each in answer.hits if is_allowed(each)]
        return self._format_passages(found[:limit], answer.degraded or "")

    def _is_seen(self, context: RunContext) -> Callable[[Hit], bool]:
        """True for passages that the person of the run may see, and that say something."""
        home, asker = self.notes.vault.home, Asker(context.sender, "", context.role == "owner", run=context.run)

        def is_seen(hit: Hit) -> bool:
            if home.holds(hit.path, ENTRIES):
                entry = parse_entry(self.notes.vault.read(hit.path) or b"")
                return entry is not None and is_for(entry, asker)
            return may_read(context.role, hit.path, home) and not is_bare(hit.passage)

        return is_seen

    def _is_episode(self, context: RunContext) -> Callable[[Hit], bool]:
        is_seen, session = self._is_seen(context), context.session
        return lambda hit: hit.path != session and ("type", "about") not in hit.facets and is_seen(hit)

    def _format_passages(
        self, found: Sequence[Hit], degraded: str, day: Callable[[Hit], str] = lambda hit: ""
    ) -> ToolOutput:
        """Passages with their day, note and lines, each with as many characters as there is room for."""
        remark = f"(the search is limited just now: {degraded})" if degraded else ""
        if not found:
            return ToolOutput(f"nothing was found; try other words\n{remark}".strip())
        stones = load_tombstones(self.notes.vault)
        room = max((CHARACTERS - _REMARK) // len(found), 80)
        blocks = [self._passage(number, hit, day(hit), room, stones) for number, hit in enumerate(found, 1)]
        return _joined(blocks, 0, "ask for fewer at once, or in other words", remark)

    def _passage(self, number: int, hit: Hit, day: str, room: int, stones: Tombstones) -> _Block:
        facets = dict(reversed(hit.facets))
        when = day or day_in(hit.path) or facets.get("created", "")[:10] or facets.get("date", "")[:10] or "no date"
        replaced = ", replaced since" if "superseded_by" in facets else ""
        head = f"{number}. {when} · {hit.part}, lines {hit.lines[0]}-{hit.lines[1]}{replaced}"
        rows = (stones.left_of_log(row) for row in hit.passage.splitlines())
        text = cut(" ".join(" ".join(rows).split()), max(room - len(head) - 4, 60))
        data = self.notes.vault.read(hit.path)
        origin = self.notes.origin_of(hit.path, data, hit.lines) if data is not None else ""
        return f"{head}\n“{text}”", (Cited(hit.path, hit.lines),), origin

    def _events(self, period: Period, kinds: Sequence[PastKind], limit: int, context: RunContext) -> ToolOutput:
        """List the events of a period, the latest first, by day.

        Text from elsewhere is named but not quoted: after a look back the run may still plan and write."""
        if context.role != "owner":
            return ToolOutput("nothing that this person may see")
        found = [
            each
            for each in past_events(self.notes.vault, period.first, period.last, kinds)
            if each.kind != "said" or (each.sender == context.sender and not each.chat)
        ]
        if not found:
            return ToolOutput(f"nothing happened from {period.first} to {period.last}")
        stones = load_tombstones(self.notes.vault)
        blocks = [block for day, some in groupby(found, _day) for block in self._of_day(day, list(some), stones)]
        return _joined(blocks[:limit], len(blocks[limit:]), "ask for fewer days or one kind")

    def _of_day(self, day: date, found: Sequence[PastEvent], stones: Tombstones) -> Iterator[_Block]:
        head = f"{day} ({day:%A})\n"
        for each in found:
            if each.kind != "edited":
                text, cited = self._line(each, stones)
                yield f"{head}{text}", cited, ""
                head = ""
        edited = [each for each in found if each.kind == "edited"]
        if edited:
            named = [f"{each.path} ({each.text})" for each in edited if not self.notes.origin.named(each.path)]
            left = len(edited) - len(named[:_NAMED])
            more = f" and {left} more" if left else ""
            paths = [each.path for each in edited[:_NAMED] if "deleted" not in each.text]
            text = f"{head}- changed by hand: {', '.join(named[:_NAMED])}{more}"
            yield text, tuple(Cited(path, (1, 1)) for path in paths), ""

    def _line(self, each: PastEvent, stones: Tombstones) -> tuple[str, tuple[Cited, ...]]:
        data = self.notes.vault.read(each.path) or b""
        lines = each.lines or (1, 1)
        origin = self.notes.origin_of(each.path, data, lines)
        replaced = " (replaced since)" if each.is_replaced else ""
        words = stones.left_of_log(" ".join(each.text.split()) + replaced)
        quoted = "(text from elsewhere, read it in the note)" if origin else f"“{cut(words, _QUOTE)}”"
        where = f"({each.path}, line {lines[0]})" if not origin or not self.notes.origin.named(each.path) else ""
        return " ".join(f"- {each.time} {each.kind}: {quoted} {each.link} {where}".split()), (Cited(each.path, lines),)

    def tools(self) -> tuple[Tool, ...]:
        """The four tools."""
        query: JsonObject = {"type": "string", "minLength": 1, "maxLength": 500}
        limit: JsonObject = {"type": "integer", "minimum": 1, "maximum": MOST, "description": f"default {LIMIT}"}
        period: JsonObject = {"type": "string", "maxLength": 100, "description": _PERIOD}
        days: JsonObject = {"type": "integer", "minimum": 1, "maximum": MOST_DAYS, "description": f"default {DAYS}"}
        kind: JsonObject = {"type": "string", "enum": list(KINDS)}
        kinds: JsonObject = {"type": "array", "items": kind, "description": "default all"}
        about = f"default {_EVENTS}, with a query {LIMIT}"
        events: JsonObject = {"type": "integer", "minimum": 1, "maximum": _MOST_EVENTS, "description": about}
        rows = (
            ("search_episodic_memory", "Find what happened, with dates: conversations, daily notes, entries.",
             arguments.schema("query", query=query, period=period, limit=limit), self.episodic),
            ("search_semantic_memory", "Find what is known, by meaning: facts, preferences, the person's notes.",
             arguments.schema("query", query=query, limit=limit), self.semantic),
            ("get_recent_activity", "List what the person asked, said and changed by hand in the last days.",
             arguments.schema(days=days), self.recent),
            ("time_filter", "List what happened in a period; with a query, passages of that time about it.",
             arguments.schema("period", period=period, query=query, kinds=kinds, limit=events), self.between),
        )  # fmt: skip
        return tuple(
            Tool(name, says, schema, perform, frozenset({"memory"}), readonly=True, only_for=PURPOSES)
            for name, says, schema, perform in rows
        )


def _day(event: PastEvent) -> date:
    return event.day


def _joined(blocks: Sequence[_Block], more: int, hint: str, remark: str = "") -> ToolOutput:
    """As many of the pieces as there is room for, and how many are left out, with those that are not among them."""
    rows: list[str] = []
    room = CHARACTERS - _REMARK
    for text, _, _ in blocks:
        if len(text) + 1 > room:
            break
        room -= len(text) + 1
        rows.append(text)
    fitting, left = blocks[: len(rows)], len(blocks) - len(rows) + more
    rows += [f"and {left} more; {hint}"] if left else []
    origins = dict.fromkeys(origin for _, _, origin in fitting if origin)
    sources = tuple(each for _, cited, _ in fitting for each in cited)
    return ToolOutput("\n".join(filter(None, [*rows, remark])), sources, untrusted="; ".join(origins))
