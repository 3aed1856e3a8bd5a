"""Parses server-sent events from a stream of bytes in any pieces. Interpreting the events is left to the wires."""

from collections.abc import Iterable, Iterator

from agent.dataclass import dataclass
from agent.errors import Permanent

MAX_LINE = 1024 * 1024
"""The longest line in bytes: a piece of an answer has some hundred, a whole tool call in one piece some thousand."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name, empty if the stream gives none, and its data without the field's name."""

    name: str
    data: str


def parse_events(pieces: Iterable[bytes]) -> Iterator[ServerEvent]:
    """The events in a stream, without comments, empty events and unknown fields.

    The last event counts even when the empty line after it is missing. Raises `Permanent` for a line over `MAX_LINE`.
    """
    name, data = "", list[str]()
    for line in lines(pieces):
        if not line:
            if data:
                yield ServerEvent(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if data:
        yield ServerEvent(name, "\n".join(data))


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream without their line ends (CRLF, LF or CR); bytes that are not UTF-8 become U+FFFD."""
    rest = bytearray()
    after_return = False  # the previous piece ended with CR, so an LF that follows belongs to it
    first = True
    for piece in pieces:
        if after_return and piece:
            piece = piece.removeprefix(b"\n")
            after_return = False
        end = len(rest) + max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        rest += piece
        if end > len(rest) - len(piece):
            whole = bytes(rest[:end])
            del rest[:end]
            after_return = whole.endswith(b"\r")
            for line in whole.splitlines():  # splits bytes at CRLF, LF and CR only
                yield _decoded(line, first)
                first = False
        _check_length(rest)
    if rest:
        yield _decoded(bytes(rest), first)


def _decoded(line: bytes, first: bool) -> str:
    _check_length(line)
    return (line.removeprefix(b"\xef\xbb\xbf") if first else line).decode("utf-8", "replace")


def _check_length(line: bytes | bytearray) -> None:
    if len(line) > MAX_LINE:
        raise Permanent(
            "the model's server sent a line of over {size} KB",
            hint="ask for less at once, or check that llm.base_url is the address of a model server",
            size=MAX_LINE // 1024,
        )
