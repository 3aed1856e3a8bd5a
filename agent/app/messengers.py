"""Opens the channels to messengers, from the settings, and those that also take in what their person writes."""

from collections.abc import Callable, Mapping

from agent.attention.channels.http import Service
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
