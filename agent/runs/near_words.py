"""What is said of hits that have no word of the query: "no note has these words" only where that is known.

Notes that are not indexed yet or cannot be, that a filter leaves out or that are not shown, may have them.
"""

from typing import TYPE_CHECKING

from agent.index.query import SearchResult, without_filters
from agent.memory.recall.search_scope import has_word, parse_search
from agent.runs.find_notes import MORE
from agent.texts import Sentence
from agent.vault.listing import count_ignored_notes
from agent.workspace.index_status import index_state

if TYPE_CHECKING:
    from agent.workspace.search_index import SearchIndex


def words_of_near_hits(
    index: "SearchIndex", answer: SearchResult, late: str | None, *, in_past: bool = False
) -> Sentence | None:
    """The sentence above hits that were found by their meaning alone, or in place of any; None for others. `late`: why
    the index is behind."""
    if not answer.is_near:
        return None
    known = _known(index, answer, late, in_past=in_past)
    return Sentence("{known}; these are nearest in meaning", known=known) if answer.hits else known


def _known(index: "SearchIndex", answer: SearchResult, late: str | None, *, in_past: bool) -> Sentence:
    """What is known of notes with words of the query."""
    if reason := late or answer.degraded or (None if in_past else _unknown(index)):
        return Sentence("whether a note has these words is not known ({reason})", reason=reason)
    if answer.is_elsewhere:
        return Sentence("only notes that are not shown have some of these words")
    workspace = index.workspace
    text = parse_search(answer.query, workspace.vault.home, workspace.clock.now().date()).text
    others = index.search(without_filters(answer.text), MORE, explain=True) if answer.text != text else None
    if others is not None and any(map(has_word, others.hits)):
        return Sentence("only notes that the filter leaves out have some of these words")
    return Sentence("no note has these words")


def _unknown(index: "SearchIndex") -> Sentence | None:
    """Why notes may have words that search does not find; None if it finds those of all notes."""
    state = index_state(index.workspace, index.listed)
    if state.coverage is None:
        return Sentence("the index: {problem}", problem=state.problem)
    if state.behind or state.coverage.pending:
        count = (state.behind or 0) + state.coverage.pending
        return Sentence("{count} changes are not indexed yet", count=count)
    left = len(state.coverage.skipped) + len(state.coverage.failed) + len(state.coverage.partly)
    if left:
        return Sentence("{count} notes are not or not whole in the index: vault-agent status --notes", count=left)
    ignored = count_ignored_notes(index.workspace.vault)
    return Sentence("{count} notes are left out, since git ignores them", count=ignored) if ignored else None
