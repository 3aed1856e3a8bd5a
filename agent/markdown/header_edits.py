"""Edits of one key of a note's header that change no other byte.

They work on bytes: the text below the header may be in any encoding and is never decoded. `note` finds and reads
a header, `yaml_write` writes the new lines.
"""

import re
from dataclasses import replace

from agent.errors import BadNote
from agent.markdown import yaml_write
from agent.markdown.note import UTF16, Parts, entries, split, text_of, values_of
from agent.markdown.yaml_read import HeaderEntry, Node
from agent.markdown.yaml_write import Value, is_list, same

_COMMENT = re.compile(r"[ \t]+#[^\n]*")


def set_key(data: bytes, key: str, value: Value) -> bytes:
    """The note with one top-level key set; only that key's lines change, a trailing comment stays.

    An existing key keeps its position, its quoting and its list style; a new key comes last. A note without a header
    gets one. Raises BadNote when the header cannot be parsed, or the key cannot be changed without other lines.
    """
    parts = split(_utf8(data))
    found = entries(parts)
    text = text_of(parts.header)
    newline = parts.newline
    old = next((entry for entry in found if entry.key == key), None)
    if old is not None:
        if same(old.value, value):
            return data
        require_own_lines(text, old)
        ending = "\r\n" if text[: old.end].endswith("\r\n") else "\n"
        lines = _rewritten(text, old, value)
        text = text[: old.start] + "".join(line + ending for line in lines) + text[old.end :]
    else:
        indent = text[found[0].start : found[0].key_start] if found else ""
        if found:
            require_own_lines(text, found[0])
        lines = [indent + line if line else "" for line in yaml_write.pair(yaml_write.text(key), value)]
        if parts.opening and not found:
            lines = ["", *lines]  # lets `remove_key` restore the empty header
        text += "".join(line + newline for line in lines)
    expected = {entry.key: entry.value for entry in found} | {key: value}
    return _checked(parts, text, expected)


def remove_key(data: bytes, key: str) -> bytes:
    """The note without one top-level key; the same bytes when it has no such key.

    Removing the last key removes the header too, unless the header has other lines or a blank line above the key.
    Raises BadNote as `set_key` does.
    """
    parts = split(_utf8(data))
    found = entries(parts)
    old = next((entry for entry in found if entry.key == key), None)
    if old is None:
        return data
    text = text_of(parts.header)
    require_own_lines(text, old)
    before, after = text[: old.start], text[old.end :]
    if len(found) == 1:
        above = before.rfind("\n", 0, max(len(before) - 1, 0)) + 1
        if before and not before[above:].strip(" \t\r\n"):
            return _checked(parts, before[:above] + after, {})
        bare = parts.bom + parts.body
        if not before and not after and not split(bare).opening:
            return bare
    return _checked(parts, before + after, {entry.key: entry.value for entry in found if entry.key != key})


def require_own_lines(text: str, entry: HeaderEntry) -> None:
    """Raise BadNote for a key that shares its lines with other text: `{a: 1, b: 2}` and `? key`."""
    is_first_on_line = not text[entry.start : entry.key_start].strip(" ")
    if not is_first_on_line or not text[entry.key_end :].lstrip(" \t").startswith(":"):
        raise BadNote(
            "the key `{key}` cannot be changed alone, as the header is written",
            line=entry.line,
            hint="write the header as one `key: value` a line",
            key=entry.key,
        )


def _utf8(data: bytes) -> bytes:
    if data.startswith(UTF16):
        raise BadNote("the note is UTF-16 text", hint="save it as UTF-8 to let its header be changed")
    return data


def _rewritten(text: str, entry: HeaderEntry, value: Value) -> list[str]:
    """The lines of an existing key with a new value, without line endings."""
    node = entry.node
    colon = text.index(":", entry.key_end) + 1
    key = text[entry.start : colon - 1]
    indent = text[entry.start : entry.key_start]
    lines = _list_lines(text, entry, value) or yaml_write.pair(key.strip(" "), value)
    lines = [indent + line if line else "" for line in lines]
    first = text[colon : text.index("\n", colon)].rstrip("\r")
    gap = text[colon : node.start]
    if "\n" in gap:
        tail, gap = first, " "
    elif node.style == "literal":
        tail = "".join(first.partition(" #")[1:])
    else:
        tail = text[node.end : entry.end].rstrip("\r\n") if node.style != "block" else ""
    if len(lines) == 1 and gap.strip(" \t") == "" != gap and not lines[0].endswith(":"):
        head = len(indent) + len(key.strip(" ")) + 1
        lines[0] = lines[0][:head] + gap + lines[0][head + 1 :]
    return [lines[0] + (tail if _COMMENT.fullmatch(tail) else ""), *lines[1:]]


def _list_lines(text: str, entry: HeaderEntry, value: Value) -> list[str]:
    """The lines of a changed list with its old style, indentation and unchanged items; empty if not possible."""
    node = entry.node
    if not is_list(value) or not value or not node.items or yaml_write.inline(value) is None:
        return []
    key = text[entry.start : entry.key_end].strip(" ")
    flow = node.style == "flow"
    items = [_item(text, node, item, flow=flow) for item in value]
    if flow:
        return [f"{key}: [{', '.join(items)}]"] if "\n" not in text[node.start : node.end] else []
    step = node.start - text.rfind("\n", 0, node.start) - 1 - (entry.key_start - entry.start)
    return [f"{key}:", *(" " * step + "- " + item for item in items)]


def _item(text: str, node: Node, item: Value, *, flow: bool) -> str:
    for old in node.items:
        source = text[old.start : old.end if flow else text.index("\n", old.end)].rstrip("\r")
        if old.end > old.start and "\n" not in source and same(old.value, item):
            return source
    return yaml_write.item_text(item, flow=flow)


def _checked(parts: Parts, text: str, expected: dict[str, Value]) -> bytes:
    """The note with its new header. Raises BadNote when the header does not parse to the expected values."""
    opening = parts.opening or b"---" + parts.newline.encode() if text else parts.opening
    closing = parts.closing or b"---" + parts.newline.encode() if text else parts.closing
    try:
        changed = replace(parts, opening=opening, header=text.encode("utf-8"), closing=closing)
    except UnicodeEncodeError as error:
        raise BadNote("the value holds half a character (a lone surrogate)", hint="remove the character") from error
    again = split(changed.join())
    if again != changed or not same(values_of(entries(again)), expected):
        raise BadNote("the key cannot be changed without changing another line", hint="edit this header by hand")
    return changed.join()
