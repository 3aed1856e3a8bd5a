"""Frames of Lark's long connection: the few fields of Protocol Buffers that they have, read and written.

The message is `pbbp2.Frame` of Lark's own client: SeqID 1, LogID 2, service 3, method 4, headers 5 (key 1, value 2),
payload_encoding 6, payload_type 7, payload 8, LogIDNew 9. The wire format is that of
https://protobuf.dev/programming-guides/encoding: each field begins with its number and its kind. A field that is not
known is skipped; the last value of a field counts, and each header is one more.
"""

from collections.abc import Iterator

from agent.dataclass import dataclass

CONTROL, DATA = 0, 1
"""The methods of frames: pings and pongs; events."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_BITS = 64
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_NUMBERS = {1: "sequence", 2: "log", 3: "service", 4: "method"}
_TEXTS = {6: "encoding", 7: "type", 9: "log_name"}
_HEADER, _PAYLOAD = 5, 8


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; numbers are from 0 up to 64 bits, headers are names with their values."""

    sequence: int = 0
    log: int = 0
    service: int = 0
    method: int = CONTROL
    headers: tuple[tuple[str, str], ...] = ()
    encoding: str = ""
    type: str = ""
    payload: bytes = b""
    log_name: str = ""

    def header(self, name: str) -> str:
        """The first value of a header; empty without one."""
        return next((value for key, value in self.headers if key == name), "")

    def number(self, name: str) -> int:
        """The value of a header as a number of at least 0; 0 without one."""
        value = self.header(name)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0


def frame_bytes(frame: Frame) -> bytes:
    """The frame as it is sent; what `parse_frame` reads is the same frame."""
    parts = [_key(field, _VARINT) + _varint(getattr(frame, name)) for field, name in _NUMBERS.items()]
    for key, value in frame.headers:
        parts.append(_field(_HEADER, _field(1, key.encode()) + _field(2, value.encode())))
    parts += [_field(6, frame.encoding.encode())] if frame.encoding else []
    parts += [_field(7, frame.type.encode())] if frame.type else []
    parts += [_field(_PAYLOAD, frame.payload)] if frame.payload else []
    parts += [_field(9, frame.log_name.encode())] if frame.log_name else []
    return b"".join(parts)


def parse_frame(data: bytes) -> Frame:
    """The frame in `data`; raises `ValueError` if it is none, as when it ends in the middle of a field."""
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    headers: list[tuple[str, str]] = []
    payload = b""
    for field, value in _fields(data):
        match value:
            case int() if field in _NUMBERS:
                numbers[_NUMBERS[field]] = value
            case bytes() if field in _TEXTS:
                texts[_TEXTS[field]] = value.decode()
            case bytes() if field == _HEADER:
                headers.append(_parse_header(value))
            case bytes() if field == _PAYLOAD:
                payload = value
            case _:
                continue
    return Frame(**numbers, headers=tuple(headers), payload=payload, **texts)  # type: ignore[arg-type]  # by names


def _parse_header(data: bytes) -> tuple[str, str]:
    found = {field: value.decode() for field, value in _fields(data) if isinstance(value, bytes)}
    return found.get(1, ""), found.get(2, "")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields with their values, in order; a number of a fixed size is skipped, as no field here has one."""
    at = 0
    while at < len(data):
        key, at = _parse_varint(data, at)
        field, kind = key >> 3, key & 7
        if not field:
            raise ValueError("a field without a number")
        if kind == _VARINT:
            value, at = _parse_varint(data, at)
            yield field, value
        elif kind == _BYTES:
            length, at = _parse_varint(data, at)
            at = _checked(data, at + length)
            yield field, data[at - length : at]
        elif kind in _FIXED:
            at = _checked(data, at + _FIXED[kind])
        else:
            raise ValueError("a field of an unknown kind")


def _parse_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, seven bits in each byte, the lowest first; and the place after it."""
    value = 0
    for shift in range(0, _MOST_BITS, 7):
        byte = data[_checked(data, at + 1) - 1]
        value, at = value | (byte & 0x7F) << shift, at + 1
        if byte < 0x80:
            return value & (1 << _MOST_BITS) - 1, at
    raise ValueError("a number without an end")


def _checked(data: bytes, end: int) -> int:
    if end > len(data):
        raise ValueError("the frame ends too early")
    return end


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _field(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value
