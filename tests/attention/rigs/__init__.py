"""A rig for each channel: the channel, and a local server that speaks the service's real protocol."""

from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from tests.attention.rigs.rig import OpenRig


def rig_of(channel: str) -> OpenRig:
    """What opens the rig of a channel: `CHANNEL_rig` in a module here; raises `LookupError` where there is none."""
    for module in iter_modules(__path__):
        found = getattr(import_module(f"{__name__}.{module.name}"), f"{channel}_rig", None)
        if found is not None:
            return cast(OpenRig, found)
    raise LookupError(f"the channel {channel} has no rig: write {channel}_rig in {__name__}")
