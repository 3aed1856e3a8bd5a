"""Parses a search: `key:value` filters, quoted or not, and the remaining text.

A word that only looks like a filter (`https://x`, `12:30`, an unknown `re:`, a `type:` among words) is still searched
for as text.
"""

import re

from agent.errors import UserError
from agent.index import dates
from agent.index.analysis import query_terms
from agent.index.hit import Filters, Query

_FILTER = re.compile(r"""(?<!\S)(-?)([^\x00-@\[-^`{-\x7f][\w-]*):(?:"([^"]*)"|'([^']*)'|([^\s"'/][^\s]*)|(?=\s|$))""")
_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2}))?(?:-([0-9]{1,2}))?")
_EXAMPLES = {
    "path": "path:notes/garden",
    "tag": "tag:garden",
    "type": "type:note",
    "scope": "scope:user",
    "after": "after:2023-05-08",
    "before": "before:2023-05-08",
}
KNOWN = frozenset(_EXAMPLES)
_COLON = re.compile(r"(?<=[\w-]):(?=\S)")
_BARE = re.compile(rf"(?<!\S)({'|'.join(_EXAMPLES)}):(?=\s|$)", re.IGNORECASE)


def parse_query(text: str, keys: frozenset[str] = frozenset()) -> Query:
    """The query in `text`; `keys` are the vault's header keys, which are filters beside the built-in ones.

    Raises `UserError` for an invalid day, and for a built-in filter without a value that is the first word or has
    quotes.
    """
    text = text.strip().encode("utf-8", "replace").decode()  # a shell can pass a lone surrogate
    paths: list[str] = []
    after = before = ""
    wanted: list[tuple[str, str]] = []
    kept: list[str] = []
    position = 0
    for match in _FILTER.finditer(text):
        key = match[2].casefold()
        if match[1] or (key not in KNOWN and key not in keys):
            continue
        value = next(filter(None, match.groups()[2:]), "")
        if not value and (key not in KNOWN or (match.start() and match[0].endswith(":"))):
            continue  # "operators such as path: and tag:" is about filters
        if not value:
            hint = "write it right behind the colon, such as {example}"
            raise UserError("{filter} has no value", hint=hint, filter=match[0], example=_EXAMPLES[key])
        kept.append(text[position : match.start()])
        position = match.end()
        if key == "path":
            paths.append(value.strip("/"))
        elif key == "after":
            after = max(after, parse_day(value, last=False))
        elif key == "before":
            last = parse_day(value, last=True)
            before = min(before, last) if before else last
        else:
            wanted.append(("tag" if key == "tags" else key, value.removeprefix("#").casefold()))
    kept.append(text[position:])
    rest = " ".join("".join(kept).split())
    filters = Filters(tuple(paths), after, before, tuple(wanted))
    return Query(rest, tuple(query_terms(rest)), dates.parse_days(rest), filters)


def without_filters(text: str) -> str:
    """The text with nothing in it that parses as a filter, for what is no query: a task, a sentence."""
    return _BARE.sub(r"\1", _COLON.sub(": ", text))


def parse_day(text: str, *, last: bool) -> str:
    """The first or the last day of `2023`, `2023-05` or `2023-05-08`, as ISO; raises `UserError`."""
    found = _DAY.fullmatch(text)
    if found is None:
        raise UserError("{text} is not a day", hint="write it as 2023-05-08, 2023-05 or 2023", text=text)
    year, month, number = (int(part) if part else 0 for part in found.groups())
    try:
        first, end = dates.span(year, month or (12 if last else 1), number)
    except ValueError as error:
        raise UserError("the calendar has no {text}", hint="write a day as 2023-05-08", text=text) from error
    return (end if last else first).isoformat()
