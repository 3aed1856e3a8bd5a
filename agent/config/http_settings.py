"""The settings of the HTTP server. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The API and the dashboard, on this machine only unless `serve --listen` says otherwise."""

    port: Annotated[int, Range(0, 65_535)]
    """The port of `serve` and `daemon --http`; 0 takes any that is free. Default 19821, beside the node host's."""

    on: bool
    """Open the port whenever the daemon runs, as `daemon --http` does. Default false: only the daemon's own socket,
    through which the command line talks to it."""

    per_second: Annotated[float, Range(1, 100_000)]
    """Requests a second from all clients together; more are told to wait. Default 500."""

    largest_megabytes: Annotated[float, Range(0.1, 100)]
    """The largest body of a request. Default 4: a note of a million words."""
