"""The settings of channels to messengers. Part of `channel_settings.ChannelSettings`."""

from agent.config.secrets import Secret
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
