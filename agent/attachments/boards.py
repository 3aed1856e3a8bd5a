"""The text of Obsidian's own files: the cards of a canvas (JSON Canvas 1.0), and what a table of notes (Bases) is named
and shows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from agent.attachments.html.charset import decode
from agent.attachments.limits import LONGEST_CELL, MOST_PARTS, Empty, Unreadable
from agent.errors import BadNote
from agent.json_value import parse_json
from agent.markdown.paged_text import PagedText, TextPart
from agent.markdown.yaml_read import parse_header
from agent.markdown.yaml_write import Value, is_list

_LABEL = 60
_MARKS = re.compile(r"^[\s#>*+-]*(?:\[.\]\s+)?")
_MOST_DEPTH = 12
"""Filters inside filters: more than anybody writes."""


def read_canvas(data: bytes) -> PagedText:
    """The cards in the order in which they are read, from the top and from the left, each with its first line as its
    label: a text as it is, a file or a web page by its name, a group by its label. Then what the arrows say."""
    if not data.strip():
        raise Empty
    try:
        board = parse_json(decode(data))
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is damaged, or no canvas") from error
    if not isinstance(board, dict):
        raise Unreadable("it is damaged, or no canvas")
    cards, arrows = _things(board, "nodes"), _things(board, "edges")
    problem = f"only its first {MOST_PARTS} cards are read" if len(cards) > MOST_PARTS else ""
    texts = {str(card.get("id", "")): _text_of_card(card) for card in cards[:MOST_PARTS]}
    ordered = sorted(((_number(card, "y"), _number(card, "x"), at) for at, card in enumerate(cards[:MOST_PARTS])))
    card_texts = (_text_of_card(cards[at]) for at in map(itemgetter(2), ordered))
    parts = [TextPart(_label(text), text) for text in card_texts if text.strip()]
    arrow_text = "\n".join(islice(filter(None, (_text_of_arrow(each, texts) for each in arrows)), MOST_PARTS))
    return _of((*parts, *([TextPart("", arrow_text)] if arrow_text else [])), problem)


def _of(parts: tuple[TextPart, ...], problem: str = "") -> PagedText:
    if not (parts or problem):
        raise Empty
    return PagedText(parts, problem=problem)


def _things(board: Mapping[str, object], key: str) -> Sequence[Mapping[str, object]]:
    found = board.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _text_of_card(card: Mapping[str, object]) -> str:
    match card.get("type"):
        case "file":
            return f"[[{_word(card, 'file')}{_word(card, 'subpath')}]]" if _word(card, "file") else ""
        case "link":
            return _word(card, "url")
        case "group":
            return _word(card, "label")
        case _:
            return _word(card, "text")


def _text_of_arrow(arrow: Mapping[str, object], texts: Mapping[str, str]) -> str:
    """What stands on an arrow, with the cards that it leads from and to; empty for one without words."""
    label = _word(arrow, "label")
    ends = [_label(texts.get(_word(arrow, key), "")) for key in ("fromNode", "toNode")]
    return f"{ends[0]} → {ends[1]}: {label}" if label else ""


def _label(text: str) -> str:
    """The first line with words, without marks of Markdown."""
    rows = (_MARKS.sub("", row).strip() for row in text.splitlines())
    return next(filter(None, rows), "")[:_LABEL]


def _word(thing: Mapping[str, object], key: str) -> str:
    found = thing.get(key)
    return found if isinstance(found, str) else ""


def _number(thing: Mapping[str, object], key: str) -> float:
    found = thing.get(key)
    return float(found) if isinstance(found, int | float) and abs(found) < 1e15 else 0.0


def read_base(data: bytes) -> PagedText:
    """What a table shows: its filters, the names of its columns, and each view with its own."""
    try:
        table = {each.key: each.value for each in parse_header(decode(data))}
    except BadNote as error:
        raise Unreadable("it is damaged, or no table of notes") from error
    names = {key: str(value) for key, value in _named(table.get("properties"))}
    top = [*_filters(table.get("filters")), *(f"{name}: {value}" for name, value in _named(table.get("formulas")))]
    top += [f"{key}: {name}" for key, name in names.items()]
    parts = [TextPart("", "\n".join(top))] if top else []
    views = table.get("views")
    for view in islice(views, MOST_PARTS) if is_list(views) else ():
        if not isinstance(view, Mapping):
            continue
        columns = view.get("order")
        titles = [names.get(str(each), str(each)) for each in columns] if is_list(columns) else []
        title = str(view.get("name") or view.get("type") or "")
        rows = [title, ", ".join(titles), *_filters(view.get("filters"))]
        parts.append(TextPart(title[:_LABEL], "\n".join(filter(None, rows))))
    return _of(tuple(parts))


def _named(value: Value | None) -> Iterator[tuple[str, str]]:
    """The name of each property or formula with its title, or with what it computes."""
    for key, each in value.items() if isinstance(value, Mapping) else ():
        title = each.get("displayName", "") if isinstance(each, Mapping) else each
        if title not in (None, ""):
            yield str(key), str(title)[:LONGEST_CELL]


def _filters(value: Value | None, depth: int = 0) -> Iterator[str]:
    """The conditions of a filter, one a line, without how they are joined."""
    if isinstance(value, Mapping) and depth < _MOST_DEPTH:
        for each in value.values():
            yield from _filters(each, depth + 1)
    elif is_list(value) and depth < _MOST_DEPTH:
        for each in value:
            yield from _filters(each, depth + 1)
    elif isinstance(value, str):
        yield value[:LONGEST_CELL]
