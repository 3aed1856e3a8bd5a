"""Requests of a signed-in browser: one that lasts, such as a stream of events, ends when the browser is signed out."""

import asyncio
from collections.abc import Callable
from dataclasses import field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.dataclass import dataclass

LOOK_SECONDS = 2.0
"""Seconds after which a request that lasts is looked after."""


@dataclass(slots=True)
class SignedIn:
    """An ASGI application for one request of a browser, as long as it `is_known`."""

    app: ASGIApp
    is_known: Callable[[], bool]
    _begun: bool = field(default=False, init=False)
    _complete: bool = field(default=False, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ended = False

        async def sent(message: Message) -> None:
            self._begun = True
            self._complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async def received() -> Message:
            """What comes; after the sign-out, that the reader has left."""
            nonlocal ended
            coming = asyncio.ensure_future(receive())
            try:
                while not (await asyncio.wait([coming], timeout=LOOK_SECONDS))[0]:
                    if not self.is_known():
                        ended = True
                        return {"type": "http.disconnect"}
                return await coming
            finally:
                coming.cancel()

        await self.app(scope, received, sent)
        if ended and self._begun and not self._complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
