"""The icon of the node host beside the clock: draws the companion's menu, and is green while the host answers.

The menu in a window of its own, for desktops whose icons have none.

Only the thread that runs it may draw; the icon's thread asks for the menu with `show`.

Keys that work in every window of a session of X: they are grabbed, and call a function.

Wayland lets no program do this, and macOS has its own settings for it.
"""

import logging
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from agent.clock import SystemClock
from agent.config.directories import Directories
from agent.config.program_parts import command_to_add
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.node.companion import Companion, MenuRow
from agent.interfaces.node.session import session_kind
from agent.texts import Language, text

if TYPE_CHECKING:
    import tkinter

    from PIL.Image import Image

_LOOK_MILLISECONDS = 100


@dataclass(slots=True)
class Popup:
    """A menu at the pointer, made of the rows of the moment."""

    rows: Callable[[], Sequence[MenuRow]]
    _asked: SimpleQueue[bool] = field(default_factory=SimpleQueue, init=False)
    _menu: "tkinter.Menu | None" = field(default=None, init=False)

    def show(self) -> None:
        """Show the menu; from any thread."""
        self._asked.put(True)

    def leave(self) -> None:
        """End `run`; from any thread."""
        self._asked.put(False)

    def run(self) -> None:
        """Show the menu whenever it is asked for, until `leave`; raises `UserError` without tkinter."""
        try:
            import tkinter
        except ImportError as error:
            raise UserError(
                "the menu of the icon needs tkinter, which this Python does not have",
                hint="install the package python3-tk, or leave --tray out",
            ) from error
        root = tkinter.Tk()
        root.withdraw()
        root.after(_LOOK_MILLISECONDS, self._look, root)
        root.mainloop()
        root.destroy()

    def _look(self, root: "tkinter.Tk") -> None:
        try:
            shows = self._asked.get_nowait()
        except Empty:
            root.after(_LOOK_MILLISECONDS, self._look, root)
            return
        if not shows:
            root.quit()
            return
        root.after(_LOOK_MILLISECONDS, self._look, root)
        if self._menu is not None:
            self._menu.destroy()
        self._menu = _menu(root, self.rows())
        self._menu.tk_popup(*root.winfo_pointerxy())


def _menu(parent: "tkinter.Misc", rows: Sequence[MenuRow]) -> "tkinter.Menu":
    import tkinter

    menu = tkinter.Menu(parent, tearoff=False)
    for row in rows:
        if row.rows:
            menu.add_cascade(label=row.label, menu=_menu(menu, row.rows))
        elif row.act is None:
            menu.add_command(label=row.label, state="disabled")
        else:
            tick = "\u2713 " if row.checked else ""
            menu.add_command(label=tick + row.label, command=row.act)
    return menu


_LOOK_FOR_KEYS = 0.3
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
                    select.select([screen], [], [], _LOOK_FOR_KEYS)
                elif screen.next_event().type == X.KeyPress:
                    self.act()
            screen.close()


_SIZE = 64
_LOOK = 2.0
logger = logging.getLogger(__name__)
_GREEN, _GREY, _INK = (46, 160, 67, 255), (128, 128, 128, 255), (255, 255, 255, 255)


def run_tray(places: Directories, port: int, language: Language) -> None:
    """Show the icon, start the host, and return when the person quits.

    Raises `UserError` without a desktop, or without the library.
    """
    if session_kind() == "none":
        raise UserError(
            "there is no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set",
            hint="start it in a terminal of the desktop, or leave --tray out",
        )
    try:
        import pystray  # type: ignore[import-untyped]
    except ImportError as error:
        raise UserError(
            "the icon needs the library pystray", hint="install it: {command}", command=command_to_add("tray")
        ) from error
    _Tray(pystray, Companion(places, port, language, SystemClock())).run()


