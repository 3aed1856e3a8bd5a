"""The candidates of a recall: which passages a model may see, and hits with what their headers say."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.index.query import Hit
from agent.memory.entry import MODEL, Entry, EntryType, Scope, expiry, with_offset
from agent.memory.recall.authorship import ABOUT, CHANGELOG, NO_KNOWLEDGE, OWN_ENTRIES, Asker, is_agents
from agent.texts import in_all_languages
from agent.vault.folders import (
    DAILY,
    INBOX,
    MEMORY_NOTE,
    PROFILE,
    RESEARCH,
    SESSION_LINK,
    SESSIONS,
    AgentFolder,
    Recalled,
)

SPARE = 3
"""The factor by which more passages are requested than needed, because some are not eligible."""
_TOOK = "|".join(
    re.escape(each).replace(re.escape("{number}"), r"\d+")
    for unit in ("seconds", "minutes")
    for each in in_all_languages(f"memory_day.took_{unit}")
)
_BARE = re.compile(
    rf"\s*(?:#{{1,6}} .*|.*\[\[(?:About |关于 |Welcome\]\]|欢迎\]\]).*"
    rf"|- [^\[\n]*{SESSION_LINK}[^\]\n]*\]\]\s*|- (?:{_TOOK})\s*)?"
)
"""A line without a memory: blank, a heading (in a day's log, what was asked), how long that took, a link to an
explaining note or to a session."""
_SOURCES = frozenset(in_all_languages("research.sources"))
_REPORTS = tuple(f" - {title}" for title in in_all_languages("memory_report.title"))
_PLACEHOLDER = re.compile(
    r"\s*(?:[-*+]\s+|\|\s*)?(?:[^\n:：|\[\]]{1,80}[:：|](?:\*\*)?\s*)?"
    r"[\[（(【]\s*(?:to be (?:filled|completed|added)|not (?:filled|known) yet|待填充|待填写|待补充|待完善)"
    r"[^\n]*[\]）)】][\s|]*",
    re.IGNORECASE,
)
"""A line with an unfilled value, such as `- Name: [to be filled]` or `- **姓名**: [待填写]`."""
_FIELD = re.compile(r"\s*[-*+]\s+\*\*[^\n*]{1,80}(?:[:：]\*\*|\*\*[:：])\s*")
"""A field of a form that nobody has filled, such as `- **Name**:`."""
_COMMENT = re.compile(r"\s*%%.*%%\s*")
"""A line that an editor does not show."""


def may_be_found(hit: Hit, home: AgentFolder) -> bool:
    """True if a search may find the passage for a model.

    Of a session only its summaries are found: its transcript would be the best match for its own questions.
    """
    folder = home.row(hit.path)
    if ("type", CHANGELOG) in hit.facets or ("type", str(EntryType.WORKFLOW_TRACE)) in hit.facets:
        return False
    return not is_unfilled(hit, home) and folder.searched and (folder.path != SESSIONS or "-summary-" in hit.path)


def is_unfilled(hit: Hit, home: AgentFolder) -> bool:
    """True for a passage of a note about the person in which nobody has filled in anything yet."""
    return home.row(hit.path).path == PROFILE and is_bare(hit.passage)


def may_be_offered(hit: Hit, home: AgentFolder) -> bool:
    """True if the passage is knowledge, as a note or a memory: not the agent's own, not instructions, not a note that
    explains the vault.

    Nor a MEMORY.md or a day's note without a word, nor a request in the inbox: the entries have what was said about it.
    """
    row = home.row(hit.path)
    if (row.path in {MEMORY_NOTE, DAILY} and is_bare(hit.passage)) or (row.path == INBOX and _has_status(hit)):
        return False
    return row.recalled is not Recalled.NO and may_be_found(hit, home) and not is_agents(hit, home)


def _has_status(hit: Hit) -> bool:
    return any(key == "status" for key, _ in hit.facets)


def is_recalled_as_note(hit: Hit, home: AgentFolder) -> bool:
    """True if the passage may be shown to a model unasked, as one of a note; of a day's note the person's lines.

    The list of what a research has read says nothing, and is strangers' text.
    """
    row = home.row(hit.path)
    if row.path == RESEARCH and not _SOURCES.isdisjoint(hit.headings):
        return False
    return may_be_offered(hit, home) and (row.recalled is Recalled.AS_NOTE or row.path == DAILY)


def is_bare(passage: str) -> bool:
    """True if the passage has only headings, unfilled placeholders and fields without a value."""
    return all(_BARE.fullmatch(line) or _FIELD.fullmatch(line) for line in filled(passage).splitlines())


def filled(passage: str) -> str:
    """The passage without lines of unfilled placeholders, and without reports of upkeep in a day's log."""
    rows: list[str] = []
    is_report = False
    for line in passage.splitlines():
        if line.startswith("#"):
            is_report = line.endswith(_REPORTS)
        if not is_report and not _PLACEHOLDER.fullmatch(line) and not _COMMENT.fullmatch(line):
            rows.append(line)
    return "\n".join(rows)


USER, CHAT = "user", "chat"
_POWER, _BESIDE, _SPOKEN = 2.0, 0.15, 0.3
"""The exponent that sharpens scores, the weight of neighbouring turns, and that of the whole conversation; fitted on
all of `python -m tests.bench.recall`, where they raise recall from .740 to .774."""
_STEP = timedelta(minutes=2)
_FAR = 3
DAILY_KIND = "daily"
LAYERS = ((MEMORY_NOTE, "long_term"), (PROFILE, "profile"), (DAILY, DAILY_KIND))
_LIFT = {"long_term": 1.15, "user_explicit": 1.1}
_CONCLUDED = 0.8
"""Factors for MEMORY.md, for entries that a person asked to remember, and for what a model concluded."""
_DAY = re.compile(rf"(?:.*/)?{DAILY}(\d{{4}}-\d{{2}}-\d{{2}})")
ENTRY_KINDS = frozenset(str(kind) for kind in EntryType)


@dataclass(frozen=True, slots=True)
class RecallCandidate:
    """A hit with its header's facets; values are in lower case, as in the index."""

    hit: Hit
    kind: str
    scope: str = USER
    sender: str = ""
    chat: str = ""
    session: str = ""
    created: datetime | None = None
    expires: datetime | None = None
    restated: datetime | None = None
    superseded_by: str = ""
    is_concluded: bool = False
    untrusted: bool = False
    score: float = 0.0

    @property
    def lift(self) -> float:
        """The factor for its kind and source."""
        return _LIFT.get(self.kind, 1.0) * (_CONCLUDED if self.is_concluded else 1.0)

    @property
    def is_asked_for(self) -> bool:
        """True for the log of a day that the question names."""
        return self.kind == DAILY_KIND and any(leg.name == "date" and leg.score >= 1.0 for leg in self.hit.why)

    @property
    def is_bare(self) -> bool:
        """True for a note that explains the vault, and for headings without text; they tell what a day was about, if
        that was asked for."""
        if self.kind in ENTRY_KINDS or self.is_asked_for:
            return False
        return self.kind in NO_KNOWLEDGE or is_bare(self.hit.passage)

    def may_be_seen_by(self, asker: Asker) -> bool:
        """True if the index's facets allow the asker to see it; recall checks the note itself afterwards."""
        if self.kind not in ENTRY_KINDS:
            return asker.is_owner
        if self.session and self.session == asker.session.casefold() and not _is_before(self.created, asker.since):
            return False
        if self.scope == CHAT:
            return bool(asker.chat) and self.chat == asker.chat.casefold()
        return asker.is_named and self.sender == asker.sender.casefold()

    def is_over(self, now: datetime, settings: MemorySettings) -> bool:
        """True if it is too old for recall."""
        if self.kind not in ENTRY_KINDS or self.created is None:
            return False
        kind, scope = EntryType(self.kind), Scope(self.scope)
        like = Entry("", self.created, "", kind, scope, expires=self.expires, restated=self.restated)
        end = expiry(like, settings)
        return end is not None and end <= now


def rerank(candidates: Sequence[RecallCandidate]) -> list[RecallCandidate]:
    """The candidates by score: their own, that of neighbouring turns, and that of their conversation."""
    if not candidates:
        return []
    best = max(each.hit.score for each in candidates) or 1.0
    own = {each.hit.path: max(each.hit.score / best, 0.0) ** _POWER for each in candidates}
    talks: dict[str, list[RecallCandidate]] = defaultdict(list)
    for each in candidates:
        if each.session and each.kind == EntryType.CHAT_TURN:
            talks[each.session].append(each)
    more: dict[str, float] = {}
    for talk in talks.values():
        best_of_talk = sorted((own[each.hit.path] for each in talk), reverse=True)[:_FAR]
        for each in talk:
            near = sum(own[other.hit.path] * _nearness(each, other) for other in talk if other is not each)
            more[each.hit.path] = _BESIDE * near + _SPOKEN * sum(best_of_talk) / _FAR
    scored = [
        replace(each, score=round((own[each.hit.path] + more.get(each.hit.path, 0.0)) * each.lift, 6))
        for each in candidates
    ]
    return sorted(scored, key=lambda each: (-each.score, each.hit.path))


def candidate_of(hit: Hit, home: AgentFolder) -> RecallCandidate:
    """The candidate of a hit, from its facets."""
    layer = next((kind for path, kind in LAYERS if home.holds(hit.path, path)), "")
    facets: Mapping[str, str] = dict(reversed(hit.facets))
    if facets.get("type") in OWN_ENTRIES:
        return RecallCandidate(hit, ABOUT)
    if layer and facets.get("type") not in NO_KNOWLEDGE:
        return RecallCandidate(hit, layer)
    return RecallCandidate(
        hit,
        facets.get("type", ""),
        CHAT if facets.get("scope") == CHAT else USER,
        facets.get("sender_id", ""),
        facets.get("chat_id", ""),
        facets.get("session_id", ""),
        _time(facets.get("created", "")),
        _time(facets.get("expires", "")),
        _time(facets.get("said", "")),
        facets.get("superseded_by", ""),
        facets.get("source") == MODEL,
        "untrusted" in facets,
    )


def _nearness(one: RecallCandidate, other: RecallCandidate) -> float:
    """The closeness in time of two turns of a conversation, 0 to 1."""
    if one.created is None or other.created is None:
        return 0.0
    apart = abs(one.created - other.created) / _STEP
    return math.exp(-max(apart - 1.0, 0.0)) if apart <= _FAR else 0.0


def _is_before(when: datetime | None, since: datetime | None) -> bool:
    """True if `when` is not after `since`. Both are in whole seconds: on a tie a turn is shown twice rather than
    never."""
    return when is not None and since is not None and when <= with_offset(since)


def day_of(path: str) -> str:
    """The day of a daily note's path; empty for any other path."""
    found = _DAY.match(path)
    return found[1] if found else ""


def _time(text: str) -> datetime | None:
    try:
        return with_offset(datetime.fromisoformat(text.upper())) if text else None
    except ValueError:
        return None
