"""The channels of this machine: which there are, what each needs, and those that are configured and switched on."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial, reduce

from agent.app.channel_openers import (
    check_mail_in,
    find_owner,
    open_apprise,
    open_daily,
    open_desktop,
    open_desktop_in,
    open_hook,
    open_lark,
    open_lark_in,
    open_mail,
    open_mail_in,
    open_ntfy,
    open_telegram,
    open_terminal,
    open_webhook,
)
from agent.attention.channels.channel import Channel, Inbound, Message
from agent.attention.channels.hooks import DISCORD, MATTERMOST, SLACK, WECOM
from agent.attention.channels.lark_connection import is_installed
from agent.config.secrets import Secret
from agent.config.settings import RENAMED, Settings
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.llm.messages import Cancelled
from agent.texts import Sentence, joined
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def no_advice(settings: Settings) -> None:
    """Nothing is to be set besides."""


@dataclass(frozen=True, slots=True)
class ChannelKind:
    """A channel that there can be. `needs` are the settings without which it is not configured, `may` those that it has
    besides; their names follow `channels.NAME.`. `asks` are the questions for those that a person is asked for."""

    name: str
    says: Sentence
    open: Callable[[Workspace], Channel]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    asks: Mapping[str, Sentence] = field(default_factory=dict)
    receive: Callable[[Workspace], Inbound | None] | None = None
    """Opens the way in; None where there is none, or where it is not configured."""

    extra: str = ""
    """The extra of this program without which nothing comes in here; empty if nothing is missing."""

    check: Callable[[Workspace], object] | None = None
    """Looks whether the way in works, without taking anything in; raises what `receive` raises."""

    advice: Callable[[Settings], Sentence | None] = no_advice
    """What could be set besides, once it is configured."""

    finds_owner: bool = False
    """The value of `owner` is the id of the account that writes a code there."""

    def key(self, field_name: str) -> str:
        """The setting of a field; `from` is a field of mail, too."""
        key = f"channels.{self.name}.{field_name}"
        return RENAMED.get(key, key)

    def missing(self, settings: Settings) -> tuple[str, ...]:
        """The settings that it needs and that have no value."""
        return tuple(key for key in map(self.key, self.needs) if not is_set(settings, key))

    def find_owner(self, workspace: Workspace, code: str, cancelled: Cancelled) -> str:
        """The id of the account that writes a code there; empty if nobody does before `cancelled`. Raises as a channel
        that receives does."""
        return find_owner(self.receive, workspace, code, cancelled) if self.receive is not None else ""

    def is_on(self, settings: Settings) -> bool:
        """True unless its switch is off; the daily note has none."""
        return bool(getattr(getattr(settings.channels, self.name, None), "on", True))

    def is_used(self, settings: Settings) -> bool:
        """True if it is configured and switched on."""
        return self.is_on(settings) and not self.missing(settings)


@dataclass(frozen=True, slots=True)
class Unopened:
    """A channel that is configured and cannot be used: each try says why."""

    name: str
    why: AgentError

    def send(self, message: Message, cancelled: Cancelled) -> str:
        raise self.why


def open_channels(workspace: Workspace) -> Mapping[str, Channel]:
    """The channels that are configured and switched on, by name, in the order of `KINDS`; the last is the daily note.

    One that cannot be used, as its key is missing, is there all the same and says so when it is asked to send.
    """
    return {kind.name: open_channel(kind, workspace) for kind in KINDS if kind.is_used(workspace.settings)}


def open_inbounds(workspace: Workspace) -> Mapping[str, Inbound]:
    """The channels through which the person can write back, by name. One that cannot be opened is left out, with a
    word in the log: it could not be opened for sending either, which says why."""
    found: dict[str, Inbound] = {}
    for kind in KINDS:
        if kind.receive is None or not kind.is_used(workspace.settings):
            continue
        try:
            inbound = kind.receive(workspace)
        except AgentError as error:
            logger.warning("%s cannot be read: %s", kind.name, error.message)
            continue
        if inbound is not None:
            found[kind.name] = inbound
    return found


def channel_kind(name: str) -> ChannelKind:
    """The channel of this name; raises `UserError`."""
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is None:
        names = joined((kind.name for kind in KINDS), ", ")
        raise UserError("there is no channel {name}", hint=Sentence("there are: {names}", names=names), name=name)
    return found


def not_set_up(name: str, settings: Settings) -> Sentence | None:
    """What is said of a channel that there is, and that nothing can be sent by yet; None for any other."""
    kind = next((each for each in KINDS if each.name == name.partition(":")[0]), None)
    if kind is None or kind.is_used(settings):
        return None
    return Sentence(
        "{channel} is not set up, so the answer goes to the note of the day: vault-agent channels add {channel}",
        channel=kind.name,
    )


def open_channel(kind: ChannelKind, workspace: Workspace) -> Channel:
    """The channel; raises nothing."""
    try:
        return kind.open(workspace)
    except AgentError as error:
        return Unopened(kind.name, error)


def is_set(settings: Settings, key: str) -> bool:
    """True if a setting of a channel has a value."""
    value: object = reduce(getattr, key.split("."), settings)
    return bool(value.reference if isinstance(value, Secret) else value)


def _advice_for_mail(settings: Settings) -> Sentence | None:
    mail = settings.channels.mail
    if not mail.imap_host:
        return Sentence(
            "It only sends: {key} names the server that your mail is read from", key="channels.mail.imap_host"
        )
    if not mail.verified_by:
        return Sentence(
            "Only replies count as yours. For new mails {key} names your mail server: the first word of the topmost "
            "line {line} in a mail that you have got there",
            key="channels.mail.verified_by",
            line="Authentication-Results",
        )
    return None


_HOOK = Sentence("The address of the webhook")
KINDS: tuple[ChannelKind, ...] = (
    ChannelKind(
        "telegram",
        Sentence("a bot of Telegram"),
        open_telegram,
        ("token", "owner"),
        ("base_url",),
        {"token": Sentence("The token that @BotFather gave for your bot")},
        receive=open_telegram,
        finds_owner=True,
    ),
    ChannelKind(
        "lark",
        Sentence("a bot of Lark (Feishu)"),
        open_lark,
        ("app_id", "app_secret", "owner"),
        ("base_url",),
        {
            "app_id": Sentence("The id of your app (cli_…)"),
            "app_secret": Sentence("The secret of your app"),
            **({} if is_installed() else {"owner": Sentence("Your own open_id in the app (ou_…)")}),
        },
        receive=open_lark_in,
        extra="" if is_installed() else "lark",
        finds_owner=is_installed(),
    ),
    ChannelKind(
        "mail",
        Sentence("e-mail to your own address"),
        open_mail,
        ("host", "to"),
        ("port", "sender", "security", "user", "password", "imap_host", "imap_port", "imap_security", "verified_by"),
        asks={
            "host": Sentence("The server that takes your mail, such as smtp.example.org"),
            "to": Sentence("Your own address"),
            "user": Sentence("The name to log in with there; empty for none"),
            "password": Sentence("The password; best one that is made for a single program"),
            "imap_host": Sentence("The server that your mail is read from (IMAP); empty for none"),
        },
        receive=open_mail_in,
        check=check_mail_in,
        advice=_advice_for_mail,
    ),
    ChannelKind(
        "webhook",
        Sentence("signed JSON to an address of your own"),
        open_webhook,
        ("url",),
        ("secret",),
        {
            "url": Sentence("The address that notices are posted to"),
            "secret": Sentence("The key of the signature; empty for none"),
        },
    ),
    ChannelKind(
        "ntfy",
        Sentence("notices of ntfy on a phone"),
        open_ntfy,
        ("topic",),
        ("base_url", "token"),
        {"topic": Sentence("The topic"), "token": Sentence("The access token; empty for none")},
    ),
    *(
        ChannelKind(form.name, says, partial(open_hook, form=form), ("url",), (), {"url": _HOOK})
        for form, says in (
            (SLACK, Sentence("a webhook of Slack")),
            (MATTERMOST, Sentence("a webhook of Mattermost")),
            (DISCORD, Sentence("a webhook of Discord")),
            (WECOM, Sentence("a robot in a group of WeCom, which can only send")),
        )
    ),
    ChannelKind(
        "apprise",
        Sentence("any service that the library Apprise knows"),
        open_apprise,
        ("url",),
        (),
        {"url": Sentence("The address as Apprise has it, such as {example}", example="tgram://token/chat")},
    ),
    ChannelKind("desktop", Sentence("notices of this machine's desktop"), open_desktop, receive=open_desktop_in),
    ChannelKind("terminal", Sentence("lines on the daemon's terminal"), open_terminal),
    ChannelKind("daily", Sentence("a block in the daily note"), open_daily),
)
"""All channels, the most personal first; the daily note is always there, and last."""
