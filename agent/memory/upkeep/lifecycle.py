"""The daily upkeep of memory: archives expired entries, merges equal ones, shortens old days, adds repeated facts to
MEMORY.md.

All changes and their report in the daily note are one commit, so one undo reverts them. Nothing is deleted: notes move
to `archive/`, and the full text of an old day stays in the history. Text that a person has edited is not changed. A
second run changes nothing. Scheduling is left to the caller.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory import daily
from agent.memory.blame import LIFECYCLE, blamed_lines, earlier_lines, touched_by_people
from agent.memory.capture.keywords import MOST
from agent.memory.entry import event_day
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.memory_note import Shortened, rests_on, shorten
from agent.memory.store import ARCHIVED, DayEntries, StoredEntry, load_entries
from agent.memory.understanding.rules import is_same
from agent.memory.upkeep.day_summary import day_summary
from agent.memory.upkeep.longterm import LongTerm, LongTermRules, extract, repeats
from agent.memory.upkeep.outlines import Outlined, load_outlines, telling
from agent.texts import Language, text
from agent.vault.change import Append, Create, Edit, Move, Outcome, Request, Stamp
from agent.vault.folders import ARCHIVE, ENTRIES, MEMORY_NOTE
from agent.vault.moving import archive_path
from agent.vault.store import Vault

_SHOWN = 10
"""The most names listed of each kind; the rest are counted."""


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """The report of an upkeep: links to notes, except `added` and `memory_archived`, which are texts of
    facts.

    `archived` have expired, `merged` are pairs (the remaining entry, the replaced ones), `shortened` are days,
    `memory_merged` counts lines of MEMORY.md, `too_large` is true if it still exceeds its size.
    """

    archived: tuple[str, ...] = ()
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()
    shortened: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    memory_merged: int = 0
    memory_archived: tuple[str, ...] = ()
    too_large: bool = False

    @property
    def is_empty(self) -> bool:
        """True if nothing was done."""
        return not any((*self.counts.values(), self.memory_merged, self.memory_archived))

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of notes or facts of each kind."""
        return {
            "archived": len(self.archived),
            "merged": sum(len(others) for _, others in self.merged),
            "shortened": len(self.shortened),
            "added": len(self.added),
        }


def report_title(language: Language) -> str:
    """The heading of the report."""
    return text("memory_report.title", language)


def report_lines(report: UpkeepReport, language: Language) -> Iterator[str]:
    """The report, line by line."""
    merged = [f"{' '.join(others)} → {into}" for into, others in report.merged]
    lists: Sequence[tuple[str, Sequence[str], int]] = (
        ("archived", report.archived, len(report.archived)),
        ("merged", merged, report.counts["merged"]),
        ("shortened", report.shortened, len(report.shortened)),
        ("added", report.added, len(report.added)),
        ("memory_archived", report.memory_archived, len(report.memory_archived)),
    )
    for name, items, count in lists:
        if items:
            more = [text("memory_report.more", language, number=len(items) - _SHOWN)] if len(items) > _SHOWN else []
            yield text(f"memory_report.{name}", language, number=count, items="; ".join([*items[:_SHOWN], *more]))
    if report.memory_merged:
        yield text("memory_report.memory_merged", language, number=report.memory_merged)
    if report.too_large:
        yield text("memory_report.too_large", language)
    if not report.is_empty:
        yield text("memory_report.undo", language)


@dataclass(frozen=True, slots=True)
class Merge:
    """One entry that replaces others; `data` is its note afterwards."""

    into: StoredEntry
    data: bytes
    others: tuple[StoredEntry, ...]


def merges(entries: Sequence[StoredEntry], theirs: Collection[str]) -> Iterator[Merge]:
    """The merges among entries (newest first); `theirs` are the paths of notes that people have edited."""
    alike: dict[tuple[str, ...], list[StoredEntry]] = defaultdict(list)
    for each in entries:
        if each.path not in theirs:
            alike[_kind(each)].append(each)
    for some in alike.values():
        by_path = {each.path: each for each in some}
        for path, others in repeats([(each.path, each.entry.text) for each in some]):
            into, olds = by_path[path], tuple(by_path[other] for other in others)
            yield Merge(into, _merged(into, olds), olds)


