"""Two weeks of a person's life in a vault: entries, conversations, days, notes and edits; in English and in Chinese.

The same on every machine. `truth` says what is in it: the facts that the person has stated, each with the note of the
profile where it belongs, and the patterns. Everything else is there to mislead: things said in passing, once, by
others or by a model; boxes that were ticked or moved; tools that failed once; words that are always frequent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from agent.events.runs import Speaker, TaskCompleted
from agent.llm.messages import Assistant, ToolCall, ToolResult, User
from agent.loop.record_format import format_records
from agent.loop.records import Began, Closed, RecordedEvent, SessionRecord, Spoken
from agent.markdown.note import Note
from agent.memory.daily import log_block, section
from agent.memory.entry import MODEL, Entry, EntryType
from agent.texts import Language
from tests.growth.persona import CHINESE, ENGLISH, Persona
from tests.session_notes import session_note
from tests.vaults import git, write

NOW = datetime(2026, 11, 22, 21, 0, tzinfo=UTC)
"""A Sunday evening."""
FIRST = datetime(2026, 11, 9, tzinfo=UTC)
"""The Monday two weeks before."""
PERSONAS: Mapping[Language, Persona] = {"en": ENGLISH, "zh": CHINESE}


@dataclass(frozen=True, slots=True)
class PlantedFact:
    """Something that the person has stated: `quote` in the note `path`; it belongs into `profile/<note>.md`."""

    quote: str
    note: str
    path: str


@dataclass(frozen=True, slots=True)
class PlantedPattern:
    """A pattern of this kind, with one of these words in its name."""

    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's edit of a note, committed in their name at a moment."""

    at: datetime
    path: str
    text: str


