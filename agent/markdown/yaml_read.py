"""A strict parser for a note's header that records the position of each key, so that an edit changes only its lines.

Builds values from the events of PyYAML's C parser and refuses aliases (exponential expansion), tags (code execution)
and duplicate keys (silent loss of a value). `note` finds the header in the file.
"""

import yaml
from yaml.cyaml import CSafeLoader

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.yaml_write import MAX_BYTES, Value, resolve

MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its characters `[start, end)` in the header's text; `items` are the nodes of a list of scalars."""

    value: Value
    start: int
    end: int
    style: str  # "plain", "quoted", "literal" (`|` and `>`), "flow" or "block"
    items: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class HeaderEntry:
    """One top-level key: `line` counts from 1 in the file; `start` and `end` are offsets in the header's text.

    `[start, end)` are whole lines, from the key to the last line of its value, without comments above or below.
    """

    key: str
    node: Node
    line: int
    start: int
    key_start: int
    key_end: int
    end: int

    @property
    def value(self) -> Value:
        return self.node.value


def parse_header(text: str, first_line: int = 2) -> tuple[HeaderEntry, ...]:
    """The top-level keys of a header in order; `first_line` is the file's line number of the start of `text`.

    Raises BadNote for text that is not YAML, not a mapping, or too large or deep, and for repeated keys, aliases, tags.
    """
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadNote(
            "the header is longer than {size} KB",
            line=first_line,
            hint="move the long part into the note's text",
            size=MAX_BYTES // 1024,
        )
    if not text.strip():
        return ()
    if text.startswith("\ufeff"):  # YAML leaves it out, and all its positions would be one too low
        raise BadNote("the header contains a control character", line=first_line, hint="remove the invisible character")
    composer = _Composer(text, first_line)
    try:
        return composer.document()
    except yaml.reader.ReaderError as error:
        before = text.encode("utf-8")[: error.position]
        raise BadNote(
            "the header contains a control character",
            line=first_line + before.count(b"\n"),
            hint="remove the invisible character",
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = composer.line(mark.index) if mark else first_line
        problem = error.problem or error.context or "not YAML"
        if "nesting depth" in problem:  # libyaml's own limit, which it meets while it looks ahead
            raise composer.too_deep(line) from error
        raise BadNote("the header is not valid YAML: {problem}", line=line, hint=_HINT, problem=problem) from error
    except UnicodeEncodeError as error:
        raise BadNote("the header is not valid text", line=composer.line(error.start)) from error


_HINT = "correct the line, or put the value in quotes"


def _start(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _end(event: yaml.Event) -> int:
    return event.end_mark.index if event.end_mark else 0


class _Composer:
    """Builds nodes from the parser's events; limits are checked before a node is built."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text = text
        self.first_line = first_line
        self.parser = CSafeLoader(text)

    def line(self, index: int) -> int:
        """The line in the file, counted by line feeds: YAML also counts U+2028 and U+0085, editors do not."""
        return self.first_line + self.text.count("\n", 0, index)

    def bad(self, message: str, event: yaml.Event, hint: str = _HINT, **values: object) -> BadNote:
        return BadNote(message, line=self.line(_start(event)), hint=hint, **values)

    def too_deep(self, line: int) -> BadNote:
        return BadNote(
            "the header is nested deeper than {depth} levels", line=line, hint="use fewer levels", depth=MAX_DEPTH
        )

    def next(self) -> yaml.Event:
        event = self.parser.get_event()
        assert event is not None  # None only after the end of the stream, where `next` is not called
        return event

    def document(self) -> tuple[HeaderEntry, ...]:
        self.next()
        event = self.next()
        if isinstance(event, yaml.StreamEndEvent):
            return ()
        top = self.next()
        if isinstance(top, yaml.ScalarEvent) and not top.value and top.implicit[0] and not top.anchor and not top.tag:
            return ()
        if not isinstance(top, yaml.MappingStartEvent):
            raise self.bad("the header is not a list of `key: value` lines", top)
        self.refuse(top, 1)
        entries, _ = self.entries(1)
        self.next()
        event = self.next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.bad("the header holds more than one document", event, "keep one `---` above and one below")
        return tuple(entries)

    def refuse(self, event: yaml.NodeEvent, depth: int) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise self.bad("the header uses an alias (`&name` or `*name`)", event, "write the value out, or quote it")
        if getattr(event, "tag", None):
            raise self.bad("the header uses a tag (`!name`)", event, "remove the tag, or quote the value")
        if depth > MAX_DEPTH:
            raise self.too_deep(self.line(_start(event)))

    def entries(self, depth: int) -> tuple[list[HeaderEntry], int]:
        """The pairs of a mapping whose start event was just read, and the offset of its end."""
        found: list[HeaderEntry] = []
        seen: set[str] = set()
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.NodeEvent):
                raise self.bad("the header is not a mapping", event)
            self.refuse(event, depth)
            if not isinstance(event, yaml.ScalarEvent):
                raise self.bad("a key in the header is a list or a mapping", event, "put `{{…}}` and `[…]` in quotes")
            if event.value in seen:
                raise self.bad(
                    "the key `{key}` stands twice in the header", event, "remove one of the two", key=event.value
                )
            seen.add(event.value)
            found.append(self.entry(event, depth))
        return found, _end(event)

    def entry(self, key: yaml.ScalarEvent, depth: int) -> HeaderEntry:
        first, last = _start(key), _end(key)
        node = self.node(depth + 1)
        if depth > 1:
            return HeaderEntry(key.value, node, 0, 0, first, last, 0)
        start = self.text.rfind("\n", 0, first) + 1
        newline = self.text.find("\n", max(last, node.end))
        end = newline + 1 if newline >= 0 else len(self.text)
        return HeaderEntry(key.value, node, self.line(first), start, first, last, end)

    def node(self, depth: int, event: yaml.Event | None = None) -> Node:
        event = event or self.next()
        if not isinstance(event, yaml.NodeEvent):
            raise self.bad("a value is missing", event)
        if isinstance(event, yaml.ScalarEvent):
            self.refuse(event, 0)
            return self.scalar(event)
        self.refuse(event, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(event, depth)
        return self.mapping(event, depth)

    def scalar(self, event: yaml.ScalarEvent) -> Node:
        start, end = _start(event), _end(event)
        if event.implicit[0]:
            return Node(resolve(event.value), start, end, "plain")
        if event.style not in ("|", ">"):
            return Node(event.value, start, end, "quoted")
        if "+" not in self.text[start : start + 3]:
            end = start + len(self.text[start:end].rstrip())  # blank lines below are not part of the value
        elif self.text[end - 1] == "\n":
            end -= 1
        return Node(event.value, start, end, "literal")

    def sequence(self, event: yaml.SequenceStartEvent, depth: int) -> Node:
        start = _start(event)
        nodes: list[Node] = []
        while not isinstance(inner := self.next(), yaml.SequenceEndEvent):
            nodes.append(self.node(depth + 1, inner))
        flow = self.text[start : start + 1] == "["
        end = _end(inner) if flow else max(node.end for node in nodes)
        plain = all(node.style in ("plain", "quoted") for node in nodes)
        style = "flow" if flow else "block"
        return Node(tuple(node.value for node in nodes), start, end, style, tuple(nodes) if plain else ())

    def mapping(self, event: yaml.NodeEvent, depth: int) -> Node:
        start = _start(event)
        entries, end = self.entries(depth)
        value = {entry.key: entry.value for entry in entries}
        if self.text[start : start + 1] == "{":
            return Node(value, start, end, "flow")
        return Node(value, start, max(max(e.key_end, e.node.end) for e in entries), "block")
