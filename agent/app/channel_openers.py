"""Opens each channel from the settings of a workspace."""

from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from urllib.parse import urlsplit

from agent.attention.channels.apprise import Apprise
from agent.attention.channels.channel import Inbound
from agent.attention.channels.daily_note import DailyNote
from agent.attention.channels.desktop import Desktop
from agent.attention.channels.desktop_in import DesktopIn
from agent.attention.channels.hooks import DISCORD, MATTERMOST, SLACK, WECOM, Hook, HookForm
from agent.attention.channels.http import ChannelService
from agent.attention.channels.lark import Lark
from agent.attention.channels.lark_connection import is_installed
from agent.attention.channels.lark_in import LarkIn
from agent.attention.channels.mail import Mail
from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import load_token
from agent.attention.channels.ntfy import Ntfy
from agent.attention.channels.sent_words import SentMails
from agent.attention.channels.telegram import Telegram
from agent.attention.channels.terminal import Terminal, own_terminal
from agent.attention.channels.webhook import Webhook
from agent.clock import in_machine_seconds
from agent.config.channel_settings import ChannelSettings
from agent.config.secrets import Secret, reveal
from agent.errors import Interrupted
from agent.llm.messages import Cancelled, never
from agent.memory import daily
from agent.platform.here import platform
from agent.workspace.workspace import Workspace


def open_telegram(workspace: Workspace) -> Telegram:
    """The bot of Telegram; raises `MissingKey`."""
    settings = workspace.settings.channels.telegram
    service, token = _service(workspace, "telegram", "base_url", "token", settings.token)
    return Telegram(settings.base_url, token, settings.owner, service, workspace.settings.vault.language)


def open_lark(workspace: Workspace) -> Lark:
    """The bot of Lark; raises `MissingKey`."""
    settings = workspace.settings.channels.lark
    service, secret = _service(workspace, "lark", "base_url", "app_secret", settings.app_secret)
    language = workspace.settings.vault.language
    buttons = is_installed()
    return Lark(settings.base_url, settings.app_id, secret, settings.owner, service, language, buttons)


def open_lark_in(workspace: Workspace) -> Inbound | None:
    """The long connection of the bot of Lark; None without the library for it. Raises `MissingKey`."""
    return LarkIn(open_lark(workspace), in_machine_seconds(workspace.clock)) if is_installed() else None


def open_ntfy(workspace: Workspace) -> Ntfy:
    """The topic of ntfy; raises `MissingKey`."""
    settings = workspace.settings.channels.ntfy
    service, token = _service(workspace, "ntfy", "base_url", "token", settings.token)
    topic = _revealed(settings.topic)
    service = replace(service, secrets=(*service.secrets, *filter(None, [topic])))
    return Ntfy(settings.base_url, topic, token, service, workspace.settings.vault.language)


def open_hook(workspace: Workspace, form: HookForm) -> Hook:
    """An incoming webhook; raises `MissingKey`. Its address is a secret as a whole."""
    secret = _HOOKS[form](workspace.settings.channels)
    service, url = _service(workspace, form.name, "url", "url", secret)
    path = urlsplit(url).path.strip("/")
    service = replace(service, secrets=(*service.secrets, *filter(None, [path])))
    return Hook(url, form, service, workspace.settings.vault.language)


def open_apprise(workspace: Workspace) -> Apprise:
    """The address of the library Apprise; raises `MissingKey`."""
    secret = workspace.settings.channels.apprise.url
    return Apprise(_revealed(secret), workspace.settings.vault.language)


def open_webhook(workspace: Workspace) -> Webhook:
    """The webhook of the person's own; raises `MissingKey`."""
    settings = workspace.settings.channels.webhook
    service, secret = _service(workspace, "webhook", "url", "secret", settings.secret)
    return Webhook(settings.url, secret, service, workspace.settings.vault.language)


def open_mail(workspace: Workspace) -> Mail:
    """E-mail to the person; raises `MissingKey`."""
    settings, language = workspace.settings.channels.mail, workspace.settings.vault.language
    token, note_sent = load_token(workspace.vault.private_folder), _sent_mails(workspace).note
    now = workspace.clock.now
    return Mail(settings, _revealed(settings.password), token, now, language, note_sent=note_sent)


def open_mail_in(workspace: Workspace) -> Inbound | None:
    """The mailbox with the person's replies; None if no server for it is set. Raises `MissingKey`."""
    settings = workspace.settings.channels.mail
    if not settings.imap_host:
        return None
    token, clock = load_token(workspace.vault.private_folder), in_machine_seconds(workspace.clock)
    return MailIn(settings, _revealed(settings.password), token, clock, sent=_sent_mails(workspace).of)


def _sent_mails(workspace: Workspace) -> SentMails:
    """What was sent by mail from this vault."""
    folder = workspace.vault.private_folder
    return SentMails(folder / "mail-sent", load_token(folder).key)


def check_mail_in(workspace: Workspace) -> bool:
    """Open the mailbox and leave it as it is; False if none is set. Raises what reading it raises."""
    mailbox = open_mail_in(workspace)
    if mailbox is None:
        return False
    mailbox.receive("", never)
    return True


def open_desktop(workspace: Workspace) -> Desktop:
    """Notices of this machine's desktop."""
    return Desktop(workspace.settings.vault.language)


def open_desktop_in(workspace: Workspace) -> Inbound | None:
    """The buttons of notices on the desktop; None on macOS, whose notices have none."""
    return DesktopIn(in_machine_seconds(workspace.clock)) if platform().has_desktop_bus else None


def open_terminal(workspace: Workspace) -> Terminal:
    """The terminal of this process."""
    return Terminal(own_terminal(), workspace.clock.now, workspace.settings.vault.language)


def open_daily(workspace: Workspace) -> DailyNote:
    """The daily note."""
    return DailyNote(workspace.vault, workspace.clock.now, daily, workspace.settings.vault.language)


_HOOKS: Mapping[HookForm, Callable[[ChannelSettings], Secret]] = {
    SLACK: lambda channels: channels.slack.url,
    MATTERMOST: lambda channels: channels.mattermost.url,
    DISCORD: lambda channels: channels.discord.url,
    WECOM: lambda channels: channels.wecom.url,
}


def find_owner(
    receive: Callable[[Workspace], Inbound | None], workspace: Workspace, code: str, cancelled: Cancelled
) -> str:
    """The id of the account that writes this code there; empty if nobody does before `cancelled`, or nothing can come
    in. What else is written there meanwhile is not kept."""
    inbound = receive(workspace)
    if inbound is None:
        return ""
    with closing(inbound), suppress(Interrupted):
        position = ""
        while not cancelled():
            received = inbound.receive(position, cancelled)
            position = received.position
            received.confirm()
            for each in received.messages:
                if code in each.text and not each.group and not each.foreign:
                    return each.sender
    return ""


def _service(workspace: Workspace, name: str, address: str, key: str, secret: Secret) -> tuple[ChannelService, str]:
    """The service of a channel with the settings to check, and the value of its secret."""
    value = _revealed(secret)
    place = f"channels.{name}"
    clock = in_machine_seconds(workspace.clock)
    return ChannelService(f"{place}.{address}", f"{place}.{key}", clock, (value,) if value else ()), value


def _revealed(secret: Secret) -> str:
    """The value of a secret, empty if none is set; raises `MissingKey` for a reference without one."""
    return reveal(secret) if secret.reference else ""
