"""Opens the channels through which the person writes back, and opens them anew when their settings have changed."""

from collections.abc import Callable, Mapping

from agent.app.channels import open_channels, open_inbounds
from agent.background.incoming.messages import TwoWayChannel
from agent.config.channel_settings import ChannelSettings
from agent.workspace.workspace import Workspace, reload_settings


def changed_channels(workspace: Workspace) -> Callable[[], Mapping[str, TwoWayChannel] | None]:
    """A function that opens them when their settings have changed, and at its first call; else it returns None.

    It raises what `reload_settings` does.
    """
    last: ChannelSettings | None = None

    def look() -> Mapping[str, TwoWayChannel] | None:
        nonlocal last
        fresh = reload_settings(workspace)
        if fresh.settings.channels == last:
            return None
        last = fresh.settings.channels
        channels = open_channels(fresh)
        return {name: TwoWayChannel(inbound, channels[name]) for name, inbound in open_inbounds(fresh).items()}

    return look