@dataclass
class Fortnight:
    """The notes as they lay there at first, the edits since, and the truth."""

    language: Language
    notes: dict[str, str] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    facts: list[PlantedFact] = field(default_factory=list)
    patterns: list[PlantedPattern] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of notes."""
        return len({*self.notes, *(edit.path for edit in self.edits)})

    def apply_edits(self, root: Path) -> None:
        """Write and commit the edits, in order, each at its moment."""
        for edit in self.edits:
            write(root / edit.path, edit.text)
            git(root, "add", "-A")
            git(root, "commit", "-q", "-m", "Notes", f"--date={edit.at.isoformat()}")


def fortnight(language: Language = "en", *, planted: bool = True) -> Fortnight:
    """The fortnight of a person who speaks this language; without patterns and facts unless `planted`."""
    made = _Maker(Fortnight(language), PERSONAS[language], Random(17))
    made.everyday()
    if planted:
        made.facts()
        made.patterns()
    made.days()
    made.own_notes()
    return made.found


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """A moment of the fortnight; its first day is 0."""
    return FIRST + timedelta(days=day, hours=hour, minutes=minute)


@dataclass
class _Maker:
    found: Fortnight
    persona: Persona
    random: Random
    asked: list[tuple[datetime, str, str, tuple[str, ...]]] = field(default_factory=list)
    written: dict[int, list[str]] = field(default_factory=dict)
    count: int = 0

    def id(self) -> str:
        self.count += 1
        return f"01HYFRTN{self.count:018d}"

    def everyday(self) -> None:
        """Questions and remarks on this and that, at any hour; what only looks like a pattern, and what is no fact."""
        persona = self.persona
        questions, remarks = list(persona.questions), list(persona.remarks)
        self.random.shuffle(questions)
        self.random.shuffle(remarks)
        for number, question in enumerate(questions):
            when = at(number % 14, self.random.randrange(8, 23), self.random.randrange(60))
            self.session(when, question, persona.answers[number % len(persona.answers)])
        for number, remark in enumerate(remarks):
            self.written.setdefault(number % 14, []).append(remark)
        for minute in (0, 3, 7):
            self.session(at(4, 15, minute), persona.retried, "…")
        for reason in persona.one_day_failures:
            self.session(at(6, 11, self.random.randrange(60)), persona.chores[0], "…", (("shell", reason),))
        for number, text in enumerate(persona.others):
            self.entry(at(number, 18), text, **_NOT_THEIRS[number % len(_NOT_THEIRS)])
        for number in range(10):
            tools = self.random.sample(_TOOLS, 3)
            self.trace(at(number, 9 + number), persona.chores[number % len(persona.chores)], tools)
        for day, line in persona.boxes_done:
            self.written.setdefault(day, []).append(line)

    def facts(self) -> None:
        """What the person has stated about themselves, most of it in conversations, some in the notes of days."""
        for number, (note, quote) in enumerate(self.persona.facts):
            day = number % 13
            if number % 16 == 15:
                self.written.setdefault(day, []).append(quote)
                path = f"daily/{at(day, 0):%Y-%m-%d}.md"
            else:
                path = self.entry(at(day, 12, number), quote)
            self.found.facts.append(PlantedFact(quote, note, path))

    def patterns(self) -> None:
        """Five kinds of patterns, and the same steps again and again, of which skills are learned."""
        persona, planted = self.persona, self.found.patterns
        for number, question in enumerate(persona.repeated):
            self.session(at(1 + 3 * number, 13 + 2 * number, 20), question, persona.answers[0])
        planted.append(PlantedPattern("repeated_question", persona.repeated_words))
        for number, day in enumerate((3, 5, 8, 12)):
            failure = (("web_fetch", persona.failure.format(number=number)),)
            self.session(at(day, 16 - number, 5), persona.lookups[number], "…", failure)
        planted.append(PlantedPattern("tool_failure_pattern", ("web_fetch",)))
        for number, month in enumerate(persona.workflow_of):
            steps = ["search_vault", "vault_read", "vault_write"]
            self.trace(at(2 * number + 1, 10 + number), persona.workflow.format(of=month), steps)
        for number, question in enumerate(persona.mornings):
            self.session(at(number + 1, 7, 5 + 4 * number), question, persona.answers[1])
        planted.append(PlantedPattern("daily_rhythm", persona.morning_words))
        self.written.setdefault(1, []).append(persona.abandoned)
        planted.append(PlantedPattern("abandoned_task", persona.abandoned_words))
        for number, remark in enumerate(persona.rising):
            day, hour = (2, 14) if number == 0 else (7 + number % 7, 9 + number)
            self.session(at(day, hour, 41), remark, persona.answers[2])
        planted.append(PlantedPattern("rising_topic", persona.rising_words))

    def session(self, when: datetime, task: str, answer: str, failures: tuple[tuple[str, str], ...] = ()) -> None:
        """A conversation of one question, in its note and in the log of its day."""
        run = self.id()
        events: list[RecordedEvent] = [Began(run, task, "cli"), Spoken(User(task))]
        for number, (tool, reason) in enumerate(failures):
            call = ToolCall(f"{run}-{number}", tool, {"query": task})
            events += [Spoken(Assistant("", (call,))), Spoken(ToolResult(call.id, tool, reason, failed=True))]
        events += [Spoken(Assistant(answer)), Closed(run, "finished")]
        title = "".join(char if char.isalnum() else " " for char in task).replace("  ", " ").strip()[:40].strip()
        path = f"sessions/{when:%Y/%m}/{when:%Y-%m-%d} {title} {when:%H%M}.md"
        header = Note.compose({"id": self.id(), "type": "session", "created": when, "channel": "cli"}, f"# {title}\n\n")
        records = [SessionRecord(when, event) for event in events]
        self.found.notes[path] = header.text + format_records(records, self.found.language)
        tools = tuple(tool for tool, _ in failures)
        self.asked.append((when, task, path, tools))

    def entry(self, when: datetime, quote: str, **more: object) -> str:
        """A statement that was kept; its path."""
        made = Entry(
            self.id(),
            when,
            quote,
            **{"type": EntryType.FACT, "channel": "cli", "source": "conversation", **more},  # type: ignore[arg-type]
        )
        self.found.notes[made.path] = made.note().decode()
        return made.path

    def trace(self, when: datetime, task: str, tools: list[str]) -> None:
        """The session of a run that used tools."""
        run = Began(self.id(), task, "cli")
        path, text = session_note(run, when, [(tool, task[:20]) for tool in tools], language=self.found.language)
        self.found.notes[path] = text

    def days(self) -> None:
        """The notes of the days: what the person wrote, and the log of what they asked."""
        language = self.found.language
        for day in range(14):
            own = "\n\n".join(self.written.get(day, ()))
            heading = section("conversations", language)
            rows = [f"---\ntype: daily\n---\n# {at(day, 0):%Y-%m-%d}\n\n{own}\n\n{heading}\n"]
            for when, task, path, tools in sorted(each for each in self.asked if each[0].date() == at(day, 0).date()):
                event = TaskCompleted("r", path, task, Speaker("cli"), "finished", "", tools, 3.0, 1)
                rows.append(log_block(event, when, language))
            self.found.notes[f"daily/{at(day, 0):%Y-%m-%d}.md"] = "".join(rows)

    def own_notes(self) -> None:
        """The person's own notes, most of which lie still, and a few edits of some."""
        for name, text in self._notes():
            self.found.notes[name] = text
        for number, name in enumerate(self.persona.edited):
            when = at(2 * number + 1, 8 + 3 * number % 12, 17)
            text = f"# {name}\n\n{self.persona.remarks[number]}\n\n{self.persona.remarks[-number - 1]}\n"
            self.found.edits.append(Edit(when, f"{self.persona.folder}/{name}.md", text))

    def _notes(self) -> Iterator[tuple[str, str]]:
        for number, topic in enumerate(self.persona.topics):
            body = self.persona.remarks[(3 * number) % len(self.persona.remarks)]
            yield f"{self.persona.folder}/{topic}.md", f"# {topic}\n\n{body}\n"


_TOOLS = ("search_vault", "vault_read", "memory_recall", "shell", "web_search", "vault_edit", "vault_move", "todo")
_NOT_THEIRS: tuple[dict[str, object], ...] = (
    {"sender_id": "guest-7"},
    {"source": MODEL},
    {"untrusted": ("https://example.org/mail",)},
    {"superseded_by": "[[2026-11-12-newer]]"},
)
"""What makes an entry no statement of the person's."""
