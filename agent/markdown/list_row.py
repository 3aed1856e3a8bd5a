"""One row of a list in a note, by its exact text: replaced, taken out, or added below the last one."""

from agent.markdown import blocks
from agent.markdown.note import Note


def has_row(data: bytes, row: str) -> bool:
    """True if one line of the note is exactly this row."""
    return row in data.decode("utf-8", "surrogateescape").splitlines()


def with_row(data: bytes, before: str | None, after: str | None) -> bytes:
    """The note with the first row `before` as `after` (None: without it); `before` None adds a row below the last one
    of a list, else at the end. Unchanged if there is no row `before`."""
    rows = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    plain = [row.rstrip("\r\n") for row in rows]
    if before is None and after is not None:
        newline = "\r\n" if any(row.endswith("\r\n") for row in rows) else "\n"
        at = _below_last(data) or len(rows)
        if at and not rows[at - 1].endswith("\n"):
            rows[at - 1] += newline
        is_below_text = at and plain[at - 1].strip() and not plain[at - 1].startswith(("- ", "* ", "  "))
        gap = [newline] if is_below_text else []
        rows[at:at] = [*gap, after + newline]
    elif before is not None and before in plain:
        at = plain.index(before)
        rows[at : at + 1] = [] if after is None else [after + rows[at][len(before) :]]
    return "".join(rows).encode("utf-8", "surrogateescape")


def _below_last(data: bytes) -> int:
    """The number of lines up to the end of the last item of a list; 0 without one."""
    note = Note.parse(data)
    body = blocks.parse_body(note.body)
    found = 0
    for at, (row, kind) in enumerate(zip(body.lines, body.kinds, strict=True)):
        if (
            kind not in ("fence", "code", "comment")
            and row.startswith(("- ", "* "))
            or found == note.body_line + at - 1
            and found
            and row.startswith(("  ", "\t"))
            and row.strip()
        ):
            found = note.body_line + at
    return found
