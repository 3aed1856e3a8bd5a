"""The icon of the node host beside the clock: draws the companion's menu, and is green while the host answers."""

import logging
from collections.abc import Iterator, Sequence
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from agent.clock import SystemClock
from agent.config.directories import Directories
from agent.config.program_parts import command_to_add
from agent.errors import UserError
from agent.interfaces.node.companion import Companion, MenuRow
from agent.interfaces.node.hotkey import CLICKS, Hotkey
from agent.interfaces.node.popup import Popup
from agent.interfaces.node.session import session_kind
from agent.texts import Language, text

if TYPE_CHECKING:
    from PIL.Image import Image

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
    """The icon; its menu is drawn by the desktop, or by `popup` where the desktop draws none."""

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
