"""A note as an SVG picture, as Obsidian's reading view shows it: comments hidden, callouts folded, links coloured."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap

_WIDTH, _EDGE, _BAR, _COLUMNS = 720, 40, 38, 84
_PAPER, _INK, _FAINT, _LINK, _FOLD = "#ffffff", "#2b2e33", "#8a9099", "#6c50c8", "#f0f1f3"
_COMMENT = re.compile(r"^%%.*%%\n?", re.MULTILINE)
_CALLOUT = re.compile(r"> \[!\w+\]- (.*)")
_HEADING = re.compile(r"(#+) (.*)")
_ITEM = re.compile(r"(- \[( |x)\] |- |\d+\. )(.*)")
_SPAN = re.compile(r"\*\*(.+?)\*\*|\[\[(.+?)\]\]|`(.+?)`")


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the page: its height, and what is drawn at its baseline."""

    height: int
    text: str
    size: int = 15
    indent: int = 0
    bold: bool = False
    mark: str = ""
    folded: bool = False


def note_picture(name: str, body: str) -> str:
    """The note with this name and this text as an SVG document."""
    drawn, at = list[str](), _BAR + 26
    for row in _rows(body):
        at += row.height
        drawn.append(_drawn(row, at))
    height = at + 32
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'font-family="Inter,Segoe UI,Helvetica,Arial,DejaVu Sans,sans-serif" fill="{_INK}">',
        f'<rect x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="8" fill="{_PAPER}" stroke="#b9bec7"/>',
        f'<path d="M.5 {_BAR}H{_WIDTH - 1}" stroke="#dfe2e7"/>',
        f'<text x="{_WIDTH / 2:g}" y="24" font-size="13" fill="{_FAINT}" text-anchor="middle">{escape(name)}</text>',
        *drawn, "</svg>", "",
    ])  # fmt: skip


def _rows(body: str) -> Iterator[_Row]:
    was_item = False
    for line in _COMMENT.sub("", body).splitlines():
        if found := _CALLOUT.match(line):
            yield _Row(44, found[1], 14, 34, mark="›", folded=True)
        elif found := _HEADING.match(line):
            size = 26 if len(found[1]) == 1 else 18
            yield from (_Row(size + 22, row, size, bold=True) for row in wrap(found[2], _COLUMNS * 14 // size))
        elif found := _ITEM.match(line):
            mark = {" ": "☐", "x": "☑"}.get(found[2] or "", found[1].strip().replace("-", "•"))
            first = 26 if was_item else 32
            for number, row in enumerate(wrap(found[3], _COLUMNS - 4)):
                yield _Row(24 if number else first, row, indent=26, mark="" if number else mark)
        elif line and not line.startswith(">"):
            yield from (_Row(24 if number else 32, row) for number, row in enumerate(wrap(line, _COLUMNS)))
        was_item = bool(line) and _ITEM.match(line) is not None


def _drawn(row: _Row, baseline: int) -> str:
    ground = ""
    if row.folded:
        ground = (
            f'<rect x="{_EDGE}" y="{baseline - 22}" width="{_WIDTH - 2 * _EDGE}" height="34" rx="5" fill="{_FOLD}"/>'
        )
    mark = f'<text x="{_EDGE + (14 if row.folded else 4)}" y="{baseline}" font-size="{row.size}" fill="{_FAINT}">' \
           f"{escape(row.mark)}</text>" if row.mark else ""  # fmt: skip
    weight = ' font-weight="bold"' if row.bold else ""
    return (
        f'{ground}{mark}<text x="{_EDGE + row.indent}" y="{baseline}" font-size="{row.size}"{weight} '
        f'xml:space="preserve">{_spans(row.text)}</text>'
    )


def _spans(text: str) -> str:
    """The text with its bold words, links and code."""
    styles = ('font-weight="bold"', f'fill="{_LINK}"', 'font-family="ui-monospace,Consolas,monospace"')
    drawn, end = "", 0
    for found in _SPAN.finditer(text):
        style, words = next((style, words) for style, words in zip(styles, found.groups(), strict=True) if words)
        drawn += f"{escape(text[end : found.start()], quote=False)}<tspan {style}>{escape(words, quote=False)}</tspan>"
        end = found.end()
    return drawn + escape(text[end:], quote=False)
