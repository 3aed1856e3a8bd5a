"""`agent: never` in a note's header: the person keeps the note from the agent."""

import re

_LONGEST = 1 << 16
"""Bytes of a note among which its header is looked for."""
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)(?:^(?:---|\.\.\.)[ \t]*\r?$|\Z)", re.DOTALL | re.MULTILINE)
_NEVER = re.compile(
    rb"^[\"']?agent[\"']?[ \t]*:[ \t]*(?:\[[ \t]*|\r?\n[ \t]*-[ \t]*)?[\"']?never\b", re.IGNORECASE | re.MULTILINE
)


def keeps_agent_out(data: bytes) -> bool:
    """True if the header of a note says `agent: never`, also where it cannot be parsed as a whole."""
    if not data.startswith((b"---", b"\xef\xbb\xbf---")) or _NEVER.search(data, 0, _LONGEST) is None:
        return False
    header = _HEADER.match(data[:_LONGEST])
    return header is not None and _NEVER.search(header[1]) is not None
