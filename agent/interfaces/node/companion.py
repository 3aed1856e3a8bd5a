"""The companion on the desktop: starts and stops the host, and has the rows of the icon's menu as values.

Drawing is left to `tray`. The settings are read again each time, so a change needs no restart of the icon.
"""

import webbrowser
from collections.abc import Callable
from dataclasses import field, fields
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.config.directories import Directories
from agent.config.edit import set_machine
from agent.config.load import load_settings
from agent.config.node_settings import NodeSettings
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.node import autostart
from agent.interfaces.node.permissions import NodePermission, permissions
from agent.interfaces.node.server import NodeHost
from agent.interfaces.node.session import is_mac
from agent.texts import Language, text, translated

_PANES = {
    "screen_recording": "Privacy_ScreenCapture",
    "microphone": "Privacy_Microphone",
    "accessibility": "Privacy_Accessibility",
    "full_disk_access": "Privacy_AllFiles",
}
_PANE = "x-apple.systempreferences:com.apple.preference.security?{pane}"


@dataclass(frozen=True, slots=True)
class MenuRow:
    """A row of the menu: its label, what it does (None: it only says something), a tick, and the rows below it."""

    label: str
    act: Callable[[], object] | None = None
    checked: bool | None = None
    rows: tuple["MenuRow", ...] = ()


def open_place(place: str) -> None:
    """Open an address or a file with the desktop's own program."""
    webbrowser.open(place)


@dataclass(slots=True)
class Companion:
    """The host of this machine with its menu; `open` shows an address to the person."""

    places: Directories
    port: int
    language: Language
    clock: Clock
    open: Callable[[str], None] = open_place
    host: NodeHost | None = None
    problem: str = ""
    leave: Callable[[], object] = field(default=lambda: None)

    @property
    def settings(self) -> NodeSettings:
        """The settings of now."""
        return load_settings().settings.node

    @property
    def is_running(self) -> bool:
        """True while the host answers."""
        return self.host is not None and self.host.is_running

    def start(self) -> None:
        """Start the host with the settings of now; what goes wrong is in `problem`."""
        self.stop()
        try:
            self.host = NodeHost(self.settings, self.places, self.clock, self.port)
            self.host.start(self._failed)
            self.problem = ""
        except AgentError as error:
            self._failed(error)

    def stop(self) -> None:
        """Stop the host."""
        if self.host is not None:
            self.host.stop()
            self.host = None

    def ask(self) -> None:
        """Open the page on which the person asks."""
        self.open(self.settings.dashboard or f"http://127.0.0.1:{load_settings().settings.http.port}/")

    def _text(self, key: str, /, **values: object) -> str:
        return text(key, self.language, **values)

    def status(self) -> str:
        """Whether the host runs, in a line."""
        if self.host is not None and self.host.is_running:
            return self._text("tray.running", url=self.host.address)
        return self.problem or self._text("tray.stopped")

    def rows(self, hotkey: str = "") -> tuple[MenuRow, ...]:
        """The menu as it is now; `hotkey` are the keys that open the page, if they do."""
        settings, text_of = self.settings, self._text
        label = text_of("tray.ask_key", keys=hotkey) if hotkey else text_of("tray.ask")
        starts = autostart.is_on()
        return (
            MenuRow(self.status()),
            MenuRow(text_of("tray.stop"), self.stop) if self.is_running else MenuRow(text_of("tray.start"), self.start),
            MenuRow(label, self.ask),
            MenuRow(text_of("tray.permissions"), rows=self._permissions()),
            MenuRow(text_of("tray.tools"), rows=self._tools(settings)),
            MenuRow(
                text_of("tray.enabled"), partial(self._set, "node.enabled", not settings.enabled), settings.enabled
            ),
            MenuRow(text_of("tray.autostart"), partial(autostart.switch, not starts), starts),
            MenuRow(text_of("tray.settings"), self._show_settings),
            MenuRow(text_of("tray.quit"), self.leave),
        )

    def _permissions(self) -> tuple[MenuRow, ...]:
        app = NodeHost(self.settings, self.places, self.clock, self.port).app
        found = permissions(app.desk.folders).items()
        return tuple(row for name, each in found for row in self._permission(name, each))

    def _permission(self, name: str, permission: NodePermission) -> tuple[MenuRow, ...]:
        """The state of a permission, and what helps in a row of its own."""
        called, state = self._text(f"tray.{name}"), self._text(f"tray.state_{permission.state}")
        label = self._text("tray.permission", name=called, state=state)
        pane = partial(self.open, _PANE.format(pane=_PANES[name]))
        row = MenuRow(label, pane if is_mac() and permission.state != "granted" else None)
        guidance = translated(permission.guidance, self.language)
        return (row, MenuRow(f"    {guidance}")) if guidance else (row,)

    def _tools(self, settings: NodeSettings) -> tuple[MenuRow, ...]:
        names = [each.name for each in fields(settings.tools)]
        on = {name: bool(getattr(settings.tools, name)) for name in names}
        return tuple(MenuRow(name, partial(self._set, f"node.tools.{name}", not on[name]), on[name]) for name in names)

    def _set(self, key: str, value: bool) -> None:
        """Change a setting; a host that runs begins anew with it."""
        try:
            set_machine(key, str(value).lower())
        except AgentError as error:
            self._failed(error)
            return
        if self.is_running and key.startswith("node.tools."):
            self.start()

    def _show_settings(self) -> None:
        file = self.places.settings_file
        self.open(Path(file if file.exists() else file.parent).as_uri())

    def _failed(self, error: Exception) -> None:
        self.problem = translated(getattr(error, "message", str(error)), self.language)
