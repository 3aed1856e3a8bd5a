"""Generated notes, and two edited versions of each, for the laws of merging."""

from collections.abc import Sequence

from hypothesis import strategies as st

BLOCKS = (
    "# Title",
    "## Plan",
    "## 计划",
    "One two three.",
    "The quick brown fox jumps over the lazy dog, and sleeps.",
    "今天天气很好，我们去公园散步。",
    "text with\ntwo lines here",
    "- [ ] milk",
    "- [ ] call Bob about the boiler ^b1",
    "- [x] eggs",
    "- [ ] 给妈妈打电话",
    "- a",
    "- b",
    "  - deep one",
    "1. first",
    "2. second",
    "3. third",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "| 5 | 6 |",
    "```py\nx = 1\n\ny = 2\n```",
    "> [!note] hi\n> line",
    "---",
    "%% a comment %%",
    "10:15 met Ann",
)
NEW = (
    *("a new thing is here", "another new line", "- item one", "- item two", "- [ ] 新的任务", "## New section"),
    *("10:20 tea", "9:05 coffee", "4. fourth", "| 7 | 8 |", "> a quote", "   ", "<!-- x -->", "```", "^c2"),
)
HEADERS = (
    *("title: X # why", "tags:\n  - a\n  - b", "aliases: [a, 'b']", "# comment", "status: open", "times: 3"),
    *("said: 2026-01-01T10:00:00Z", "slots:\n  city: Oslo\n  food: rice", "created: 2026-01-05", "标签: [一, 二]"),
)
NEW_HEADERS = (
    *("status: done", "status: waiting # for Ann", "tags:\n  - b\n  - c", "tags:\n  - a\n  - b\n  - d"),
    *("aliases: [a, 'b', c]", "said: 2026-03-01T10:00:00Z", "slots:\n  city: Rome\n  food: rice", "# another comment"),
    *("slots:\n  city: Oslo\n  food: rice\n  drink: tea", "created: 2026-01-02", "bad: [", "owner: 安娜"),
    "due: 2026-02-03",
)
_WORDS = st.sampled_from(["blue", "red", "好", "green,"])
_AT = st.integers(0, 40)


@st.composite
def _edits(draw: st.DrawFn, before: Sequence[str], new: Sequence[str]) -> list[str]:
    """A list of blocks after one to four edits, as a person makes them."""
    blocks = list(before)
    for _ in range(draw(st.integers(1, 4))):
        kind, at = draw(st.integers(0, 9)), draw(_AT) % (len(blocks) + 1)
        if kind <= 2 or at == len(blocks):
            blocks.insert(at, draw(st.sampled_from((*new, *before))))
        elif kind == 3:
            del blocks[at]
        elif kind == 4:
            blocks.insert(draw(_AT) % len(blocks), blocks.pop(at))
        elif kind == 5:
            end = at + 1 + draw(_AT) % 3
            moved = blocks[at:end]
            del blocks[at:end]
            to = draw(_AT) % (len(blocks) + 1)
            blocks[to:to] = moved
        elif kind == 6:
            blocks[at] = blocks[at].replace("[ ]", "[x]")
        else:
            words = blocks[at].split(" ")
            place = draw(_AT) % len(words)
            words[place : place + draw(st.integers(0, 1))] = [draw(_WORDS)]
            blocks[at] = " ".join(words)
    return blocks


def _key(line: str) -> str:
    return line.partition(":")[0]


@st.composite
def _header_edits(draw: st.DrawFn, before: Sequence[str]) -> list[str]:
    """A header after up to two keys were set, added or taken out."""
    lines = list(before)
    for line in draw(st.lists(st.sampled_from(NEW_HEADERS), max_size=2)):
        here = [at for at, each in enumerate(lines) if _key(each) == _key(line)]
        if here:
            lines[here[0]] = line
        else:
            lines.insert(draw(_AT) % (len(lines) + 1), line)
    if lines and draw(st.integers(0, 5)) == 0:
        del lines[draw(_AT) % len(lines)]
    return lines


def _written(header: Sequence[str], blocks: Sequence[str], gaps: Sequence[bool], shape: int) -> bytes:
    head = "".join(f"{line}\n" for line in ("---", *header, "---")) if header else ""
    text = head + "".join(block + ("\n\n" if gap else "\n") for block, gap in zip(blocks, gaps, strict=False))
    if shape == 1:
        text = text.replace("\n", "\r\n")
    if shape == 2:
        text = text.removesuffix("\n").removesuffix("\n")
    if shape == 3:
        text = f"\ufeff{text}"
    return text.encode()


@st.composite
def three_versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A note and two edited versions of it: base, ours, theirs."""
    unique = draw(st.booleans())
    blocks = draw(st.lists(st.sampled_from(BLOCKS), max_size=10, unique=unique))
    header = draw(st.lists(st.sampled_from(HEADERS), max_size=5, unique_by=_key))
    gaps = draw(st.lists(st.booleans(), min_size=3, max_size=3)) * 20
    shape = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
    other = draw(st.sampled_from([shape, shape, shape, 0, 1, 2]))
    new = BLOCKS + NEW if not unique else NEW
    sides = [_written(draw(_header_edits(header)), draw(_edits(blocks, new)), gaps, each) for each in (shape, other)]
    return _written(header, blocks, gaps, shape), sides[0], sides[1]
