"""The results of one step in the room that they have: the room is shared by need, and a result is cut by its rank.

What cites notes is cut from its end, between hits or lines, and says what is missing, so that nothing in the middle is
gone, no line stands without its heading, and no stranger's without its frame. Anything else keeps its beginning and its
end (`budget.shorten`): a program says last what went wrong.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from agent.context.budget import Count, shorten
from agent.tools.taint import FRAME_BEGIN, FRAME_END
from agent.tools.tool import Cited

_NAMED = 8
"""The most hits that are named when they are left out."""


def shared_rooms(sizes: Sequence[int], share: int) -> list[int]:
    """The room of each result in tokens, `share` on average: what a small one leaves goes to the others."""
    rooms, left = [0] * len(sizes), share * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        rooms[at] = min(sizes[at], left // (len(sizes) - done))
        left -= rooms[at]
    return rooms


def cut_result(text: str, sources: Sequence[Cited], room: int, count: Count) -> str:
    """A result in at most `room` tokens; `sources` are the lines of notes that it shows, in its order."""
    if count(text) <= room or not sources:
        return shorten(text, room, count)
    hits = _hits(text, sources)
    points = hits or [found.end() for found in re.finditer("\n", text)]

    def at(number: int) -> str:
        """The result up to the cut with this number; a frame that is open there is closed."""
        beginning = text[: points[number]].rstrip()
        end = FRAME_END if beginning.count(FRAME_BEGIN) > beginning.count(FRAME_END) else ""
        return f"{beginning}\n\n[… left out for lack of room: {_missing(text, points[number], hits, sources)}]{end}"

    fits = bisect_right(range(len(points)), room, key=lambda number: count(at(number))) - 1
    if fits >= (1 if hits else 0):
        return at(fits)
    is_one_frame = text.startswith(FRAME_BEGIN) and text.endswith(FRAME_END) and text.count(FRAME_END) == 1
    return shorten(text[: hits[1]].rstrip() if hits and not is_one_frame else text, room, count)


def _hits(body: str, sources: Sequence[Cited]) -> list[int]:
    """Where each numbered hit of a search begins; empty if the text is no such list."""
    if len(sources) < 2:
        return []
    starts: list[int] = []
    for number, each in enumerate(sources, 1):
        lines = rf"\blines {each.lines[0]}-{each.lines[1]}\b"
        head = re.compile(rf"^(?:{FRAME_BEGIN}.*\n)?{number}\. .*{lines}", re.MULTILINE)
        if (found := head.search(body, starts[-1] if starts else 0)) is None:
            return []
        starts.append(found.start())
    return starts


def _missing(body: str, cut: int, hits: Sequence[int], sources: Sequence[Cited]) -> str:
    if hits:
        left = [(start, each) for start, each in zip(hits, sources, strict=True) if start >= cut]
        own = [each for start, each in left if not body.startswith(FRAME_BEGIN, start)]
        names = [f"{each.path}:{each.lines[0]}-{each.lines[1]}" for each in own[:_NAMED]]
        return f"{len(left)} more: {', '.join([*names, '…'] if len(names) < len(left) else names)}"
    begin = body.find("\n\n") + 2
    first, last = sources[0].lines
    if f"{sources[0].path}, lines {first}-{last} of" in body[:begin]:
        return f"lines {min(first + body[begin:cut].count(chr(10)), last)}-{last}; read them with lines"
    return f"{body[cut:].count(chr(10)) + 1} more lines; ask for fewer"
