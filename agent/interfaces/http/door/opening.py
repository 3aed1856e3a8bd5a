"""The page by which `--open` starts a browser: a private file that leads to the link to sign in.

A link as an argument of the browser would be seen by everybody who lists the processes of this machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Timer

from agent.config.private import own_folder, replace
from agent.interfaces.http.door.sign_in import LINK_SECONDS
from agent.interfaces.http.responses import page_text
from agent.texts import Language, text

_FOLDER = "open"


@contextmanager
def opening_page(folder: Path, link: str, language: Language) -> Iterator[Path]:
    """The file for a link, in the server's private folder; it is removed when the link is used, after its minute, and
    at the end of the block."""
    file = _file(folder, link.rpartition("/")[2])
    own_folder(file.parent)
    replace(file, page_text(text("pages.needs", language), (), language, onward=link))
    removal = Timer(LINK_SECONDS, lambda: file.unlink(missing_ok=True))
    removal.daemon = True
    removal.start()
    try:
        yield file
    finally:
        removal.cancel()
        file.unlink(missing_ok=True)


def remove_opening(folder: Path, code: str) -> None:
    """Remove the file of a link that was opened."""
    _file(folder, code).unlink(missing_ok=True)


def remove_openings(folder: Path) -> None:
    """Remove all such files, of which the links end with their server: one that was killed leaves them."""
    for file in (folder / _FOLDER).glob("*.html"):
        file.unlink(missing_ok=True)


def _file(folder: Path, code: str) -> Path:
    return folder / _FOLDER / f"{sha256(code.encode('utf-8', 'replace')).hexdigest()[:16]}.html"
