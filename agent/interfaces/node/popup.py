"""The menu in a window of its own, for desktops whose icons have none.

Only the thread that runs it may draw; the icon's thread asks for the menu with `show`.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.node.companion import MenuRow

if TYPE_CHECKING:
    import tkinter

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
