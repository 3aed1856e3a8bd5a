"""The provider for vaults without a model, and in place of a model that does not answer: it says what of a message will
be remembered, and answers questions with the best passages, quoted and linked.

They are memories that may be recalled for the person who asks, and for the owner passages of other notes, alternating,
the best of each first.

What a day was about, in lines, for answers without a model: what was said on it, changed by hand and asked.

The day's own note has what was said only once the day was summed up, and without what is recalled beside it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, filterfalse, zip_longest
from pathlib import PurePosixPath

from agent.config.resources import patterns, words
from agent.dataclass import dataclass
from agent.index.query import Hit, Mode, SearchResult
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Model,
    OnText,
    Reply,
    Request,
    ToolResult,
    Usage,
    User,
    ignore,
    never,
)
from agent.llm.offline import ModelState, Offline, Quoted, QuotedPassage, format_reply
from agent.markdown.requests import has_answer, own_words
from agent.memory.capture.facts import stated
from agent.memory.daily import cut
from agent.memory.forgetting.tombstones import Tombstones, load_tombstones
from agent.memory.memory_note import links_of, rests_on
from agent.memory.memory_note import words as fact_in
from agent.memory.recall.authorship import Asker
from agent.memory.recall.candidates import ENTRY_KINDS, is_bare
from agent.memory.recall.likely import LEAST, coverage, fits_by_itself, likelihood
from agent.memory.recall.recaller import Recollection, Remembered, plain
from agent.memory.recall.where_and_when import asked_days
from agent.memory.store import PastEvent, past_events
from agent.memory.understanding.statements import is_question, is_request, is_small_talk, is_to_forget, sentences_in
from agent.memory.understanding.wording import wording
from agent.runs.recall_source import RecallSource
from agent.runs.reminders import (
    ReminderWish,
    format_reminders,
    may_set,
    reminder_wishes,
    results_of_calls,
    split_wish,
)
from agent.texts import Language, text
from agent.tools.text_origin import TextOrigin
from agent.vault.folders import QUESTIONS, SESSION_LINK
from agent.vault.store import Vault

_LINE = 120
"""The most characters of a line."""
_NOTES, _ASKED = 8, 4
"""The most notes, and the most tasks, that are named."""


def recap(vault: Vault, foreign: TextOrigin, day: date, asker: Asker, language: Language) -> str:
    """The lines about a day, for the owner; without text of others, and without what is forgotten."""
    stones = load_tombstones(vault)
    events = [each for each in reversed(past_events(vault, day, day)) if not _is_of_others(vault, foreign, each, asker)]
    statements = [each for each in events if each.kind == "said"]
    rows = [f"- {each.time} {_cut(stones.left_of_log(each.text))}" for each in statements if not each.is_replaced]
    notes = _edited_notes(events)
    asked = _asked_tasks(events, stones, set(map(_cut, (each.text for each in statements))))
    comma = text("recap.comma", language)
    rows += [text("recap.edited", language, notes=comma.join(notes[:_NOTES]))] if notes else []
    rows += [text("recap.asked", language, tasks=comma.join(asked[-_ASKED:]))] if asked else []
    return "\n".join(row for row in rows if row.strip("- :0123456789"))


def _edited_notes(events: Iterable[PastEvent]) -> list[str]:
    """Links to the notes that were edited by hand."""
    paths = (PurePosixPath(each.path) for each in events if each.kind == "edited")
    return [f"[[{path.stem}]]" for path in paths if path.suffix == ".md"]


def _asked_tasks(events: Iterable[PastEvent], stones: Tombstones, others: Collection[str]) -> list[str]:
    """The tasks that were asked on a day, in quotes, each once; without what `others` say."""
    asked = (each.text for each in events if each.kind == "asked" and each.link)
    tasks = dict.fromkeys(_cut(stones.left_of_log(each)) for each in asked)
    return [f"“{each}”" for each in tasks if each and each not in others]


def _is_of_others(vault: Vault, foreign: TextOrigin, event: PastEvent, asker: Asker) -> bool:
    if event.kind == "said" and (event.sender != asker.sender or event.chat):
        return True
    return bool(foreign.source(event.path, vault.read(event.path) or b"", event.lines or (1, 1)))


def _cut(words: str) -> str:
    return cut(" ".join(words.split()), _LINE)


PASSAGES = 5
BY_CHANCE = 2
"""The most passages that are quoted where none has a word of the question."""
_OF_SESSION = re.compile(SESSION_LINK)
"""A line of a day's log about a conversation: it has what was asked in it."""


