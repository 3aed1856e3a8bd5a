"""The reader of each kind of file; whatever it meets, it ends in a text or in a reason."""

from collections.abc import Callable
from importlib import import_module

from agent.attachments.limits import MOST_CHARACTERS, Empty, Unreadable
from agent.markdown.paged_text import PagedText, TextPart

_READERS = {
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("documents", "read_docx"),
    ".pptx": ("documents", "read_pptx"),
    ".xlsx": ("sheets", "read_xlsx"),
    ".epub": ("books", "read_epub"),
    ".html": ("books", "read_html"),
    ".htm": ("books", "read_html"),
    ".xhtml": ("books", "read_html"),
    ".txt": ("books", "read_plain"),
    ".csv": ("sheets", "read_separated"),
    ".tsv": ("sheets", "read_tabbed"),
    ".canvas": ("boards", "read_canvas"),
    ".base": ("boards", "read_base"),
}
ENDINGS = frozenset(_READERS)
_UNPRINTABLE = {code: None for code in (*range(9), 11, 12, *range(14, 32), 127, 0xFFFE, 0xFFFF)}


def reader_for(ending: str) -> Callable[[bytes], PagedText]:
    """The reader for a file with this ending; loads the module that has it."""
    module, name = _READERS[ending]
    found: Callable[[bytes], PagedText] = getattr(import_module(f"agent.attachments.{module}"), name)
    return found


def read_attachment(read: Callable[[bytes], PagedText], data: bytes) -> PagedText:
    """The text that a reader finds, printable and not too long; without text, with the reason."""
    try:
        found = read(data)
    except Unreadable as error:
        return PagedText(problem=str(error))
    except Empty:
        return PagedText()
    except MemoryError:
        return PagedText(problem="reading it takes too much memory")
    except Exception as error:  # noqa: BLE001 - a reader may fail in any way at a file that is broken
        return PagedText(problem=f"it cannot be parsed ({type(error).__name__})")
    parts, problem, room = [], found.problem, MOST_CHARACTERS
    for part in found.parts:
        text = part.text.translate(_UNPRINTABLE)
        if len(text) > room:
            problem = problem or f"only its first {MOST_CHARACTERS} characters are read"
            text = text[:room]
        room -= len(text)
        parts.append(TextPart(part.label.translate(_UNPRINTABLE), text))
        if not room:
            break
    cleaned = PagedText(tuple(parts), found.unit, problem)
    return cleaned if cleaned.has_text or problem else PagedText(problem="it has no text")