def _kind(each: StoredEntry) -> tuple[str, ...]:
    entry = each.entry
    owner = (entry.type, entry.scope, entry.sender_id, entry.chat_id, entry.thread_id)
    return (*owner, str(each.untrusted), event_day(entry))


def _merged(into: StoredEntry, others: Sequence[StoredEntry]) -> bytes:
    entry = into.entry
    evidence = list(dict.fromkeys(link for each in (into, *others) for link in (*each.entry.evidence, each.link)))
    note = Note.parse(into.data).with_key("evidence", [link for link in evidence if link != into.link])
    if keywords := tuple(dict.fromkeys(word for each in (into, *others) for word in each.entry.keywords))[:MOST]:
        note = note.with_key("keywords", list(keywords))
    if not entry.supersedes:
        note = note.with_key("supersedes", others[0].entry.id)
    more = _beyond(entry.text, others)
    return note.with_body(note.body.rstrip("\n") + "\n" + more).data if more else note.data


def _beyond(text: str, others: Sequence[StoredEntry]) -> str:
    """The older texts that differ in wording from the newest."""
    found = dict.fromkeys(each.entry.text for each in others if not is_same(text, each.entry.text))
    return "".join(f"\n{other.strip()}\n" for other in found)


OVERFLOW = ARCHIVE + MEMORY_NOTE
"""The note for lines of MEMORY.md that exceed its size."""


@dataclass(frozen=True, slots=True)
class UpkeepPlan:
    """The changes of an upkeep, and their report."""

    requests: tuple[Request, ...] = ()
    report: UpkeepReport = UpkeepReport()


def plan(vault: Vault, settings: MemorySettings, language: Language, now: datetime) -> UpkeepPlan:
    """The plan of the upkeep; writes nothing."""
    work = _Work(vault, settings, language, now, tuple(vault.note_paths()))
    outlines = load_outlines(vault, work.read_paths, work.since)
    entries = tuple(each for each in outlines if vault.home.holds(each.path, ENTRIES))
    archived = tuple(each for each in outlines if vault.home.holds(each.path, ARCHIVED))
    requests: list[Request] = []
    report = UpkeepReport()
    if settings.lifecycle:
        requests, report = work.entries(entries)
    requests, report = work.memory(entries, archived, requests, report)
    if report.is_empty:
        return UpkeepPlan((), report)
    return UpkeepPlan((*requests, work.report_request(report)), report)


def run(vault: Vault, upkeep: UpkeepPlan, *, job: str = "") -> Outcome:
    """Apply the plan in one commit; raises what a transaction raises. Changes made since the plan are merged."""
    counts = ", ".join(f"{count} {name}" for name, count in upkeep.report.counts.items() if count)
    stamp = Stamp(f"job:{job}" if job else "agent", tool=LIFECYCLE)
    body = "\n".join(f"- {line}" for line in report_lines(upkeep.report, "en"))
    subject = f"memory(upkeep): {counts or f'{MEMORY_NOTE} shortened'}"
    with vault.transaction(subject, stamp, body=body) as change:
        change.requests.extend(upkeep.requests)
    return change.outcome


