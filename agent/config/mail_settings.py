"""The settings of e-mail. Part of `channel_settings.ChannelSettings`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Form, Range

ADDRESS = Form(r"|[^\s@<>,;:\"]+@[^\s@<>,;:\"]+", "an address such as anna@example.org")


@dataclass(frozen=True, slots=True)
class MailSettings:
    """E-mail: notices go out by SMTP, and replies to them come in by IMAP."""

    on: bool
    """Use the channel once it is configured. Default true."""

    host: str
    """The server that takes mail (SMTP), such as `smtp.example.org`. Default empty: the channel is off."""

    port: Annotated[int, Range(0, 65_535)]
    """Its port. Default 0: 465 with `security` `tls`, else 587."""

    sender: Annotated[str, ADDRESS]
    """The address that notices come from; `channels.mail.from` is the same. Default empty: the address of `to`."""

    to: Annotated[str, ADDRESS]
    """Your own address: notices go there, and only what it replies to them counts as yours. Default empty: the channel
    is off."""

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
    """Its port. Default 0: 993, with TLS; any other port of this machine is read without."""
