"""A mail as a message: whose it is, what its writer wrote, and which of our own mails it answers.

It is the owner's with one of two proofs: it names one of our mails with the token that only their owner has
(`mail_token`), or the owner's own mail server vouches for its sender (`mail_vouching`). Every other mail is a guest's.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256

from agent.attention.channels.channel import FileKind, Incoming, SentFile
from agent.attention.channels.mail_source import MailSource, parse_mail
from agent.attention.channels.mail_text import MailKind, has_reply_prefix, split_mail
from agent.attention.channels.mail_token import ReplyToken, message_id
from agent.attention.channels.mail_vouching import vouched_sender
from agent.attention.channels.sent_words import NOTHING_SENT, SentWords
from agent.config.channel_settings import MailSettings
from agent.dataclass import dataclass

_MOST_SUBJECT = 500
_DIGEST = 16


def nothing_known(id: str) -> SentWords:
    """No words: it is not known what was sent."""
    return NOTHING_SENT


@dataclass(frozen=True, slots=True)
class MailReader:
    """Reads the mails of one mailbox; `sent` returns the words of our mail with a Message-ID."""

    settings: MailSettings
    token: ReplyToken
    sent: Callable[[str], SentWords] = nothing_known

    @property
    def owner(self) -> str:
        """The person's address, which a sender is only with a proof."""
        return self.settings.to.lower()

    def read(self, data: bytes, at: datetime, place: str = "") -> Incoming | None:
        """The message; None for what a machine has sent, or nobody. Its text is empty if it has none; the owner's has
        its files, if its `place` in the mailbox is known.

        Its id is the Message-ID and a digest of what it says: the same however the mailbox is numbered, and however
        often the mail arrives. Raises `ValueError` and `RecursionError` for a mail that no parser should read.
        """
        mail = parse_mail(data)
        senders = _addresses(mail, "from")
        if len(senders) != 1 or _is_automatic(mail):
            return None
        answered = f"{mail.value('references')} {mail.value('in-reply-to')}".strip()
        proof = self.token.proved(answered)
        is_owner = senders[0] == self.owner and (bool(proof) or self._is_vouched(data, mail))
        subject = " ".join(mail.value("subject")[:_MOST_SUBJECT].split())
        is_prefixed = has_reply_prefix(subject)
        kind = MailKind(bool(answered), is_prefixed, bool(proof), self.sent(proof) if proof else NOTHING_SENT)
        found = split_mail(mail, kind)
        heading = subject if kind.is_new and not found.foreign else ""
        title = subject if found.foreign and not proof else ""  # that of the mail that is passed on
        readers = {*_addresses(mail, "to"), *_addresses(mail, "cc")} - {self._own_address, self.owner}
        return Incoming(
            _id(mail, data, senders[0], subject, found.own, found.foreign),
            senders[0] if is_owner else f"unproved:{senders[0]}",
            senders[0],
            found.own,
            at,
            group=bool(readers),
            answers=proof,
            foreign="\n\n".join(filter(None, (title, found.foreign))),
            subject=subject,
            heading=heading,
            begins=not proof,
            thread=message_id(answered or mail.value("message-id")),
            files=tuple(_files(mail, place, is_own=kind.is_new)) if is_owner and place else (),
        )

    @property
    def _own_address(self) -> str:
        return (self.settings.sender or self.settings.to).lower()

    def _is_vouched(self, data: bytes, mail: MailSource) -> bool:
        """True if the owner's server vouches for the owner, in a mail to us: one that somebody else has got and sends
        on is vouched for, too."""
        if self._own_address not in (*_addresses(mail, "to"), *_addresses(mail, "cc")):
            return False
        return vouched_sender(data, self.settings.verified_by) == self.owner


def _files(mail: MailSource, place: str, *, is_own: bool) -> Iterator[SentFile]:
    for each in mail.files:
        kind: FileKind = "picture" if each.is_picture else "file"
        yield SentFile(kind, each.name, f"{place}:{each.section}:{each.encoding}", is_own=is_own)


def _id(mail: MailSource, data: bytes, *parts: str) -> str:
    id = message_id(mail.value("message-id"))
    of = "\n".join(parts).encode("utf-8", "replace") if id else data
    return f"{id or '-'} {sha256(of).hexdigest()[:_DIGEST]}"


def _is_automatic(mail: MailSource) -> bool:
    """True for the answers of machines, such as that somebody is away: to answer them would never end."""
    kind = mail.value("auto-submitted").lower()
    bulk = mail.value("precedence").lower() in ("bulk", "junk", "list", "auto_reply")
    marks = ("x-autoreply", "x-auto-response-suppress", "list-id")
    return bulk or (bool(kind) and kind != "no") or any(mail.values(mark) for mark in marks)


def _addresses(mail: MailSource, name: str) -> list[str]:
    """The addresses of a header in small letters."""
    return [each for value in mail.values(name) for each in parse_addresses(value)]


_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\\.|[(),;<>:"]|[^\\(),;<>:"]+', re.DOTALL)
_ADDRESS = re.compile(r"[^\s<>@]{1,200}@[^\s<>@]{1,255}")


def parse_addresses(header: str) -> list[str]:
    """The addresses in small letters, in their order; a part between commas without one is left out."""
    return [found[0].lower() for each in _members(header) if (found := _ADDRESS.search(each))]


def _members(header: str) -> Iterator[str]:
    """Each part between commas: what stands in its angle brackets, else all of it but comments and quoted names."""
    words: list[str] = []
    angle: list[str] | None = None
    is_in_angle, depth = False, 0
    for piece in (found[0] for found in _PIECE.finditer(header)):
        if piece in "()" and (piece == "(" or depth):
            depth += 1 if piece == "(" else -1
        elif depth:
            continue
        elif piece in ",;" and not is_in_angle:
            yield "".join(words if angle is None else angle)
            words, angle = [], None
        elif piece == ":" and not is_in_angle:  # the name of a group
            words = []
        elif piece in "<>":
            is_in_angle = piece == "<"
            angle = [] if is_in_angle else angle
        elif is_in_angle and angle is not None:
            angle.append(piece)
        elif not piece.startswith('"') or angle is not None:
            words.append(piece)
    yield "".join(words if angle is None else angle)
