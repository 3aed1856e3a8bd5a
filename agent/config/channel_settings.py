"""The settings of the channels that reach the person outside the vault. Part of `settings.Settings`.

None of them may stand in a vault's own file: they name hosts and keys. A channel is on once it is configured and its
switch is not off.
"""

from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Form, Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TelegramSettings:
    """A bot of Telegram."""

    on: bool
    """Use the channel once it is configured. Default true."""

    base_url: str
    """The server of the bots' interface. Default `https://api.telegram.org`."""

    token: Secret
    """The token of the bot, by reference. Default empty: the channel is off."""

    owner: str
    """The number of your own account there: what it writes counts as yours, everybody else is a guest. Default empty:
    nobody's words count as yours, and no notice is sent."""


@dataclass(frozen=True, slots=True)
class HookSettings:
    """An incoming webhook of a messenger: an address that takes messages for one place there."""

    on: bool
    """Use the channel once it is configured. Default true."""

    url: Secret
    """The address of the webhook, by reference: whoever knows it can write there. Default empty: the channel is off."""


@dataclass(frozen=True, slots=True)
class NtfySettings:
    """A topic of ntfy, for notices on a phone."""

    on: bool
    """Use the channel once it is configured. Default true."""

    base_url: str
    """The server. Default `https://ntfy.sh`."""

    topic: Secret
    """The topic, by reference: on a public server whoever knows it can read it. Default empty: the channel is off."""

    token: Secret
    """The access token, by reference. Default empty: the topic needs none."""


@dataclass(frozen=True, slots=True)
class LarkSettings:
    """An app of Lark (Feishu) with a bot."""

    on: bool
    """Use the channel once it is configured. Default true."""

    base_url: str
    """The server. Default `https://open.feishu.cn`; outside of China it is `https://open.larksuite.com`."""

    app_id: str
    """The id of the app. Default empty: the channel is off."""

    app_secret: Secret
    """The secret of the app, by reference. Default empty: the channel is off."""

    owner: str
    """Your own `open_id` in this app (`ou_…`): what it writes counts as yours, everybody else is a guest. Default
    empty: nobody's words count as yours, and no notice is sent."""


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


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Notices posted to an address of one's own, signed."""

    on: bool
    """Use the channel once it is configured. Default true."""

    url: str
    """The address that each notice is posted to as JSON. Default empty: none."""

    secret: Secret
    """The key of the signature, by reference. Default empty: requests are not signed."""


@dataclass(frozen=True, slots=True)
class SwitchSettings:
    """A channel of this machine, which needs nothing but to be wanted."""

    on: bool
    """Use the channel. Default false."""


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """All channels, by name."""

    order: str
    """The channels that notices go to, the first one that is configured, such as `telegram mail`. Default empty: the
    first configured one in the order below, and without any the daily note. One on this machine only, such as
    `desktop`, counts if it is named here."""

    webhook: WebhookSettings
    """Default: off."""

    mail: MailSettings
    """Default: off."""

    desktop: SwitchSettings
    """Notices of the desktop; on Linux they need `pip install vault-agent[desktop]`. Default: off."""

    terminal: SwitchSettings
    """Lines on the terminal in which the daemon was started. Default: off."""

    telegram: TelegramSettings
    """Default: off."""

    lark: LarkSettings
    """What you write there needs `pip install vault-agent[lark]`. Default: off."""

    ntfy: NtfySettings
    """Default: off."""

    slack: HookSettings
    """An incoming webhook of Slack. Default: off."""

    mattermost: HookSettings
    """An incoming webhook of Mattermost. Default: off."""

    discord: HookSettings
    """A webhook of Discord. Default: off."""

    wecom: HookSettings
    """The webhook of a robot in a group of WeCom. Default: off."""

    apprise: HookSettings
    """An address of the library Apprise, for services that have no channel of their own here; it needs `pip install
    vault-agent[apprise]`. Default: off."""
