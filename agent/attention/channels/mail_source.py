"""The bytes of a mail as headers and texts, read within bounds: whoever sends a mail chooses all of it.

The standard library's reader of structured headers calls itself for each parenthesis and takes minutes for some
values, so headers are read as plain text here, and cut. What is nested deeper than in any real mail raises
`ValueError`.
"""

import codecs
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.policy import Compat32

from agent.dataclass import dataclass

MOST = 20_000
"""The most characters that are taken of a header, and of a text."""
_LONGEST_NAME = 200
_DEEPEST = 30
"""The most parts within each other."""
_MOST_PARTS = 60
"""The most boundaries that a mail may declare: the parser looks for each of them in each line."""
_BOUNDARY = re.compile(rb"\bboundary\s*\*?\d*\*?\s*=", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n(?=[ \t])|[\r\n\x00]")
_CHARSETS = re.compile(
    r"ascii|latin[\d_-]*|utf[_-].*|iso8859.*|cp\d+|windows.*|koi8.*|gb.*|big5.*|euc.*|shift.*|iso2022.*|mac.*|hz|tis.*|johab"
)
"""The alphabets that mails are written in, as Python names them. Others of its codecs are no alphabets, or take
quadratic time."""


class _CutHeaders(Compat32):
    """Headers as they are written, each cut to `MOST` characters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MOST]


_POLICY = _CutHeaders()


@dataclass(frozen=True, slots=True)
class MailText:
    """One text of a mail. `is_page`: it is HTML, with the plain text beside it as `plain`."""

    text: str
    is_page: bool = False
    plain: str = ""


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file of a mail: its `section` is the number by which IMAP gives it, in this `encoding`."""

    name: str
    section: str
    encoding: str
    is_picture: bool = False


@dataclass(frozen=True, slots=True)
class MailSource:
    """A mail: headers with names in small letters, the texts that its writer sees, in their order, those of whole mails
    that are enclosed, and the files that are attached; what a page shows, such as the sign of a company, is none."""

    headers: tuple[tuple[str, str], ...]
    texts: tuple[MailText, ...] = ()
    enclosed: tuple[MailText, ...] = ()
    files: tuple[MailFile, ...] = ()

    def values(self, name: str) -> list[str]:
        """The values of a header, on one line each; `name` in small letters."""
        return [value for key, value in self.headers if key == name]

    def value(self, name: str) -> str:
        """The first value of a header with its encoded words read; empty without one."""
        return next((decoded_words(each) for each in self.values(name)), "")


def parse_mail(data: bytes) -> MailSource:
    """The mail in these bytes; raises `ValueError` and `RecursionError` for one that is nested too deeply."""
    if len(_BOUNDARY.findall(data)) > _MOST_PARTS:
        raise ValueError("a mail of too many parts")
    mail = message_from_bytes(data, policy=_POLICY)
    headers = tuple((name.lower(), _unfolded(str(value))) for name, value in mail.raw_items())
    texts: list[MailText] = []
    enclosed: list[MailText] = []
    for text, is_enclosed in _texts(mail, 0):
        (enclosed if is_enclosed else texts).append(text)
    return MailSource(headers, tuple(texts), tuple(enclosed), tuple(_files(mail, "")))


def _files(part: Message, section: str, within: str = "") -> Iterator[MailFile]:
    parts, kind = part.get_payload(), part.get_content_type()
    if isinstance(parts, list):
        for number, one in enumerate((each for each in parts if isinstance(each, Message)), 1):
            if not kind.startswith("message/"):
                yield from _files(one, f"{section}.{number}".lstrip("."), kind)
    elif _is_attached(part) and not _is_of_page(kind, within):
        name = " ".join(decoded_words(_unfolded(part.get_filename() or "file"))[:_LONGEST_NAME].split())
        encoding = str(part.get("content-transfer-encoding", "")).strip().lower()
        yield MailFile(name, section or "1", encoding, kind.startswith("image/"))


def _is_of_page(kind: str, within: str) -> bool:
    """True for a form of the text, or a picture in a page: not for a file that a mail program puts beside a page."""
    return within == "multipart/alternative" or (within == "multipart/related" and kind.startswith("image/"))


def file_bytes(data: bytes, encoding: str) -> bytes:
    """The bytes of a file that was sent in this encoding."""
    part = Message()
    part["Content-Transfer-Encoding"] = encoding
    part.set_payload(data.decode("ascii", "surrogateescape"))
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def decoded_words(value: str) -> str:
    """A header's text with its encoded words (RFC 2047) read; what cannot be read stays as it is written."""
    if "=?" not in value:
        return value.strip()
    try:
        parts = decode_header(value)
    except (ValueError, LookupError, TypeError):
        return value.strip()
    return "".join(part if isinstance(part, str) else _decoded(part, charset) for part, charset in parts).strip()


def _unfolded(value: str) -> str:
    """A header's value on one line; bytes beyond ASCII are read as UTF-8."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _FOLD.sub(" ", text).strip()


def _texts(part: Message, depth: int, enclosed: bool = False) -> Iterator[tuple[MailText, bool]]:
    """The texts of a part, in order, and whether they belong to an enclosed mail."""
    if depth > _DEEPEST:
        raise ValueError("a mail nested too deeply")
    kind, parts = part.get_content_type(), part.get_payload()
    if isinstance(parts, list):
        members = [one for one in parts if isinstance(one, Message)]
        within = enclosed or kind.startswith("message/")
        if kind == "multipart/alternative":
            found = [each for one in members for each in _texts(one, depth + 1, within)]
            yield from _one_of([text for text, is_enclosed in found if is_enclosed == within], within)
            yield from (each for each in found if each[1] != within)
            return
        for one in members:
            yield from _texts(one, depth + 1, within)
    elif kind in ("text/plain", "text/html") and not _is_attached(part):
        yield MailText(_content(part), kind == "text/html"), enclosed


def _one_of(texts: list[MailText], enclosed: bool) -> Iterator[tuple[MailText, bool]]:
    """The same text in several forms: the page with the plain text beside it, or the only form that there is."""
    page = next((each for each in texts if each.is_page), None)
    plain = next((each for each in texts if not each.is_page), None)
    if page is not None and plain is not None:
        yield MailText(page.text, True, plain.text), enclosed
    elif texts:
        yield texts[0], enclosed


def _is_attached(part: Message) -> bool:
    """True for a file, which is not what the writer has typed."""
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _content(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return _decoded(payload, part.get_content_charset()).replace("\r\n", "\n")


def _decoded(data: bytes, charset: str | None) -> str:
    """The text in these bytes; in UTF-8 with marks for what is broken, if the alphabet is none that mails have."""
    try:
        name = codecs.lookup((charset or "utf-8")[:40]).name
        text = data.decode(name if _CHARSETS.fullmatch(name) else "utf-8", "replace")
    except (LookupError, ValueError):
        text = data.decode("utf-8", "replace")
    return text.encode("utf-8", "replace").decode("utf-8")