@dataclass(frozen=True, slots=True)
class ExtractiveProvider:
    """A `Provider` without a model; its answers say so. It costs nothing and sends nothing."""

    recall: RecallSource
    language: Language
    run: str = ""
    job: str = ""
    has_model: bool = False

    def of_run(self, run: str, job: str = "", has_model: bool = False) -> "ExtractiveProvider":
        """The same for a run: the person who asks in it determines which notes may be quoted. Nothing that a `job` says
        is remembered. `has_model`: there is one, which does not answer."""
        return replace(self, run=run, job=job, has_model=has_model)

    @property
    def model(self) -> Model:
        return Offline().model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """A reply with what will be remembered of the last message, and the passages that fit what it asks."""
        messages = [each.text for each in request.messages if isinstance(each, User)]
        asked, statements = messages[-1] if messages else "", self._new_statements(messages)
        wishes = reminder_wishes(asked, self.recall.workspace.clock.now().astimezone())
        results = results_of_calls(request.messages)
        calls = tuple(each.call for each in wishes if each.call)
        if calls and not (self.job or results) and may_set(request):
            return Reply(Assistant("", calls), Usage(), "tools", self.model.name)
        done = self._reminded(wishes, results) if wishes else ""
        sought = _sought(asked, is_statement=bool(statements or done))
        quoted = self._quoted(sought) if sought or not asked else None
        answer = format_reply(statements, quoted, self.language, done, self._model_state(request, done))
        on_text(answer)
        return Reply(Assistant(answer), Usage(), "end", self.model.name)

    def _reminded(self, wishes: Sequence[ReminderWish], results: Mapping[str, ToolResult]) -> str:
        """The reminder itself, in a job's run; else what came of the wishes for one."""
        if self.job:
            return text("reminder.due", self.language)
        return format_reminders(self.recall.workspace, wishes, results, self.language)

    def _model_state(self, request: Request, done: str) -> ModelState:
        """The state of the model for the reply: that none is configured they read once in a conversation, and not where
        a job has `done` what it was for."""
        if self.has_model:
            return "silent"
        is_first = not any(isinstance(each, Assistant) and each.text for each in request.messages)
        return "none" if is_first and not (self.job and done) else "known"

    def _new_statements(self, messages: Sequence[str]) -> tuple[str, ...]:
        """The statements of the last message that become memories."""
        workspace = self.recall.workspace
        if self.job or workspace.settings.memory.capture != "facts" or self.recall.ledger.asker(self.run) is None:
            return ()
        vault, stones = workspace.vault, load_tombstones(workspace.vault)
        found = [fact.text for each in messages[-1:] for fact in stated(vault.masked(each))]
        return tuple(each for each in found if not stones.is_forgotten(each))

    def _quoted(self, question: str) -> Quoted:
        asker = self.recall.ledger.asker(self.run)
        if asker is None:
            return Quoted()
        # without a model, nothing of the conversation stands before anybody: its own memories may be quoted, too
        known = self.recall.recaller.recall(question, replace(asker, session=""), PASSAGES, unasked=True)
        answer = self.recall.others(plain(question), PASSAGES) if asker.is_owner else None
        notes = self._notes(question, answer) if answer is not None else ()
        unsearched = known.degraded or (answer.degraded if answer is not None else None) or ""
        wishes = () if is_question(question) else tuple(filter(is_request, sentences_in(question)))
        is_asked = is_question(question) or self.recall.workspace.settings.memory.capture != "facts"
        found = self._memories(question, known, asker, is_asked=is_asked or bool(wishes))
        mixed = filter(None, chain.from_iterable(zip_longest(found, notes)))
        return self._chosen(question, list(mixed), wishes, is_asked=is_asked, unsearched=unsearched)

    def _memories(self, question: str, known: Recollection, asker: Asker, *, is_asked: bool) -> list[Remembered]:
        """The memories that are likely to help. "Today I found rot" names a day, and asks for nothing of it: without
        `is_asked` no log of a day is among them."""
        has_words = any(map(_share, filterfalse(_is_list, known.found)))
        fresh = [each for each in known.found if each.text not in question and (is_asked or not each.is_asked_for)]
        likely = (each for each in fresh if has_words or self._is_likely(question, each, known.mode))
        return [self._of_day(each, asker) if each.is_asked_for else each for each in likely]

    def _chosen(
        self,
        question: str,
        found: Sequence[Remembered | Hit],
        wishes: Sequence[str],
        *,
        is_asked: bool,
        unsearched: str,
    ) -> Quoted:
        """The closest passages; without those that are near by chance, where the question wants something else."""
        close, is_by_chance = _closest(question, found)
        passages = tuple(map(_passage, close))
        sure = () if is_by_chance else passages
        if wishes:
            return Quoted(sure, wants="forgetting" if is_to_forget(wishes[0]) else "work", unsearched=unsearched)
        is_of_day = bool(asked_days(question, self.recall.workspace.clock.now().date()))
        may_guess = is_asked and not is_of_day  # of a day without a log, nothing is near
        return Quoted(
            passages if may_guess else sure, is_by_chance=is_by_chance, is_asked=is_asked, unsearched=unsearched
        )

    def _is_likely(self, question: str, each: Remembered, mode: Mode) -> bool:
        least = LEAST[self.recall.workspace.settings.memory.floor]
        return each.is_asked_for or likelihood(question, each.hit, mode) >= least

    def _of_day(self, log: Remembered, asker: Asker) -> Remembered:
        """The log of a day, with what happened on it in place of its text."""
        vault, day = self.recall.workspace.vault, date.fromisoformat(log.day)
        lines = recap(vault, self.recall.foreign, day, asker, self.language)
        return replace(log, text=lines) if lines else log

    def _notes(self, question: str, answer: SearchResult) -> Sequence[Hit]:
        """Of what was found, what has a word of the question, or is likely to help; neither what the agent quotes
        itself, nor what it asks."""
        home = self.recall.workspace.vault.home
        return [
            hit
            for hit in filter(None, map(self._written, answer.hits))
            if (_share(hit) or fits_by_itself(hit, answer.mode))
            and plain(hit.passage) not in plain(question)
            and not home.holds(hit.path, QUESTIONS)
        ]

    def _written(self, hit: Hit) -> Hit | None:
        """The hit without what the agent has answered in that note; None if nothing else is in it."""
        data = (self.recall.workspace.vault.read(hit.path) or b"") if hit.is_of_note else b""
        if not has_answer(data):
            return hit
        rows = frozenset(own_words(data).splitlines())
        left = "\n".join(row for row in hit.passage.splitlines() if not row.strip() or row in rows).strip()
        return replace(hit, passage=left) if left else None


