"""One row of a list in a note, by its exact text: replaced, taken out, or added below the last one."""

from agent.markdown import blocks
from agent.markdown.appending import append_block, closing_lines
from agent.markdown.note import Note


def has_row(data: bytes, row: str) -> bool:
    """True if one line of the note is exactly this row."""
    return row.encode("utf-8", "surrogateescape") in (each.rstrip(b"\r") for each in data.split(b"\n"))


def with_row(data: bytes, before: str | None, after: str | None) -> bytes:
    """The note with the first row `before` as `after` (None: without it); `before` None adds a row below the last one
    of a list, else at the end, where what is open is closed first. All other lines stay as they are; unchanged if there
    is no row `before`."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    plain, ending = [each.rstrip("\r") for each in rows], "\r" if b"\r\n" in data else ""
    if before is not None:
        at = plain.index(before) if before in plain else -1
        if after is not None and at >= 0:
            rows[at] = after + rows[at][len(before) :]
        elif at >= 0:
            del rows[at]
            rows[-1:] = [each.rstrip("\r") for each in rows[-1:]]  # what is last now had a line end before it
    elif after is not None:
        below = _below_last(data)
        if closing_lines(data) and not below:
            return append_block(data, f"{after}\n".encode("utf-8", "surrogateescape"))
        if rows[-1]:  # the last line has no end
            rows[-1] += ending
            rows.append("")
        at = below or len(rows) - 1
        is_below_text = at and plain[at - 1] and not plain[at - 1].startswith(("- ", "* ", "  ", "\t"))
        rows[at:at] = [*([ending] if is_below_text else []), after + ending]
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def _below_last(data: bytes) -> int:
    """The number of lines up to the end of the last item of a list; 0 without one."""
    note = Note.parse(data)
    body, found = blocks.parse_body(note.body), 0
    for number, (row, kind) in enumerate(zip(body.lines, body.kinds, strict=True), note.body_line):
        is_item = kind not in ("fence", "code", "comment") and row.startswith(("- ", "* "))
        if is_item or (found and found == number - 1 and row.startswith(("  ", "\t")) and row.strip()):
            found = number
    return found
