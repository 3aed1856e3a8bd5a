"""Notes that steer runs and that the agent wrote, such as lessons and skills, without a text that is to be forgotten.

A row of the lessons that says it goes, since a lesson without its words is none. In skills a mark stands in the lines
that the agent wrote; a person's lines stay. Who wrote a line is known from the history.

A note about the person without what is forgotten: a field is empty again, other lines of the agent's go.

The agent's answers to a message that is forgotten as a whole: they say it again in other words, and go with it.

"Ines is allergic to walnuts" was answered by "Good to know: no walnuts for Ines", which no comparison of words finds.
"""

from collections.abc import Callable, Iterator, Sequence

from agent.markdown.note import Note
from agent.markdown.session_marks import find_records
from agent.memory.blame import person_lines
from agent.memory.forgetting.forgotten_statements import ForgottenStatements, has_name
from agent.memory.profile.profile_file import CHANGELOG, field_in
from agent.texts import in_all_languages
from agent.vault.folders import LESSONS_NOTE, RULES, SKILLS, AgentFolder
from agent.vault.store import Vault

LineWithout = Callable[[str], str]
"""Function from a line to what is left of it; empty if it rests on nothing else."""


def profile_note_without(
    path: str, data: bytes, theirs: Sequence[bool], left_of: LineWithout, followed: LineWithout, *, names: Sequence[str]
) -> bytes:
    """The note with its lines as `left_of` leaves them, but those of the person (`theirs`, one for each line of the
    file), which are only `followed`. `names` are the notes that go: a row of the changelog that cites one goes, too."""
    note, is_log = Note.parse(data), path.endswith(CHANGELOG)
    rows: list[str] = []
    for at, row in enumerate(note.body.split("\n"), max(note.body_line, 1)):
        if at > len(theirs) or theirs[at - 1]:
            rows.append(followed(row))
            continue
        left = "" if is_log and any(has_name(row, name) for name in names) else left_of(row)
        if left or not row.strip():
            rows.append(left)
        elif not is_log and (field := field_in(row)) is not None:
            rows.append(field[0].rstrip())
    return note.with_body("\n".join(rows)).data


def is_only_mark(text: str) -> bool:
    """True if the mark of a forgetting is all that a text says."""
    words = text.strip().rstrip(".。!！")
    return words in in_all_languages("forgetting.mark")


def without_answers(body: str, forgotten: ForgottenStatements) -> str:
    """The body of a session's note with the mark in place of the answers to messages that say nothing else."""
    gone: list[tuple[int, int]] = []
    is_forgotten = False
    for each in find_records(body):
        if each.kind == "user":
            is_forgotten = not is_only_mark(each.text) and is_only_mark(forgotten.redacted(each.text))
        elif each.kind == "agent" and is_forgotten and each.text.strip():
            gone.append((each.line - 1, each.line + each.text.count("\n")))
    if not gone:
        return body
    rows = body.split("\n")
    for first, end in reversed(gone):
        rows[first:end] = [forgotten.mark]
    return "\n".join(rows)


def is_steering(home: AgentFolder, path: str) -> bool:
    """True for the note of lessons, a rule of an earlier version, or a file of a skill."""
    return home.name_of(path) == LESSONS_NOTE or home.holds(path, RULES, SKILLS)


def agents_lines_without(
    vault: Vault, path: str, data: bytes, forgotten: ForgottenStatements, followed: Callable[[str], str]
) -> bytes:
    """The note without the text in the lines of the agent's; `followed` is a person's row, with the new names of
    notes."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    theirs = person_lines(vault, path, data)
    is_list = vault.home.name_of(path) == LESSONS_NOTE

    def remaining() -> Iterator[str]:
        for row, is_theirs in zip(rows, theirs, strict=True):
            if is_theirs:
                yield followed(row)
            elif not (is_list and forgotten.stands_in(row)):
                yield forgotten.redacted(row)

    return "\n".join(remaining()).encode("utf-8", "surrogateescape")