def _closest(question: str, found: Sequence[Remembered | Hit]) -> tuple[Sequence[Remembered | Hit], bool]:
    """Those that have at least half as many of the question's rare words as the best one, and of lists of facts, such
    as MEMORY.md or a day's log, the lines with a word of it; where none has any, the first few, and True, as they may
    be near by chance."""
    quoted_links = {each.link for each in found if isinstance(each, Remembered) and each.kind in ENTRY_KINDS}
    asked, others = _subjects(question), [*filterfalse(_is_list, found)]
    best = max(map(_share, others), default=0.0)
    close: list[Remembered | Hit] = []
    for each in found:
        if isinstance(each, Remembered) and _is_list(each):
            close += _with_facts_only(each, asked, quoted_links)
        elif best and _share(each) >= best / 2:
            close.append(each)
    return (close[:PASSAGES], False) if close else (others[:BY_CHANCE], True)


def _with_facts_only(each: Remembered, asked: Collection[str], quoted_links: set[str]) -> list[Remembered]:
    """The list with the lines that have a word of the question; none without such a line. Their links are added to
    those that are quoted."""
    rows = [row for row in each.text.splitlines() if _tells(row, asked, quoted_links)]
    quoted_links.update(link for row in rows for link in links_of(row))
    return [replace(each, text="\n".join(rows))] if rows else []


def _subjects(text: str) -> frozenset[str]:
    """The terms that say what a text is about: no pronouns, and of scripts without spaces only pairs of characters."""
    worded = wording(text)
    found = worded.terms - words("subjectless") if text.isascii() else (worded.terms - worded.words) or worded.terms
    return frozenset(term for term in found if not any(each.fullmatch(term) for each in patterns("persons")))


def _is_list(found: Remembered | Hit) -> bool:
    """True for a passage of a list of facts; not for the log of a day that the question names."""
    return isinstance(found, Remembered) and found.kind not in ENTRY_KINDS and not found.is_asked_for


def _tells(row: str, asked: Collection[str], quoted_links: Collection[str]) -> bool:
    """True for a line with a fact that has a word of the question, and whose entry is not quoted, too."""
    is_fact = not (is_bare(row) or row.startswith("#") or _OF_SESSION.search(row) or rests_on(row, quoted_links))
    return is_fact and not wording(fact_in(row) or row).terms.isdisjoint(asked)


def _share(found: Remembered | Hit) -> float:
    """The share of the question's rare words in a passage; all of it for one of a day that the question names."""
    hit = found.hit if isinstance(found, Remembered) else found
    is_of_day = any(leg.name == "date" and leg.score >= 1.0 for leg in hit.why)
    return 1.0 if is_of_day else coverage(hit)


def _sought(message: str, *, is_statement: bool) -> str:
    """The part of a message that is searched for: its questions, but not "can you remind me?", else all of it; nothing
    where it only tells something, or passes the time of day."""
    asked = (split_wish(each)[1] for each in sentences_in(message))
    questions = " ".join(each for part in asked for each in sentences_in(part) if is_question(each))
    if questions:
        return questions
    return "" if is_statement or is_small_talk(message) else message


def _passage(found: Remembered | Hit) -> QuotedPassage:
    if isinstance(found, Remembered):
        is_entry = found.kind in ENTRY_KINDS or found.is_asked_for
        return QuotedPassage(found.path, found.text, found.lines, is_entry=is_entry)
    return QuotedPassage(
        found.path, found.passage, found.lines, found.headings[-1] if found.headings else "", found.title
    )
