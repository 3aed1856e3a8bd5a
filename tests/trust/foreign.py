"""Values that strangers may send: each a known way to stop a parser, or a chance one."""

import base64
import json
import random
from collections.abc import Callable, Sequence

DEEP = 100_000
_WORDS = (
    "yes 7K2",
    "",
    "\0",
    "\ud800",
    "\u202e",
    "a" * 70_000,
    "😀",
    "..",
    "../../x",
    "=?utf-8?b?!!?=",
    "\r\n",
    "ä",
    "(",
)
_NUMBERS = ("1e999", "-1e999", "NaN", "Infinity", "9" * 400, "-1", "0", "1e308", "253402300800", "true", "null", '"7"')
_CHARSETS = (
    "utf-8",
    "utf-7",
    "no-such",
    "punycode",
    "idna",
    "zlib",
    "hex",
    "unicode_escape",
    "utf-16",
    "x" * 5_000,
    "",
)
_TIMES = (
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00",
    "10000-01-01",
    "1969-12-31",
    "-1",
    "2026-02-30",
    "1e9",
)


def _bytes(chance: random.Random, most: int = 300) -> bytes:
    return chance.randbytes(chance.randrange(most))


def _text(chance: random.Random) -> str:
    return chance.choice(_WORDS) + chance.choice(_WORDS)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_HEADERS: Sequence[Callable[[random.Random], bytes]] = (
    lambda chance: b"To: " + b"(" * chance.choice((1, 3_000, 100_000)),
    lambda chance: (
        b"To: " + b", ".join(b"n%d <n%d@x.org>" % (each, each) for each in range(chance.choice((3, 20_000))))
    ),
    lambda chance: b"From: " + chance.choice((b"<" * 5_000, b'"' * 999, b"a@b, c@d", b"=?" * 9_000, b"\xff\xfe@\x00")),
    lambda chance: (
        b"Subject: " + chance.choice((b"=?utf-8?b?" + b"!" * 999 + b"?=", b"=?no-such?q?=ff?=", b"=?x" * 9_999))
    ),
    lambda chance: (
        b"Content-Type: " + chance.choice((b"text/plain", b"text/html", b"multipart/mixed", b"(" * 4_000, b"/;;="))
    ),
    lambda chance: b"Content-Type: text/plain; charset=" + chance.choice(_CHARSETS).encode(),
    lambda chance: b"Content-Type: text/plain" + b';a="' * chance.choice((1, 50_000)),
    lambda chance: b"Content-Type: multipart/mixed; boundary=" + chance.choice((b"x", b"", b'"', b"y" * 9_000)),
    lambda chance: (
        b"Content-Transfer-Encoding: " + chance.choice((b"base64", b"quoted-printable", b"x-uuencode", b"\x00"))
    ),
    lambda chance: b"Content-Disposition: attachment; filename*=" + chance.choice((b"utf-8''%ff", b"no''x", b"a'b")),
    lambda chance: b"Date: " + chance.choice(_TIMES).encode(),
    lambda chance: b"Message-ID: " + chance.choice((b"<", b"<a@b>" * 9_000, b"<" * 9_000, b"")),
    lambda chance: b"In-Reply-To: " + b"<a.b.vault-agent@" * chance.choice((1, 4_000)),
    lambda chance: b"Authentication-Results: mx.example.org; " + b"(" * chance.choice((1, 9_000)) + b"dmarc=pass",
    lambda chance: b"X" * chance.choice((1, 300_000)) + b": y",
    lambda chance: _bytes(chance),
)
_PAGES: Sequence[Callable[[random.Random], bytes]] = (
    lambda chance: b"<div>" * chance.choice((3, 60_000)),
    lambda chance: b"<!--" * 20_000,
    lambda chance: b"<a " * 50_000,
    lambda chance: b"<![CDATA[" * 9_000,
    lambda chance: b"&#" + b"9" * 9_000 + b";<p style='" + b"border:" * 9_000 + b"'>x",
    lambda chance: _bytes(chance, 3_000),
)


def mail(chance: random.Random) -> bytes:
    """A mail, or something like one, of at most some hundred kilobytes."""
    if chance.random() < 0.1:
        return _bytes(chance, 5_000)
    kind = chance.choice((b"message/rfc822", b"multipart/mixed; boundary=x%d", b"multipart/digest; boundary=x"))
    depth = chance.choice((0, 0, 0, 3, 40, 1_000, 4_000))
    nest = b"".join(
        b"Content-Type: " + (kind % each if b"%d" in kind else kind) + b"\r\n\r\n--x%d\r\n" % each
        for each in range(depth)
    )
    head = [chance.choice(_HEADERS)(chance) for _ in range(chance.randrange(1, 8))]
    sender = chance.choice((b"From: bob@evil.example", b"From: anna@example.org"))
    body = chance.choice(_PAGES)(chance) if chance.random() < 0.4 else _raw(_text(chance)) + _bytes(chance)
    body = base64.b64encode(body) if chance.random() < 0.1 else body
    newline = chance.choice((b"\r\n", b"\r\n", b"\n", b"\r"))
    return newline.join((sender, *head)) + newline + nest + newline + body


def json_text(chance: random.Random, document: object, depth: int = 0) -> str:
    """A document with some of its values in the place of others; not always valid JSON."""
    if depth and chance.random() < 0.12:
        return chance.choice((*_NUMBERS, json.dumps(_text(chance)), "[]", "{}", '[{"a":' * 300 + "1" + "}]" * 300))
    if isinstance(document, dict):
        pairs = (f"{json.dumps(key)}:{json_text(chance, each, depth + 1)}" for key, each in document.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(document, list):
        return "[" + ",".join(json_text(chance, each, depth + 1) for each in document) + "]"
    return json.dumps(document)


def body(chance: random.Random, document: object) -> bytes:
    """The body of a request: mostly JSON."""
    match chance.randrange(8):
        case 0:
            return b'{"a":' * DEEP
        case 1:
            return b'{"title":' + b"[" * DEEP + b"]" * DEEP + b"}"
        case 2:
            return _bytes(chance)
    return _raw(json_text(chance, document))


def yaml_text(chance: random.Random, keys: Sequence[str]) -> bytes:
    """The lines of a header or of settings."""
    values = (
        *_NUMBERS,
        *_TIMES,
        *_WORDS[:5],
        "[" * 5_000,
        "{a: " * 5_000,
        "&a [*a, *a]",
        "!!python/name:os.system",
        "|",
        "*b",
    )
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + each)}: &{chr(98 + each)} [{','.join([f'*{chr(97 + each)}'] * 9)}]\n" for each in range(8)
    )
    lines = [f"{chance.choice(keys)}: {chance.choice(values)}" for _ in range(chance.randrange(1, 6))]
    text = bomb if chance.random() < 0.05 else "\n".join(lines)
    return _raw(text) + (_bytes(chance) if chance.random() < 0.2 else b"\n")
