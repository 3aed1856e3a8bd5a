"""What a person wrote in a mail: its plain text, without the mail that it answers and without the signature."""

import re
from email.message import EmailMessage, MIMEPart
from html.parser import HTMLParser

_MOST = 20_000
"""The most characters that are taken from a mail."""
_QUOTE_BEGINS = re.compile(
    r"^\s*(?:"
    r"-{2,}\s*(?:original message|ursprüngliche nachricht|原始邮件|forwarded message|转发邮件)\s*-{2,}"
    r"|_{20,}"  # Outlook draws a line
    r"|(?:from|von|发件人)\s*[:：]\s.*@.*"
    r"|在.{4,120}写道\s*[:：]"
    r"|.{4,120}于.{4,60}写道\s*[:：]"
    r")\s*$",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"^\s*(?:on|am|le|el)\s.{6,200}\b(?:wrote|schrieb.{0,80}|a écrit|escribió)\s*[:：]\s*$", re.IGNORECASE | re.DOTALL
)
"""The line above a quotation, which some programs break into two."""
_SIGNATURE = "-- "
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "blockquote"})
_UNSEEN = frozenset({"script", "style", "head", "title", "blockquote"})


def written_text(mail: EmailMessage) -> str:
    """What its writer wrote; empty if there is no text in it."""
    return without_quotation(whole_text(mail))


def whole_text(mail: EmailMessage) -> str:
    """All that can be read in it, with what it quotes or passes on; empty if there is no text in it."""
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    text = _content(part)
    if part.get_content_type() == "text/html":
        text = _plain(text)
    return text[:_MOST].strip()


def without_quotation(text: str) -> str:
    """The lines above the quoted mail, or all that are not quoted, if the answer stands below or between."""
    lines = text.splitlines()
    kept: list[str] = []
    for number, line in enumerate(lines):
        if _QUOTE_BEGINS.match(line) or line == _SIGNATURE:
            break
        if _WROTE.match(line) or _WROTE.match(" ".join(lines[number : number + 2])):
            if _is_answered_below(lines[number:]):
                continue
            break
        kept.append(line)
    own = [line for line in kept if not line.lstrip().startswith(">") and not _WROTE.match(line)]
    return "\n".join(own).strip()


def _is_answered_below(rest: list[str]) -> bool:
    """True if words of the writer follow among or after the quoted lines."""
    after = [line for line in rest[1:] if line.strip()]
    quoted = [number for number, line in enumerate(after) if line.lstrip().startswith(">")]
    return bool(quoted) and any(not line.lstrip().startswith(">") for line in after[quoted[0] :])


def _content(part: MIMEPart) -> str:
    try:
        content = part.get_content()
    except (LookupError, ValueError):  # an unknown alphabet
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return content if isinstance(content, str) else ""


class _Words(HTMLParser):
    """The words of a page, a line for each block; what is quoted or not shown is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen.append(tag)
        if tag in _BLOCKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._unseen and self._unseen[-1] == tag:
            self._unseen.pop()

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.words.append(data)


def _plain(page: str) -> str:
    parser = _Words()
    parser.feed(page[: _MOST * 10])
    return "".join(parser.words)
