"""The authors of lines and notes, from the history: a person, the upkeep of memory, or any other tool of the agent.

The upkeep does not change lines that a person wrote, corrected or restored. A line of unknown author counts as a
person's.
"""

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher

from agent.dataclass import dataclass
from agent.vault.change import CAPTURE, EVENING, FORGET, Kind
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import blame, line_history, tool_of, trailers_made_here
from agent.vault.history.find import indexed_commits
from agent.vault.store import Vault

LIFECYCLE, DAILY = "lifecycle", "daily"
EDITS = "edits"
"""The `Vault-Tool` trailer of the commits with which the program writes down what it learned from a person's edits."""
TOOLS = frozenset({LIFECYCLE, DAILY, CAPTURE, EVENING, "remember", "memory_save", "memory_update"})
"""The `Vault-Tool` trailers of commits with which memories are kept and tended."""


@dataclass(frozen=True, slots=True)
class AuthoredLine:
    """One line of a note with its ending; `own` is true if the upkeep of memory wrote it and no person changed it
    since."""

    text: str
    own: bool


def touched_by_people(vault: Vault, folder: str) -> frozenset[str]:
    """The notes of a folder that a person has corrected, renamed, restored, or changed without a commit yet."""
    found: set[str] = set()
    for commit in indexed_commits(vault, folder, HUMAN):
        if commit.tool == FORGET:
            continue  # a person asked for it, but did not write the text
        kinds = {Kind.EDITED, Kind.RENAMED} if not commit.undoes else set(Kind) - {Kind.DELETED}
        found.update(change.path for change in commit.sides[0] if change.kind in kinds)
    return frozenset(found) | {item.path for item in vault.changed_files()}


def blamed_lines(vault: Vault, path: str, data: bytes, tools: Collection[str] = TOOLS) -> tuple[AuthoredLine, ...]:
    """The lines of a note whose current bytes are `data`, each with its author; `own`: written with one of `tools`."""
    now = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    own = _matched(_blamed(vault, path, tools), [text.rstrip("\r\n") for text in now])
    return tuple(AuthoredLine(text, is_own) for text, is_own in zip(now, own, strict=True))


def person_lines(vault: Vault, path: str, data: bytes) -> tuple[bool, ...]:
    """For each line of a note whose current bytes are `data`: True unless this program wrote it here by itself, with
    whatever tool, and nobody changed it since."""
    rows = blame(vault, path, any_space=True)
    made = trailers_made_here(vault, {commit for _, commit in rows})
    agents = {id for id, trailers in made.items() if trailers.get("vault-actor", "human") != "human"}
    now = _rows(data)
    lines = _with_held(vault, path, [(text, commit in agents) for text, commit in rows])
    return tuple(not is_agents for is_agents in _matched(lines, now))


def earlier_lines(vault: Vault, path: str) -> tuple[str, ...]:
    """The lines that were ever in a note, without endings, except those that the upkeep of memory took out, that no
    other commit removed later, and that are not in the last commit."""
    history = line_history(vault, path)
    made = trailers_made_here(vault, set(history.removed.values()))
    taken = {line for line, commit in history.removed.items() if _is_by(TOOLS, made.get(commit, {}), path)}
    if taken:
        taken.difference_update(_rows(vault.read_at("HEAD", path) or b""))
    return tuple(line for line in history.added if line not in taken)


def _matched(committed: Sequence[tuple[str, bool]], now: Sequence[str], *, new: bool = False) -> list[bool]:
    """For each line of `now` what the same line in the last commit is marked with; `new` for a line that is new."""
    marks = [new] * len(now)
    matcher = SequenceMatcher(None, [text for text, _ in committed], now, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            marks[block.b + step] = committed[block.a + step][1]
    return marks


def _blamed(vault: Vault, path: str, tools: Collection[str]) -> list[tuple[str, bool]]:
    """The lines of the note in the last commit, without endings; True if one of `tools` wrote the line."""
    rows = blame(vault, path)
    made = trailers_made_here(vault, {commit for _, commit in rows})
    own = {id for id, trailers in made.items() if _is_by(tools, trailers, path)}
    return _with_held(vault, path, [(text, commit in own) for text, commit in rows], tools)


def _with_held(
    vault: Vault, path: str, rows: list[tuple[str, bool]], tools: Collection[str] | None = None
) -> list[tuple[str, bool]]:
    """The lines of the last commit with those that the program has written since and not committed yet: marked, unless
    it was with none of `tools`."""
    note = vault.held(path)
    if note is None:
        return rows
    now = _rows(note.data or b"")
    is_own = tools is None or note.stamp.tool in tools
    return list(zip(now, _matched(rows, now, new=is_own), strict=True))


def _rows(data: bytes) -> list[str]:
    """The lines of a note without endings."""
    return [row.rstrip("\r") for row in data.decode("utf-8", "surrogateescape").split("\n")]


def _is_by(tools: Collection[str], trailers: Mapping[str, str], path: str) -> bool:
    return trailers.get("vault-actor", "human") != "human" and tool_of(trailers, path) in tools
