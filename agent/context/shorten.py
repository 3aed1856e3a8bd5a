"""Shortens a long text visibly: its beginning and its end are kept, and a note gives the length of the missing part.

The same text and room always give the same result, and a text that fits is unchanged; so a shortened tool result stays
the same in every later request.
"""

from agent.context.budget import Count

_HEAD = 2 / 3
"""The part of the room for the beginning, where the topic of a text is more often than at its end."""
_TRIES = 12


def shorten(text: str, room: int, count: Count) -> str:
    """`text` in at most `room` tokens: cut in the middle, at line ends if there are any nearby.

    If the room is too small for the note, the beginning only.
    """
    whole = count(text)
    if whole <= room:
        return text
    keep = int(len(text) * room / whole)
    for _ in range(_TRIES):
        short = _cut(text, keep, whole, count)
        used = count(short)
        if used <= room:
            return short
        keep = min(int(keep * room / used), keep - 1) if keep > 1 else 0
        if keep <= 0:
            break
    return _beginning(text, room, count)


def _cut(text: str, keep: int, whole: int, count: Count) -> str:
    head = _back_to_line(text[: int(keep * _HEAD)])
    tail = _on_to_line(text[len(text) - (keep - int(keep * _HEAD)) :] if keep else "")
    left_out = whole - count(head) - count(tail)
    return f"{head}\n[… left out here: about {max(left_out, 1):,} of {whole:,} tokens …]\n{tail}"


def _back_to_line(head: str) -> str:
    """The text without its cut last line, unless that line is most of it."""
    end = head.rfind("\n")
    return head[:end] if end > len(head) // 2 else head


def _on_to_line(tail: str) -> str:
    start = tail.find("\n")
    return tail[start + 1 :] if 0 <= start < len(tail) // 2 else tail


def _beginning(text: str, room: int, count: Count) -> str:
    low, high = 0, min(len(text), max(room, 0) * 16)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= room else (low, middle - 1)
    return text[:low]
