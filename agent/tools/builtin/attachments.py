"""What `vault_read` gives of a file that is no note: the extracted text of a PDF, a document, a table; a picture."""

from agent.attachments.cache import PLAIN, ending_of, is_attachment
from agent.errors import ToolFailed, ToolRetry, UserError
from agent.llm.messages import ImagePart, JsonObject
from agent.markdown.paged_text import PagedText
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.taint import frame, unframed
from agent.tools.tool import Cited, ToolOutput
from agent.vault.pictures import load_picture

READ_CHARACTERS = 15_000
"""The most characters of one `vault_read`: below the limit of a result, so that the result says how to continue."""
MOST_PICTURE = 3_700_000
"""Bytes of the largest picture that is given to a model: in base64 they are the 5 MB that Anthropic takes."""
_LABELS = 20
_ONCE = (
    "(the picture is shown in this run only: later, what was said of it is all that you have; read it again if need be)"
)
"""Stands with each picture: the conversation keeps no pictures."""


def is_read_by_its_text(path: str, data: bytes) -> bool:
    """True for a file whose text must be extracted; tables and texts in UTF-8 are read as they are."""
    if not is_attachment(path):
        return False
    try:
        return ending_of(path) not in PLAIN or not data.decode()
    except UnicodeDecodeError:
        return True


def read_attached(notes: Notes, call: JsonObject, path: str, data: bytes) -> ToolOutput:
    """The part of an attachment's text that a call asks for, by `lines` or by `heading`: a page, a sheet, a section."""
    try:
        found = notes.texts.text_of(path, data, notes.vault.content_id(data))
    except OSError as error:
        raise ToolFailed(f"{path} cannot be read: {error}") from error
    if not found.has_text:
        raise ToolRetry(f"{path} has no text to read: {found.problem}")
    rows = found.lines()
    first, last = _wanted_lines(call, found, len(rows), path)
    excerpt, last = fitting(rows, first, last)
    place = found.place((first, last))
    head = f"{path}, {f'{place}, ' if place else ''}lines {first}-{last} of {len(rows)}"
    head += f" (read on with lines {last + 1}-{len(rows)})" if last < len(rows) else ""
    head += f" ({found.problem})" if found.problem else ""
    untrusted = notes.origin_of(path, data)
    return ToolOutput(f"{head}:\n\n{excerpt}", (Cited(path, (first, last)),), untrusted=untrusted)


def _wanted_lines(call: JsonObject, found: PagedText, total: int, path: str) -> tuple[int, int]:
    heading = arguments.text(call, "heading")
    if not heading:
        return arguments.line_range(call, total, path)
    if "lines" in call:
        raise ToolRetry("give lines or heading, not both")
    lines = found.lines_asked(heading)
    if lines is None:
        labels = [part.label for part in found.parts if part.label]
        named = "; ".join(labels[:_LABELS]) + ("; …" if len(labels) > _LABELS else "")
        raise ToolRetry(f"{path} has no part {heading!r}; it has {named or 'none'}")
    return lines


def fitting(lines: list[str], first: int, last: int) -> tuple[str, int]:
    """The lines that fit in one result, at least a part of the first, and the number of the last one."""
    room = READ_CHARACTERS
    for number in range(first, last + 1):
        room -= len(lines[number - 1]) + 1
        if room < 0:
            if number == first:
                return lines[first - 1][:READ_CHARACTERS] + "…", first
            return "\n".join(lines[first - 1 : number - 1]), number - 1
    return "\n".join(lines[first - 1 : last]), last


def read_picture(notes: Notes, path: str, data: bytes) -> ToolOutput:
    """A picture, for a model that sees."""
    try:
        picture = load_picture(notes.vault, path)
    except UserError as error:
        raise ToolRetry(f"{error.message}: {error.hint}") from None
    if len(picture.data) > MOST_PICTURE:
        raise ToolRetry(f"{path} is larger than {MOST_PICTURE / 1_000_000:g} MB, the most that models take")
    text = f"{path}: a picture ({picture.media_type}, {len(picture.data):,} bytes)"
    image, origin = ImagePart(path, picture.media_type, picture.data), notes.origin_of(path, data)
    content = f"{frame(text, origin) if origin else unframed(text)}\n{_ONCE}"
    return ToolOutput(content, (Cited(path, (1, 1)),), untrusted=origin, images=(image,), is_framed=True)
