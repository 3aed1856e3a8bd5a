"""Notes as the person changes them in a form, as a whole or a box: each change is one commit in their name."""

import re
from difflib import SequenceMatcher

from agent.dataclass import dataclass
from agent.errors import BadNote, NoteGone, UserError
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox, find_tasks
from agent.runs.job_edits import StaleForm
from agent.vault.change import Outcome, Stamp
from agent.vault.folders import PROFILE, WriteRule
from agent.vault.store import Vault

_BOX = re.compile(r"((?:[ ]{0,3}>[ ]?)*[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[)[^\n\r\0](\])")
_COMMENT = re.compile(r"%%.*?%%")


@dataclass(frozen=True, slots=True)
class BoxOnPage:
    """A box as a page shows it: its `text`, and how many boxes with the same text stand above it in the note."""

    text: str
    above: int


def may_edit(vault: Vault, path: str) -> bool:
    """True for a note that is changed in a form: not for what the program keeps, where one decides in another way."""
    return vault.home.write_rule(path) is not WriteRule.PROGRAM


def edit_note(vault: Vault, path: str, base: str, text: str) -> Outcome | None:
    """Write a note as the person has changed it from the version `base`. Returns None if it is the same; raises
    `StaleForm` if it was changed elsewhere meanwhile, `BadNote` if its header could not be read any more."""
    data = _data(vault, path)
    after = _with_endings(_text(data, path), text.replace("\r\n", "\n")).encode()
    if (problem := Note.parse(after).problem) is not None:
        raise problem
    if (now := vault.content_id(data)) != base:
        raise StaleForm(path, now, data.decode("utf-8", "replace"), after.decode("utf-8", "replace"))
    if after == data:
        return None
    of_profile = vault.home.holds(path, PROFILE)
    subject = f"profile(edit): {path.rpartition('/')[2]}" if of_profile else f"notes(edit): {path}"
    with vault.transaction(subject, Stamp("human", typed=True)) as change:
        change.edit(path, data, after)
    return change.outcome


def text_in_form(vault: Vault, path: str) -> tuple[str, str]:
    """A note's version and its text, as a form shows it; raises `UserError` for one that a form would change."""
    data = _data(vault, path)
    return vault.content_id(data), _text(data, path).replace("\r\n", "\n")


def _text(data: bytes, path: str) -> str:
    """The text of a note; raises `UserError` for bytes that a browser would not send back as they are."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\r"
    if "\r" in text.replace("\r\n", "") or "\0" in text:
        raise UserError("{path} has characters that no form keeps", hint="change it in an editor", path=path)
    return text


def _with_endings(before: str, text: str) -> str:
    """The new text, in which lines that were not changed keep their endings, and others have the note's first one."""
    usual = "\r\n" if before.partition("\n")[0].endswith("\r") else "\n"
    old, new = before.split("\n"), text.split("\n")
    found: list[str] = []
    plain = [each.removesuffix("\r") for each in old]
    for kind, start, end, first, last in SequenceMatcher(None, plain, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += old[start:end]
        else:
            found += [f"{each}{usual[:-1]}" for each in new[first:last]]
    found[-1] = found[-1].removesuffix("\r")
    return "\n".join(found)


def tick_box(vault: Vault, path: str, clicked: BoxOnPage, *, done: bool) -> Outcome | None:
    """Tick a box of a note, or take the tick out. Returns None if it is so already; raises `UserError` if no such box
    is there any more."""
    data = _data(vault, path)
    note = Note.parse(data)
    same = [each for each in find_tasks(parse_body(note.body, note.body_line)) if _words(each) == clicked.text]
    if len(same) <= clicked.above:
        raise UserError("{path} has changed since you looked", hint="look at it again", path=path)
    box = same[clicked.above]
    if box.done is done:
        return None
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    lines[box.line - 1] = _BOX.sub(rf"\g<1>{'x' if done else ' '}\g<2>", lines[box.line - 1], count=1)
    after = "\n".join(lines).encode("utf-8", "surrogateescape")
    if after == data:
        raise BadNote("{path} has a box that cannot be ticked here", hint="tick it in an editor", path=path)
    with vault.transaction(f"notes(tick): {path}", Stamp("human", typed=True)) as change:
        change.edit(path, data, after)
    return change.outcome


def box_text(line: str) -> str:
    """The text behind a box, as a page shows it and a note has it."""
    return " ".join(_COMMENT.sub("", line).split())


def _words(box: TaskBox) -> str:
    return box_text(f"{box.text} ^{box.block}" if box.block else box.text)


def _data(vault: Vault, path: str) -> bytes:
    if not may_edit(vault, path):
        raise UserError("{path} is kept by the program", hint="decide under What needs me", path=path)
    data = vault.read(path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
    return data
