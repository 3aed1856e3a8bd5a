"""A mail as a message: whose it is, what its writer wrote, and which of our own mails it answers.

It is the owner's with one of two proofs: it names one of our mails with the token that only their owner has
(`mail_token`), or the owner's own mail server vouches for its sender (`mail_vouching`). Every other mail is a guest's.
"""

import re
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from hashlib import sha256

from agent.attention.channels.channel import Incoming
from agent.attention.channels.mail_text import whole_text, written_text
from agent.attention.channels.mail_token import ReplyToken, message_id
from agent.attention.channels.mail_vouching import vouched_sender
from agent.config.mail_settings import MailSettings
from agent.dataclass import dataclass

_FORWARD = re.compile(r"\s*(?:fwd?|wg|tr|rv|转发|轉寄)\s*[:：]", re.IGNORECASE)
"""What mail programs put before the subject of a mail that is passed on."""
_MOST_SUBJECT = 500
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class MailReader:
    """Reads the mails of one mailbox."""

    settings: MailSettings
    token: ReplyToken

    @property
    def owner(self) -> str:
        """The person's address, which a sender is only with a proof."""
        return self.settings.to.lower()

    def read(self, data: bytes, at: datetime) -> Incoming | None:
        """The message; None for what a machine has sent, or nobody. Its text is empty if it has none.

        Its id is the Message-ID and a digest of what it says: the same however the mailbox is numbered, and however
        often the mail arrives.
        """
        mail = message_from_bytes(data, policy=default)
        assert isinstance(mail, EmailMessage)
        senders = _addresses(mail, "From")
        if len(senders) != 1 or _is_automatic(mail):
            return None
        answered = f"{_header(mail, 'References')} {_header(mail, 'In-Reply-To')}".strip()
        proof = self.token.proved(answered)
        is_owner = senders[0] == self.owner and (bool(proof) or self._is_vouched(data, mail))
        forwarded = not proof and _FORWARD.match(_header(mail, "Subject")) is not None
        text = whole_text(mail) if forwarded else written_text(mail)
        subject = "" if answered and not proof and not forwarded else _header(mail, "Subject")[:_MOST_SUBJECT]
        readers = {*_addresses(mail, "To"), *_addresses(mail, "Cc")} - {self._own_address, self.owner}
        return Incoming(
            _id(mail, data, senders[0], subject, text),
            senders[0] if is_owner else f"unproved:{senders[0]}",
            senders[0],
            text,
            at,
            group=bool(readers),
            answers=proof,
            forwarded=forwarded,
            subject=" ".join(subject.split()),
            begins=not proof,
        )

    @property
    def _own_address(self) -> str:
        return (self.settings.sender or self.settings.to).lower()

    def _is_vouched(self, data: bytes, mail: EmailMessage) -> bool:
        """True if the owner's server vouches for the owner, in a mail to us: one that somebody else has got and sends
        on is vouched for, too."""
        if self._own_address not in (*_addresses(mail, "To"), *_addresses(mail, "Cc")):
            return False
        return vouched_sender(data, self.settings.verified_by) == self.owner


def _id(mail: EmailMessage, data: bytes, *said: str) -> str:
    id = message_id(_header(mail, "Message-ID"))
    of = "\n".join(said).encode("utf-8", "replace") if id else data
    return f"{id or '-'} {sha256(of).hexdigest()[:_DIGEST]}"


def _is_automatic(mail: EmailMessage) -> bool:
    """True for the answers of machines, such as that somebody is away: to answer them would never end."""
    kind = _header(mail, "Auto-Submitted").lower()
    bulk = _header(mail, "Precedence").lower() in ("bulk", "junk", "list", "auto_reply")
    marks = ("X-Autoreply", "X-Auto-Response-Suppress", "List-Id")
    return bulk or (bool(kind) and kind != "no") or any(mark in mail for mark in marks)


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return str(mail.get(name, "")).strip()
    except (ValueError, IndexError, AttributeError, LookupError):  # the standard library stumbles over some headers
        return ""


def _addresses(mail: EmailMessage, name: str) -> list[str]:
    """The addresses of a header in small letters."""
    try:
        return [each.addr_spec.lower() for header in mail.get_all(name, ()) for each in header.addresses]
    except (ValueError, IndexError, AttributeError, LookupError):
        return []
