"""The line at the end of a job's note that says what is wrong with its header, as long as it is.

Its person may never look at a terminal. The line is never written into a note that is being edited, nor into one in
which something arrived that nobody has looked at.
"""

from collections.abc import Mapping, Sequence

from agent.markdown.note import Note
from agent.schedule.job import NO_TYPE, PROBLEM, JobProblem
from agent.texts import Language, Sentence, translated
from agent.vault.change import Edit, Stamp
from agent.vault.store import Vault


def problem_edits(
    vault: Vault, problems: Sequence[JobProblem], marked: Sequence[str], still: Mapping[str, bool], language: Language
) -> tuple[Edit, ...]:
    """The changes that bring these lines up to date; `marked` are the notes that have one, `still` says by path
    whether a note may be written now (True for those not named)."""
    wanted = {each.path: _line(each, language) for each in problems if each.key != NO_TYPE}  # that may be meant
    edits = []
    for path in dict.fromkeys((*wanted, *marked)):
        data = vault.read(path)
        if data is None or not still.get(path, True) or vault.own_version(path) != data:
            continue
        after = _with_line(data, wanted.get(path, ""))
        if after != data:
            edits.append(Edit(path, data, after))
    return tuple(edits)


def write_problem_lines(vault: Vault, edits: Sequence[Edit]) -> None:
    """Write them in one commit; raises what a transaction does."""
    with vault.transaction("jobs(problem): what is wrong with their headers", Stamp("agent", tool="jobs")) as change:
        change.requests += edits


def _line(problem: JobProblem, language: Language) -> str:
    key = f"`{problem.key}`: " if problem.key else ""
    words = translated(Sentence("{problem}; {fix}", problem=problem.message, fix=problem.hint), language)
    return f"{PROBLEM}{key}{' '.join(words.split())}"


def _with_line(data: bytes, line: str) -> bytes:
    """The note with this line as its last one, and without any other of its kind; without any for an empty one."""
    note = Note.parse(data)
    newline = "\r\n" if "\r\n" in note.body else "\n"
    lines = note.body.split(newline)
    if line and [each for each in lines if each.startswith(PROBLEM)] == [line]:
        return data
    others = [each for each in lines if not each.startswith(PROBLEM)]
    if len(others) == len(lines) and not line:
        return data
    body = newline.join(others).rstrip()
    body = f"{body}{newline}" if body else ""
    return note.with_body(f"{body}{newline if body else ''}{line}{newline}" if line else body).data
