"""The settings of channels to messengers. Part of `channel_settings.ChannelSettings`."""

from dataclasses import dataclass

from agent.config.secrets import Secret


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
