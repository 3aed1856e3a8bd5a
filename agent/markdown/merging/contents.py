"""The merge of one unit that both sides have."""

from agent.dataclass import dataclass
from agent.markdown.merging.units import PROSE, ListItem, Unit, split_item
from agent.markdown.merging.words import merge_lines, merge_words, pick

DONE = frozenset("xX")


@dataclass(frozen=True, slots=True)
class Merged:
    """The lines of a merged unit; `is_conflict`: they are those of the first side, which the second contradicts."""

    lines: tuple[str, ...]
    is_conflict: bool = False


def merge_unit(base: Unit | None, first: Unit, second: Unit) -> Merged:
    """The unit with both sides' changes. A task that was ticked on one side stays ticked."""
    if first.lines == second.lines or (base and base.lines == second.lines):
        return Merged(first.lines)
    if base and base.lines == first.lines:
        return Merged(second.lines)
    items = (split_item(base.text) if base else None, split_item(first.text), split_item(second.text))
    if items[1] and items[2] and first.kind == second.kind == "item":
        merged = _merge_item(items[0], items[1], items[2])
        return Merged(first.lines, True) if merged is None else Merged(tuple(merged.join().split("\n")))
    if base is None or not base.kind == first.kind == second.kind:
        return Merged(first.lines, True)
    if base.kind in PROSE:
        text = merge_words(base.text, first.text, second.text)
        return Merged(first.lines, True) if text is None else Merged(tuple(text.split("\n")))
    lines = merge_lines(base.lines, first.lines, second.lines)
    return Merged(first.lines, True) if not lines else Merged(tuple(lines))


def _merge_item(base: ListItem | None, first: ListItem, second: ListItem) -> ListItem | None:
    if base is None:
        if first.text != second.text:
            return None
        base = min(first, second, key=lambda item: (item.state or "", item.marker, item.indent))
    text = merge_words(base.text, first.text, second.text)
    if text is None or (not text and base.text):
        return None
    return ListItem(
        _pick(base.indent, first.indent, second.indent),
        _pick(base.marker, first.marker, second.marker),
        _merge_state(base.state, first.state, second.state),
        text,
    )


def _pick(base: str, first: str, second: str) -> str:
    side = pick(base, first, second)
    return (first, second)[side - 1] if side else max(first, second)


def _merge_state(base: str | None, first: str | None, second: str | None) -> str | None:
    side = pick(base, first, second)
    if side:
        return (first, second)[side - 1]
    done = [state for state in (first, second) if state is not None and state in DONE]
    return min(done) if done else max(first or "", second or "") or None
