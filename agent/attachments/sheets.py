"""The sheets of a workbook (xlsx) as tables: values as a person sees them, dates as dates.

Rows of cells as a table of Markdown, and separated values (CSV) as rows.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from lxml import etree

from agent.attachments.html.charset import decode
from agent.attachments.limits import LONGEST_CELL, MOST_COLUMNS, MOST_ROWS, Unreadable
from agent.attachments.package import Package, attribute, children, descendants, name_of, open_package, relation
from agent.dataclass import dataclass
from agent.markdown.paged_text import PagedText, TextPart

_DELIMITERS = ",;\t|"
_SAMPLE = 50


def markdown_table(rows: Iterable[Sequence[str]], most: int = MOST_ROWS) -> tuple[str, bool]:
    """The rows as a table, the first as its header, without empty rows and without the columns that are empty in all;
    True with it if there were more than `most`."""
    there = (list(map(_cell, row[:MOST_COLUMNS])) for row in rows)
    found = list(islice((row for row in there if any(row)), most + 1))
    is_cut, found = len(found) > most, found[:most]
    width = max((at + 1 for row in found for at, cell in enumerate(row) if cell), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in found)]
    lines = ["| " + " | ".join(row[at] if at < len(row) else "" for at in used) + " |" for row in found]
    if not lines:
        return "", False
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]]), is_cut


def _cell(text: str) -> str:
    return " ".join(text[:LONGEST_CELL].split()).replace("|", "\\|")


def read_separated(data: bytes) -> PagedText:
    """The table in a file of separated values, in whatever encoding and with whatever separator."""
    text = decode(data)
    return _table(text, _delimiter(text))


def read_tabbed(data: bytes) -> PagedText:
    """The table in a file of values that tabs separate."""
    return _table(decode(data), "\t")


def _table(text: str, delimiter: str) -> PagedText:
    csv.field_size_limit(max(len(text), 1))
    table, is_cut = markdown_table(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return PagedText((TextPart("", table),), problem=rows_left_out() if is_cut else "")


def rows_left_out() -> str:
    """Why a table is not whole."""
    return f"only the first {MOST_ROWS} rows of a table are read"


def _delimiter(text: str) -> str:
    """The sign that divides the first rows most evenly: the same number in each, and many."""
    rows = [row for row in text[:20_000].splitlines()[:_SAMPLE] if row.strip()]

    def fits(sign: str) -> tuple[int, int]:
        counts = [row.count(sign) for row in rows]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) if usual else 0, usual)

    return max(_DELIMITERS, key=fits)


_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of the formats that every program knows and that show a date or a time."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_FIRST_DAY = datetime(1899, 12, 30)
_FIRST_DAY_1904 = datetime(1904, 1, 1)
_DAYS = 2_958_466
_LETTERS = re.compile("[A-Z]{1,3}")


@dataclass(frozen=True, slots=True)
class _Workbook:
    """What the cells of all sheets refer to: shared texts, and the kind of each style (`date`, `percent`, empty)."""

    texts: list[str]
    styles: list[str]
    first_day: datetime


def read_xlsx(data: bytes) -> PagedText:
    """The sheets of a workbook."""
    package = open_package(data)
    root, related = package.document("xl/workbook.xml", "its sheets are missing or damaged")
    kinds = dict(related.values())
    texts = [_text(each) for each in children(package.xml(kinds.get("sharedStrings", "")), "si")]
    is_1904 = attribute(next(children(root, "workbookPr"), None), "date1904") in {"1", "true"}
    styles = _styles(package.xml(kinds.get("styles", "")))
    book = _Workbook(texts, styles, _FIRST_DAY_1904 if is_1904 else _FIRST_DAY)
    parts, is_cut = [], False
    for sheet in descendants(root, "sheet"):
        kind, name = related.get(relation(sheet), ("", ""))
        if kind == "worksheet":
            table, is_longer = markdown_table(_rows(package, name, book))
            parts.append(TextPart(f"sheet {attribute(sheet, 'name')}", table))
            is_cut |= is_longer
    return PagedText(tuple(parts), "sheet", rows_left_out() if is_cut else "")


def _text(element: etree._Element) -> str:
    """The text of a cell or a shared text, without the reading aids of Japanese."""
    return "".join(each.text or "" for each in descendants(element, "t") if name_of(each.getparent()) != "rPh")


def _styles(root: etree._Element | None) -> list[str]:
    """The kind of each style of cells."""
    codes = {attribute(each, "numFmtId"): attribute(each, "formatCode") for each in descendants(root, "numFmt")}
    return [
        _kind(attribute(each, "numFmtId"), codes)
        for formats in children(root, "cellXfs")
        for each in children(formats, "xf")
    ]


def _kind(number: str, codes: dict[str, str]) -> str:
    code = _NOT_SHOWN.sub("", codes.get(number, "")).lower()
    if number.isdigit() and (int(number) in _DATES or (code != "general" and set(code) & set("ymdhs年月日"))):
        return "date"
    return "percent" if number in {"9", "10"} or code.endswith("%") else ""


def _rows(package: Package, name: str, book: _Workbook) -> Iterator[list[str]]:
    """The rows of a sheet, read as they come: of a sheet with a million, only the first ones."""
    data = package.data(name)
    if data is None:
        return
    count = 0
    events = etree.iterparse(io.BytesIO(data), events=("end",), tag="{*}row", resolve_entities=False, no_network=True)
    try:
        for _, row in events:
            yield _cells(row, book)
            row.clear()
            count += 1
            if count > 20 * MOST_ROWS:  # nearly all of them are empty
                return
    except etree.XMLSyntaxError as error:
        raise Unreadable("a sheet of it is damaged") from error


def _cells(row: etree._Element, book: _Workbook) -> list[str]:
    found = [""] * MOST_COLUMNS
    at = -1
    for cell in children(row, "c"):
        letters = _LETTERS.match(cell.get("r", ""))
        at = _column(letters[0]) if letters else at + 1
        if at < MOST_COLUMNS:
            found[at] = _value(cell, book)
    return found


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: etree._Element, book: _Workbook) -> str:
    """The value of a cell; that of a formula is the one that was computed last."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _text(cell)
    text = next((each.text or "" for each in children(cell, "v")), "")
    if kind == "s":
        return book.texts[int(text)] if text.isdigit() and int(text) < len(book.texts) else ""
    if kind == "b":
        return "TRUE" if text == "1" else "FALSE"
    if kind != "n" or not text:
        return text
    style = cell.get("s", "0")
    form = book.styles[int(style)] if style.isdigit() and int(style) < len(book.styles) else ""
    try:
        return _number(float(text), form, book.first_day)
    except (ValueError, OverflowError):
        return text


def _number(value: float, form: str, first_day: datetime) -> str:
    if form == "date" and 0 <= value < _DAYS:
        moment = first_day + timedelta(seconds=round(value * 86_400))
        if value < 1:
            return f"{moment:%H:%M:%S}".removesuffix(":00")
        return f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00")
    if form == "percent":
        return f"{value * 100:.10g}%"
    return f"{value:.15g}" if abs(value) < 1e15 else str(value)
