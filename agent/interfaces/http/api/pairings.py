"""A pairing code that is asked for on the socket: told at once, then what became of it."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from agent.errors import UserError
from agent.interfaces.http.door.pairing import SECONDS, State
from agent.interfaces.http.operation import Routes, StreamEvent, stream_event
from agent.interfaces.http.service import Service

ROUTES = Routes("/api/v1")
_LOOK_SECONDS = 0.5


class PairingCode(msgspec.Struct, frozen=True):
    """A code, for how many seconds it counts, and the addresses at which an app may show it."""

    code: str
    seconds: int
    urls: tuple[str, ...]


class PairingEnd(msgspec.Struct, frozen=True):
    """What became of a code: `paired`, or `over` without that."""

    state: State


@ROUTES.post("/pairings", "Make a pairing code, and tell what became of it")
async def pairing(service: Service) -> AsyncIterator[StreamEvent]:
    """Make a pairing code; the stream ends when it was used or counts no more."""
    urls = service.urls()
    if not urls:
        raise UserError(
            "no port is open by which an app could reach the daemon",
            hint="vault-agent serve opens one, as long as it runs; then pair from another terminal",
        )
    codes = service.sign_in.pairing
    code = codes.make()
    yield stream_event("code", PairingCode(code, SECONDS, urls))
    while (state := codes.state_of(code)) == "waits":
        await asyncio.sleep(_LOOK_SECONDS)
    yield stream_event("end", PairingEnd(state))
