"""Keys that work in every window of a session of X: they are grabbed, and call a function.

Wayland lets no program do this, and macOS has its own settings for it.
"""

import select
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from threading import Thread
from typing import Any

from agent.dataclass import dataclass
from agent.interfaces.node.session import session_kind

_LOOK = 0.3
_MODIFIERS = {"shift": 1, "ctrl": 4, "control": 4, "alt": 8, "super": 64}
_LOCKS = (0, 2, 16, 18)
"""Caps Lock and Num Lock, in every state: the keys work with each of them."""
CLICKS = 0x28004
"""The events of X that an icon needs: that it is to be drawn, that its window changes, and that it is clicked."""


@dataclass(slots=True)
class Hotkey:
    """The keys, such as `ctrl+alt+space`, and what they do. `works` is True while they are grabbed."""

    keys: str
    act: Callable[[], object]
    works: bool = False
    _ended: bool = field(default=False, init=False)

    def start(self) -> None:
        """Grab the keys, if there are any and this session lets a program do it."""
        if not self.keys or session_kind() != "x":
            return
        from Xlib import XK, display, error  # type: ignore[import-untyped]

        screen = display.Display()
        *held, last = self.keys.lower().split("+")
        code = screen.keysym_to_keycode(XK.string_to_keysym(last) or XK.string_to_keysym(last.capitalize()))
        if not code or any(each not in _MODIFIERS for each in held):
            screen.close()
            return
        taken = error.CatchError(error.BadAccess)
        mask = sum(_MODIFIERS[each] for each in dict.fromkeys(held))
        for lock in _LOCKS:
            screen.screen().root.grab_key(code, mask | lock, True, 1, 1, onerror=taken)
        screen.sync()
        self.works = taken.get_error() is None
        Thread(target=self._listen, args=(screen,), name="vault-agent-hotkey", daemon=True).start()

    def stop(self) -> None:
        """Let the keys go."""
        self._ended = True

    def _listen(self, screen: Any) -> None:
        from Xlib import X, error

        with suppress(error.ConnectionClosedError):  # the session of X has ended
            while not self._ended:
                if not screen.pending_events():
                    select.select([screen], [], [], _LOOK)
                elif screen.next_event().type == X.KeyPress:
                    self.act()
            screen.close()
