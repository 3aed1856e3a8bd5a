"""A quick reader of settings files of the most common form: one `key: word` a line, sections by indentation, comments.

The program's defaults, and most files of a vault or a machine, have this form, and it takes no YAML library to read it:
that is slow to load. `file` reads all that a settings file may have, and reports errors.
"""

import re
from collections.abc import Mapping

_MOST_SECTIONS = 4
"""How deep sections are nested here; the program's own go three deep."""
_WORD = r'(?!null\b)[A-Za-z0-9](?:[A-Za-z0-9_./+,-]|:(?=[A-Za-z0-9_./+,-]))*|""'
_LINE = re.compile(rf"( *)(?:([a-z][a-z0-9_]*):(?: +({_WORD}))?(?: +|(?= *\Z)))?(?:#.*)?")


def parse_plain_settings(text: str) -> Mapping[str, tuple[str, int]] | None:
    """The text and the line, from 1, of each key, dotted; None for a file of any other form.

    They equal those of `file.parse_settings`.
    """
    found: dict[str, tuple[str, int]] = {}
    sections: set[str] = set()
    around = [(0, "")]
    """The columns of the keys of the sections around the line, and their names with a dot, outermost first."""
    begun = ""
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.fullmatch(line) if line.isprintable() else None  # else YAML may see the end of a line in it
        if match is None:
            return None
        indent, key, word = match.groups()
        if key is None:
            continue
        if begun:
            around.append((len(indent), begun))
        while len(around) > 1 and len(indent) < around[-1][0]:
            around.pop()
        column, section = around[-1]
        name = section + key
        is_nested = not begun or (section == begun and column > around[-2][0])
        if not is_nested or column != len(indent) or len(around) > _MOST_SECTIONS or name in found or name in sections:
            return None
        begun = "" if word else f"{name}."
        if word:
            found[name] = ("" if word == '""' else word, number)
        else:
            sections.add(name)
    return None if begun else found