class _Tray:
    """The icon; its menu is drawn by the desktop, or by a window of its own where the desktop draws none."""

    def __init__(self, pystray: Any, companion: Companion) -> None:
        self._pystray = pystray
        self._companion = companion
        self._hotkey = Hotkey(companion.settings.hotkey, companion.ask)
        self._shown: object = None
        self._ended = Event()
        self._icon = pystray.Icon("vault-agent", drawn(False), "vault-agent")

    def run(self) -> None:
        """Show the icon until the person quits."""
        companion, icon = self._companion, self._icon
        companion.start()
        self._hotkey.start()
        try:
            if icon.HAS_MENU:
                companion.leave = self._leave
                icon.menu = self._pystray.Menu(lambda: self._items(self._rows()))
                self._run_icon()
            else:
                self._run_beside_popup()
        finally:
            self._hotkey.stop()
            companion.stop()

    def _run_icon(self) -> None:
        try:
            self._icon.run(self._follow)
        except Exception:  # the library takes back messages at its end, also where no program shows any
            if not self._ended.is_set():
                raise
            logger.debug("the icon did not end well", exc_info=True)

    def _run_beside_popup(self) -> None:
        icon, popup = self._icon, Popup(self._rows)
        self._companion.leave = popup.leave
        name = text("tray.menu", self._companion.language)
        icon.menu = self._pystray.Menu(self._pystray.MenuItem(name, lambda: popup.show(), default=True))
        beside = Thread(target=self._run_icon, name="vault-agent-icon", daemon=True)
        beside.start()  # the library's own way to do this begins `_follow` twice, and never ends one of them
        popup.run()
        self._leave()
        beside.join(_LOOK)

    def _leave(self) -> None:
        self._ended.set()
        self._icon.stop()

    def _rows(self) -> tuple[MenuRow, ...]:
        return self._companion.rows(self._hotkey.keys if self._hotkey.works else "")

    def _items(self, rows: Sequence[MenuRow]) -> Iterator[Any]:
        """The rows as the library wants them."""
        for row in rows:
            if row.rows:
                yield self._pystray.MenuItem(row.label, self._pystray.Menu(*self._items(row.rows)))
            else:
                ticked = None if row.checked is None else (lambda item, row=row: row.checked)
                act = self._then_look(row) if row.act is not None else None
                yield self._pystray.MenuItem(row.label, act, checked=ticked, enabled=row.act is not None)

    def _then_look(self, row: MenuRow) -> Any:
        def act(icon: Any, item: Any) -> None:
            if row.act is not None:
                row.act()
            self._look()

        return act

    def _follow(self, icon: Any) -> None:
        """Show what changes by itself, such as a permission, for as long as the icon is there."""
        icon.visible = True
        if not icon.HAS_MENU:
            _hear_clicks(icon)
        self._look()
        while not self._ended.wait(_LOOK):
            self._look()

    def _look(self) -> None:
        """Draw the icon and its menu again if they have changed."""
        now = (self._companion.is_running, [_labels(row) for row in self._rows()])
        if now != self._shown:
            self._shown = now
            self._icon.icon = drawn(self._companion.is_running)
            if self._icon.HAS_MENU:  # the others take Latin letters only
                self._icon.title = self._companion.status()
            self._icon.update_menu()


def _hear_clicks(icon: Any) -> None:
    """Ask X for clicks on the icon: the library handles them, and does not ask for them."""
    icon._window.change_attributes(event_mask=CLICKS)
    icon._display.flush()


def _labels(row: MenuRow) -> object:
    return row.label, row.checked, [_labels(each) for each in row.rows]


def drawn(running: bool) -> "Image":
    """The icon: a disc with a V, green while the host answers."""
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (_SIZE, _SIZE), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    pen.ellipse((2, 2, _SIZE - 3, _SIZE - 3), fill=_GREEN if running else _GREY)
    pen.line([(18, 18), (32, 46), (46, 18)], fill=_INK, width=7, joint="curve")
    return image
