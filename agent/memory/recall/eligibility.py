"""Rules for the passages that a model may see, in a search or unasked. Whose words they are is left to `authorship`,
access rights to `recaller`."""

import re

from agent.index.hit import Hit
from agent.memory.entry import EntryType
from agent.memory.recall.authorship import CHANGELOG, is_agents
from agent.texts import in_all_languages
from agent.vault.folders import DAILY, INBOX, MEMORY_NOTE, PROFILE, SESSION_LINK, SESSIONS, AgentFolder, Recalled

SPARE = 3
"""The factor by which more passages are requested than needed, because some are not eligible."""
_TOOK = "|".join(
    re.escape(each).replace(re.escape("{number}"), r"\d+")
    for unit in ("seconds", "minutes")
    for each in in_all_languages(f"memory_day.took_{unit}")
)
_BARE = re.compile(
    rf"\s*(?:#{{1,6}} .*|.*\[\[(?:About|关于) .*|- [^\[\n]*{SESSION_LINK}[^\]\n]*\]\]\s*|- (?:{_TOOK})\s*)?"
)
"""A line without a memory: blank, a heading (in a day's log, what was asked), how long that took, a link to an
explaining note or to a session."""
_REPORTS = tuple(f" - {title}" for title in in_all_languages("memory_report.title"))
_PLACEHOLDER = re.compile(
    r"\s*(?:[-*+]\s+|\|\s*)?(?:[^\n:：|\[\]]{1,80}[:：|](?:\*\*)?\s*)?"
    r"[\[（(【]\s*(?:to be (?:filled|completed|added)|not (?:filled|known) yet|待填充|待填写|待补充|待完善)"
    r"[^\n]*[\]）)】][\s|]*",
    re.IGNORECASE,
)
"""A line with an unfilled value, such as `- Name: [to be filled]` or `- **姓名**: [待填写]`."""
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


def is_given_as_note(hit: Hit, home: AgentFolder) -> bool:
    """True if the passage may be shown to a model unasked, as one of a note; of a day's note the person's lines."""
    row = home.row(hit.path)
    return may_be_offered(hit, home) and (row.recalled is Recalled.AS_NOTE or row.path == DAILY)


def is_bare(passage: str) -> bool:
    """True if the passage has only headings and unfilled placeholders."""
    return all(_BARE.fullmatch(line) for line in filled(passage).splitlines())


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