@dataclass(frozen=True, slots=True)
class _Work:
    vault: Vault
    settings: MemorySettings
    language: Language
    now: datetime
    paths: tuple[str, ...]

    @property
    def since(self) -> datetime:
        """The time from which facts count."""
        return self.now - timedelta(days=self.settings.facts_days)

    @property
    def read_paths(self) -> list[str]:
        """The entries, and the archived ones of the months in which facts count."""
        home, oldest = self.vault.home, f"{ARCHIVED}{self.since - timedelta(days=1):%Y/%m/}"
        old = (path for path in self.paths if home.holds(path, ARCHIVED) and home.name_of(path) >= oldest)
        return [*(path for path in self.paths if home.holds(path, ENTRIES)), *old]

    def entries(self, entries: Sequence[Outlined]) -> tuple[list[Request], UpkeepReport]:
        """The requests to archive, merge, and shorten old days, and their report."""
        theirs = touched_by_people(self.vault, self.vault.home.at(ENTRIES))
        gone = _expired(entries, theirs, self.settings, self.now)
        over = {each.path for each in gone}
        joined = tuple(self._merges([each for each in entries if each.path not in over], theirs))
        requests: list[Request] = [Edit(merge.into.path, merge.into.data, merge.data) for merge in joined]
        taken: set[str] = set()
        leaving = [each.path for each in gone] + [other.path for merge in joined for other in merge.others]
        for path in leaving:
            target = archive_path(self.vault, path, taken)
            taken.add(target)
            requests.append(Move(path, target))
        days = [(path, *texts) for path in self.paths if (texts := self._day(path, entries))]
        requests += [Edit(path, before, after) for path, before, after in days]
        home = self.vault.home
        report = UpkeepReport(
            archived=tuple(each.link for each in gone),
            merged=tuple(_links_of(merge) for merge in joined),
            shortened=tuple(daily.link_to(day, home) for path, *_ in days if (day := home.day_of(path))),
        )
        return requests, report

    def _merges(self, entries: Sequence[Outlined], theirs: Collection[str]) -> Iterator[Merge]:
        """The merges among entries, of which those are read that others repeat."""
        alike = Counter((each.untrusted, each.outline.kind, each.outline.words) for each in entries)
        wanted = (each.path for each in entries if alike[each.untrusted, each.outline.kind, each.outline.words] > 1)
        return merges(load_entries(self.vault, wanted), theirs)

    def memory(
        self,
        entries: Sequence[Outlined],
        archived: Sequence[Outlined],
        requests: list[Request],
        report: UpkeepReport,
    ) -> tuple[list[Request], UpkeepReport]:
        """The requests and report with those for MEMORY.md added: new facts, and its size limit."""
        memory = self.vault.home.at(MEMORY_NOTE)
        before = self.vault.read(memory)
        text = None if before is None else before.decode("utf-8", "surrogateescape")
        found = LongTerm(text or "")
        if self.settings.long_term:
            outdated = self._outdated(text or "", entries)
            found = self._extracted(text, outdated, (*entries, *archived))
        short = Shortened(found.text)
        most = self.settings.memory_kilobytes * 1024
        if self.settings.lifecycle and len(found.text.encode("utf-8", "surrogateescape")) > most:
            short = shorten(blamed_lines(self.vault, memory, found.text.encode("utf-8", "surrogateescape")), most)
        after = short.text.encode("utf-8", "surrogateescape")
        if after != (before or b""):
            requests.append(Create(memory, after) if before is None else Edit(memory, before, after))
        if short.archived:
            requests.append(
                Append(
                    self.vault.home.at(OVERFLOW), ("\n".join(short.archived) + "\n").encode("utf-8", "surrogateescape")
                )
            )
        return requests, UpkeepReport(
            report.archived,
            report.merged,
            report.shortened,
            tuple(fact.text for fact in found.added),
            short.merged,
            short.archived,
            too_large=len(after) > most,
        )

    def report_request(self, report: UpkeepReport) -> Request:
        """The request that writes the report to today's note."""
        path = self.vault.home.day_note(self.now.date())
        before = (self.vault.read(path) or b"").decode("utf-8", "surrogateescape")
        lines = tuple(line for line in report_lines(report, self.language) if f"- {line}\n" not in before)
        block = daily.block(self.now, report_title(self.language), lines)
        section = daily.section("upkeep", self.language)
        return Append(path, block.encode(), daily.beginning(self.vault, self.now.date()), section.encode())

    def _outdated(self, text: str, entries: Sequence[Outlined]) -> tuple[str, ...]:
        """The agent's lines in MEMORY.md about what was replaced or has ended since."""
        gone = {each.link for each in entries if each.outline.is_replaced}
        if not any(link in text for link in gone):
            return ()
        lines = blamed_lines(self.vault, self.vault.home.at(MEMORY_NOTE), text.encode("utf-8", "surrogateescape"))
        return tuple(line.text for line in lines if line.own and rests_on(line.text, gone))

    def _extracted(self, text: str | None, outdated: Sequence[str], entries: Sequence[Outlined]) -> LongTerm:
        """MEMORY.md without its outdated lines, and with new facts."""
        for line in outdated:
            text = (text or "").replace(line, "", 1)
        home, facts_times = self.vault.home, self.settings.facts_times
        facts = self._load(telling(entries, self.since, facts_times))
        earlier = self._unwanted_lines({line.rstrip("\r\n") for line in outdated})
        lines = blamed_lines(self.vault, home.at(MEMORY_NOTE), (text or "").encode("utf-8", "surrogateescape"))
        own = tuple(line.text for line in lines if line.own)
        forgotten = load_tombstones(self.vault)
        rules = LongTermRules(self.settings, self.now, self.language, forgotten)
        return extract(text, facts, rules, earlier, own)

    def _load(self, entries: Sequence[Outlined]) -> tuple[StoredEntry, ...]:
        return load_entries(self.vault, (each.path for each in entries))

    def _unwanted_lines(self, outdated: Collection[str]) -> tuple[str, ...]:
        """The lines of MEMORY.md that are not to come back: a person deleted them, or the archive has them."""
        note, stored = self.vault.home.at(MEMORY_NOTE), self.vault.read(self.vault.home.at(OVERFLOW)) or b""
        lines = (line for line in earlier_lines(self.vault, note) if line not in outdated)
        return (*lines, *stored.decode("utf-8", "surrogateescape").splitlines())

    def _day(self, path: str, entries: Sequence[Outlined]) -> tuple[bytes, bytes] | None:
        """A daily note before and after shortening; None if it is not due or is no daily note."""
        day = self.vault.home.day_of(path)
        if day is None or (self.now.date() - day).days <= self.settings.daily_keep_days:
            return None
        with suppress(OSError):
            if not daily.has_log(self.vault.glance(path).decode("utf-8", "surrogateescape")):
                return None
        before = self.vault.read(path) or b""
        text = before.decode("utf-8", "surrogateescape")
        if not daily.has_log(text):
            return None
        now = daily.shortened(blamed_lines(self.vault, path, before))
        if now == text:
            return None
        if not daily.is_of_model(text):  # what was asked has no other place from now on
            now = daily.with_summary(now, self._summary(day, text, entries))
        return before, now.encode("utf-8", "surrogateescape")

    def _summary(self, day: date, text: str, entries: Sequence[Outlined]) -> str:
        of_day = [each for each in entries if day.isoformat() in (each.outline.day, *each.outline.stated_on)]
        found = self._load(of_day)
        new = tuple(each for each in found if each.entry.created.date() == day)
        again = tuple(each for each in found if each.entry.created.date() != day and each.is_stated_on(day))
        return day_summary(DayEntries(new, again), daily.log(text), self.language)


def _links_of(merge: Merge) -> tuple[str, tuple[str, ...]]:
    return merge.into.link, tuple(other.link for other in merge.others)


def _expired(
    entries: Sequence[Outlined], theirs: Collection[str], settings: MemorySettings, now: datetime
) -> tuple[Outlined, ...]:
    """The expired entries; one that a person has edited (`theirs` are paths) only if it says itself when."""
    may_expire = (each for each in entries if each.path not in theirs or each.outline.expires is not None)
    return tuple(each for each in may_expire if each.outline.is_over(settings, now))
