"""Short codes for what waits for the person, such as `7K2`: for replies in messengers, where nobody types an id.

A code is made from the id of the note in `approvals/` or `questions/`: digits and letters take turns, so that no word
looks like one, and none of them is easily taken for another. It says which note is meant, and is no secret: who may
decide is checked where the reply comes in.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.note import Note
from agent.vault.folders import APPROVALS, QUESTIONS
from agent.vault.store import Vault

DIGITS, LETTERS = "23456789", "ABCDEFGHJKMNPQRSTVWXYZ"
SHORTEST, LONGEST = 3, 11
CODE = rf"[{DIGITS}][{LETTERS}][{DIGITS}](?:[{LETTERS}][{DIGITS}]){{0,4}}[{LETTERS}]?"
"""A pattern for codes in capital letters."""


@dataclass(frozen=True, slots=True)
class CodedNote:
    """A note with its code; `whole` is the longest form, of which the code is the beginning."""

    path: str
    code: str
    whole: str


def whole_code(id: str) -> str:
    """The longest form of the code for an id: `LONGEST` characters."""
    number = int.from_bytes(sha256(id.encode()).digest()[:16])
    signs: list[str] = []
    for place in range(LONGEST):
        among = LETTERS if place % 2 else DIGITS
        number, sign = divmod(number, len(among))
        signs.append(among[sign])
    return "".join(signs)


def with_codes(notes: Iterable[tuple[str, str]]) -> tuple[CodedNote, ...]:
    """The notes, given as pairs of id and path, with their codes.

    A code is longer than three characters only where an older note has the same beginning: a newer note never changes
    the code of an older one, which a person may have before their eyes.
    """
    taken: set[str] = set()
    found: list[CodedNote] = []
    for id, path in sorted(notes):
        whole = whole_code(id)
        lengths = range(SHORTEST, LONGEST + 1)
        code = next((whole[:length] for length in lengths if whole[:length] not in taken), whole)
        taken.add(code)
        found.append(CodedNote(path, code, whole))
    return tuple(found)


def coded_notes(vault: Vault) -> tuple[CodedNote, ...]:
    """All notes that ask or have asked something, with their codes."""
    asking = [path for path in vault.note_paths() if vault.home.holds(path, APPROVALS, QUESTIONS)]
    return with_codes((_id_of(vault, path), path) for path in asking)


def find_code(vault: Vault, typed: str) -> CodedNote | None:
    """The note with this code, in any case of letters; a longer form of the code is known, too."""
    typed = typed.upper()
    if not re.fullmatch(CODE, typed):
        return None
    known = [each for each in coded_notes(vault) if each.whole.startswith(typed) and typed.startswith(each.code)]
    return max(known, key=lambda each: len(each.code), default=None)


def codes_by_path(vault: Vault) -> dict[str, str]:
    """The code of each note that asks or has asked something, by its path."""
    return {each.path: each.code for each in coded_notes(vault)}


def _id_of(vault: Vault, path: str) -> str:
    try:
        return Note.parse(vault.read(path) or b"").id or path
    except BadNote:
        return path
