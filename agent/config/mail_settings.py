"""The settings of e-mail. Part of `channel_settings.ChannelSettings`."""

from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Form, Range
from agent.dataclass import dataclass

SERVER = Form(r"|[A-Za-z0-9][A-Za-z0-9._-]*", "the name of a server such as mx.example.org")
ADDRESS = Form(r"|[^\s@<>,;:\"]+@[^\s@<>,;:\"]+", "an address such as anna@example.org")


@dataclass(frozen=True, slots=True)
class MailSettings:
    """E-mail: notices go out by SMTP, and what you write comes in by IMAP."""

    on: bool
    """Use the channel once it is configured. Default true."""

    host: str
    """The server that takes mail (SMTP), such as `smtp.example.org`. Default empty: the channel is off."""

    port: Annotated[int, Range(0, 65_535)]
    """Its port. Default 0: 465 with `security` `tls`, else 587."""

    sender: Annotated[str, ADDRESS]
    """The address that notices come from; `channels.mail.from` is the same. Default empty: the address of `to`."""

    to: Annotated[str, ADDRESS]
    """Your own address: notices go there, and only what is proved to come from it counts as yours. Default empty: the
    channel is off."""

    security: Literal["auto", "tls", "starttls", "none"]
    """`tls` encrypts from the first byte, `starttls` after the first words, `none` not at all: the password and the
    notices can be read on the way. Default `auto`: `tls` at port 465, `none` for a server on this machine, else
    `starttls`."""

    user: str
    """The name to log in with. Default empty: no login."""

    password: Secret
    """The password, by reference; many services want one that is made for a single program. Default empty: none."""

    imap_host: str
    """The server that mail is read from (IMAP). Default empty: none is read."""

    imap_port: Annotated[int, Range(0, 65_535)]
    """Its port. Default 0: 143 with `imap_security` `starttls`, else 993."""

    imap_security: Literal["auto", "tls", "starttls", "none"]
    """As `security`, for reading. Default `auto`: `starttls` at port 143, `none` for a server on this machine at
    another port than 993, else `tls`."""

    verified_by: Annotated[str, SERVER]
    """The name of the mail server that checks who sent what you get, as the first word of the topmost line
    `Authentication-Results` in a mail that you have got there, such as `mx.example.org`. What it vouches for counts as
    yours, so that a new mail begins a conversation. Default empty: only replies to mails of the agent count."""
