"""Opens the channels to messengers, from the settings, and those that also take in what their person writes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from agent.attention.channels.apprise import Apprise
from agent.attention.channels.channel import Channel
from agent.attention.channels.hooks import DISCORD, MATTERMOST, SLACK, WECOM, Hook, HookForm
from agent.attention.channels.http import Service
from agent.attention.channels.lark import Lark
from agent.attention.channels.ntfy import Ntfy
from agent.attention.channels.telegram import Telegram
from agent.background.incoming.messages import Messenger
from agent.clock import in_machine_seconds
from agent.config.channel_settings import ChannelSettings
from agent.config.secrets import Secret, reveal
from agent.workspace.workspace import Workspace, reload_settings


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
    return Lark(settings.base_url, settings.app_id, secret, settings.owner, service, language)


def open_ntfy(workspace: Workspace) -> Ntfy:
    """The topic of ntfy; raises `MissingKey`."""
    settings = workspace.settings.channels.ntfy
    service, token = _service(workspace, "ntfy", "base_url", "token", settings.token)
    topic = reveal(settings.topic) if settings.topic.reference else ""
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
    return Apprise(reveal(secret) if secret.reference else "", workspace.settings.vault.language)


MESSENGERS: Mapping[str, tuple[Callable[[Workspace], Channel], tuple[str, ...]]] = {
    "telegram": (open_telegram, ("token", "owner")),
    "lark": (open_lark, ("app_id", "app_secret", "owner")),
    "ntfy": (open_ntfy, ("topic",)),
    "slack": (partial(open_hook, form=SLACK), ("url",)),
    "mattermost": (partial(open_hook, form=MATTERMOST), ("url",)),
    "discord": (partial(open_hook, form=DISCORD), ("url",)),
    "wecom": (partial(open_hook, form=WECOM), ("url",)),
    "apprise": (open_apprise, ("url",)),
}
"""How each is opened, and the settings without which it is off; `open_telegram` and the others raise `MissingKey`."""
_HOOKS: Mapping[HookForm, Callable[[ChannelSettings], Secret]] = {
    SLACK: lambda channels: channels.slack.url,
    MATTERMOST: lambda channels: channels.mattermost.url,
    DISCORD: lambda channels: channels.discord.url,
    WECOM: lambda channels: channels.wecom.url,
}


def open_messengers(workspace: Workspace) -> dict[str, Messenger]:
    """The messengers that are configured and switched on, and know their owner, by name; raises `MissingKey`."""
    found: dict[str, Messenger] = {}
    telegram = workspace.settings.channels.telegram
    if telegram.on and telegram.token.reference and telegram.owner:
        found["telegram"] = Messenger(open_telegram(workspace), open_telegram(workspace))
    return found


def changed_messengers(workspace: Workspace) -> Callable[[], Mapping[str, Messenger] | None]:
    """A function that opens them anew when their settings have changed, and at its first call; else None.

    It raises what `reload_settings` and `open_messengers` do.
    """
    last: ChannelSettings | None = None

    def look() -> Mapping[str, Messenger] | None:
        nonlocal last
        fresh = reload_settings(workspace)
        if fresh.settings.channels == last:
            return None
        found = open_messengers(fresh)
        last = fresh.settings.channels
        return found

    return look


def _service(workspace: Workspace, name: str, address: str, key: str, secret: Secret) -> tuple[Service, str]:
    """The service of a channel with the settings to check, and the value of its secret."""
    value = reveal(secret) if secret.reference else ""
    place = f"channels.{name}"
    clock = in_machine_seconds(workspace.clock)
    return Service(f"{place}.{address}", f"{place}.{key}", clock, (value,) if value else ()), value
