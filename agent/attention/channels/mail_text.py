"""Whose words a mail holds: its writer's own, and those of others that it quotes or passes on.

The list is one of the good: the writer's own words are those before the first trace of anything else (`mail_trace`,
`mail_page`), less what the agent has sent itself (`sent_words`). The rest is somebody else's, and is kept as that.
"""

import re
from collections.abc import Sequence

from agent.attention.channels.mail_page import PageText, read_mail_page
from agent.attention.channels.mail_source import MOST, MailSource, MailText
from agent.attention.channels.mail_trace import TracedLines
from agent.attention.channels.sent_words import NOTHING_SENT, SentWords, words_of
from agent.dataclass import dataclass

_PREFIX = re.compile(
    r"\s*(?:\[[^\]]{0,40}\]\s*)?(?:re|aw|antw|sv|vs|odp|ynt|atb|fwd?|wg|tr|rv|doorst|回复|回覆|答复|转发|轉寄|转寄|返信|転送"
    r"|답장|전달|отв|пересл)\s*(?:\[\d+\]|\(\d+\))?\s*[:：]",
    re.IGNORECASE,
)
"""What mail programs put before the subject of a reply, and of a mail that is passed on, as far as no person types it.
One that is not here passes on a mail that has the headers of a reply, or the look of a quotation."""
_MOST_SIGNATURE = 10
_SIGNATURE = re.compile(r"--\s?")


@dataclass(frozen=True, slots=True)
class MailWords:
    """The words of a mail's writer, and the text of others; each may be empty."""

    own: str
    foreign: str = ""


@dataclass(frozen=True, slots=True)
class MailKind:
    """The facts about a mail in its head. `answers`: it names a mail that it answers or passes on. `is_prefixed`: its
    subject says so. `is_to_us`: what it answers is a mail of ours, and `sent` are the words of that."""

    answers: bool
    is_prefixed: bool = False
    is_to_us: bool = False
    sent: SentWords = NOTHING_SENT

    @property
    def is_new(self) -> bool:
        """True for a mail that says nowhere that it answers or passes on another one."""
        return not (self.answers or self.is_prefixed or self.is_to_us)


def has_reply_prefix(subject: str) -> bool:
    """True if a subject begins as those of replies and of mails that are passed on."""
    return _PREFIX.match(subject) is not None


def split_mail(mail: MailSource, kind: MailKind) -> MailWords:
    """The words of the mail's writer, and those of others: what it quotes, passes on and encloses."""
    own: list[str] = []
    foreign: list[str] = []
    for each in mail.texts:
        if foreign and not kind.is_new:  # below a quotation
            foreign.append(_whole(each))
            continue
        found = _split(each, kind)
        own.append(found.own)
        foreign.append(found.foreign)
        foreign = [text for text in foreign if text]
    foreign += [_whole(each) for each in mail.enclosed]
    return MailWords(_joined(own), _joined(foreign))


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, texts)))[:MOST].strip()


def _whole(text: MailText) -> str:
    return (read_mail_page(text.text).text if text.is_page else text.text)[:MOST].strip()


def _split(text: MailText, kind: MailKind) -> MailWords:
    """The words in one text of a mail; where it has two forms, those of the form in which fewer are the writer's."""
    if not text.is_page:
        return _split_plain(text.text[:MOST], kind)
    page = read_mail_page(text.text)
    found = _split_page(page, kind)
    if not text.plain.strip():
        return found
    plain = _split_plain(text.plain[:MOST], kind)
    return min(plain, found, key=lambda each: len(words_of(each.own)))


def _split_page(page: PageText, kind: MailKind) -> MailWords:
    """The words in a page: a quotation begins at an element that is made for it, or at a trace in the text above."""
    at = page.quote if kind.is_new else page.doubt
    if at >= len(page.text[:MOST]):
        return _split_plain(page.text[:MOST], kind)
    above = page.text[:at]
    lines = above.split("\n")
    first = TracedLines([*lines, "> "], True, not kind.is_to_us).first() if not kind.is_new else None
    own = above if first is None else "\n".join(lines[:first])
    below = page.text[len(own) : MOST]
    return MailWords(own.strip(), _not_sent(below, kind))


def _split_plain(text: str, kind: MailKind) -> MailWords:
    lines = text.split("\n")
    traced = TracedLines(lines, not kind.is_new, not kind.is_to_us)
    first = traced.first()
    if first is None:
        return _without_trace(text, kind)
    if not (kind.is_new or kind.is_to_us) and traced.is_bare(first):
        return MailWords("", text.strip())
    own, rest = "\n".join(lines[:first]).strip(), lines[first:]
    if _SIGNATURE.fullmatch(rest[0]):
        below = TracedLines(rest[1:], not kind.is_new, not kind.is_to_us).first()
        signature = rest[1:] if below is None else rest[1 : 1 + below]
        if below is None and (kind.is_new or len(signature) <= _MOST_SIGNATURE):
            return MailWords(own)
        rest = rest[1:] if len(signature) > _MOST_SIGNATURE else rest[1 + len(signature) :]
    below_own = _written_below(rest, kind)
    if below_own is not None:
        return MailWords("\n".join(filter(None, (own, below_own))))
    return MailWords(own, _not_sent("\n".join(rest), kind))


def _without_trace(text: str, kind: MailKind) -> MailWords:
    """The words in a text in which nothing looks like a quotation: of a new mail, all are the writer's; of a reply to
    what we are known to have sent, those above that; else nobody can tell."""
    if kind.is_new:
        return MailWords(text.strip())
    if not kind.sent.digests:
        return MailWords("", text.strip())
    at = kind.sent.first_match(text)
    if at is None:
        return MailWords(text.strip())
    return MailWords(text[:at].strip(), _not_sent(text[at:], kind))


def _written_below(rest: Sequence[str], kind: MailKind) -> str | None:
    """The lines without marks below or between the marked lines, if these quote all that we sent and nothing else; then
    nobody else's words can be among them. None if that cannot be told."""
    marked, frames = TracedLines(rest, True).quoted()
    words = words_of("\n".join(rest[number] for number in marked))
    if not marked or not kind.sent.is_whole_in(words) or not all(kind.sent.matches(words)):
        return None
    around = {*marked, *frames}
    others = [line for number, line in enumerate(rest) if number not in around]
    below = TracedLines(others, True).first()
    return "\n".join(others[:below]).strip()


def _not_sent(text: str, kind: MailKind) -> str:
    """A quotation with somebody else's words in it; empty if all of it is what we sent, and the lines around that."""
    if not kind.sent.digests:
        return text.strip()
    lines = text.split("\n")
    frames = set(TracedLines(lines, True).quoted()[1])
    inner = "\n".join(line for number, line in enumerate(lines) if number not in frames)
    return text.strip() if kind.sent.rest(inner) else ""
