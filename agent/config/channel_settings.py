"""The settings of the channels that reach the person outside the vault. Part of `settings.Settings`.

None of them may stand in a vault's own file: they name hosts and keys. A channel is on once it is configured and its
switch is not off.
"""

from agent.config.mail_settings import MailSettings
from agent.config.messenger_settings import HookSettings, LarkSettings, NtfySettings, TelegramSettings
from agent.config.secrets import Secret
from agent.dataclass import dataclass


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
