"""The quick reader of plain headers gives what the strict one gives, or nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import BadNote
from agent.markdown.note import parse_plain_header
from agent.markdown.yaml_read import parse_header
from agent.markdown.yaml_write import Value, same

PIECES = [
    *("id", "type", "created", "scope", "key", "_x", "a1", "true", "null", "12"),
    *(
        ":",
        ": ",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "- ",
        "  - ",
        "-",
        "#",
        " # said",
        "[",
        "]",
        "[]",
        "{}",
        ", ",
        ",",
        '"',
        "'",
    ),
    *("~", "null", "0123", "0x1f", "1e3", "12:30", "2026-11-01", "2026-11-01T18:59:01+00:00", "2026-02-30", ".5", "+3"),
    *(
        "会议",
        "会，议。",
        "é",
        "a/b.md",
        "a:b",
        "a b",
        "a, b",
        "[[a]]",
        "|",
        ">",
        "&a",
        "*a",
        "!t",
        "?",
        "---",
        "...",
        "%",
        "@",
        "`",
        "\t",
    ),
    *("\u2028", "\ufeff", "\x7f", "\\n", "<<", "=", "..", "yes"),
]
GOOD = st.sampled_from([piece for piece in PIECES if piece[0].isalnum()])
WORD = GOOD | st.lists(st.sampled_from([piece for piece in PIECES if "\n" not in piece]), max_size=3).map("".join)
ITEM = st.one_of(GOOD, WORD, st.sampled_from(PIECES), st.text(max_size=6))
KEY = st.sampled_from(["id", "type", "key", "_x", "a1", "true"]) | st.sampled_from(["k-1", "a b", "12", ""])
LINES = st.one_of(
    st.tuples(KEY, WORD).map(lambda pair: f"{pair[0]}: {pair[1]}\n"),
    st.tuples(KEY, st.lists(ITEM, max_size=3)).map(lambda pair: f"{pair[0]}: [{', '.join(pair[1])}]\n"),
    st.tuples(KEY, st.lists(ITEM, min_size=1, max_size=3)).map(
        lambda pair: f"{pair[0]}:\n" + "".join(f'  - "{item}"\n' for item in pair[1])
    ),
    st.tuples(KEY, st.lists(ITEM | ITEM.map('"{}"'.format), min_size=1, max_size=3)).map(
        lambda pair: f"{pair[0]}:\n" + "".join(f"  - {item}\n" for item in pair[1])
    ),
    st.tuples(KEY, ITEM).map(lambda pair: f'{pair[0]}: "{pair[1]}"\n'),
    st.tuples(KEY, KEY, ITEM).map(lambda parts: f'{parts[0]}: {{{parts[1]}: "{parts[2]}"}}\n'),
    st.tuples(KEY, st.lists(WORD, max_size=3)).map(lambda pair: f"{pair[0]}: {' '.join(pair[1])}\n"),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
HEADERS = st.lists(LINES, max_size=5).map("".join)


@given(HEADERS)
@settings(max_examples=400, deadline=None)
def test_what_is_read_at_a_glance_is_what_the_strict_reader_reads(text: str) -> None:
    found = parse_plain_header(text)
    if found is None:
        return
    strict: dict[str, Value] = {entry.key: entry.value for entry in parse_header(text)}
    assert same(found, strict)


@pytest.mark.parametrize(
    "text",
    [
        "id: 01HZ\ntype: chat_turn\ncreated: 2026-11-01T18:59:01+00:00\nkeywords: []\n",
        'keywords: [会议, 预算]\nevidence:\n  - "[[sessions/2026/11/2026-11-01-talk]]"\n  - ""\n',
        'id: cleanup\ntype: job\non: {cron: "30 3 * * *"}\npriority: 2\n',
        "title: 九点 的 会议 2026\ntold: \"yes: 'no' # 3\"\nat: 2026-11-01 18:59:01 +01:00\n",
        'summary: What drives you, and when.\nkeywords:\n  - plans\n  - 12\n  - "[[a]]"\nconfidence: 0\n',
        "summary: 你在追求什么，什么在驱动你。\nkeywords:\n  - 目标\n  - 计划\n",
        "a: 12:30\nb: 0123\nc: 1e3\nd: 2026-02-30\ne: null\nf: [true, 3, x]\n",
    ],
)
def test_what_is_mostly_written_is_read_at_a_glance(text: str) -> None:
    found = parse_plain_header(text)
    assert found is not None and same(found, {entry.key: entry.value for entry in parse_header(text)})


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: b: c\n",
        "a: &x y\n",
        "a: *x\n",
        "a: !t y\n",
        'a:\n  - "\\n"\n',
        "a: x\n  y\n",
        "a: [x\n",
        'a: "b" c\n',
        'a: {b: "c", b: "d"}\n',
        "a: b #c\n",
        "a:\n  - b: c\n",
        "a:\n  - - b\n",
        "a:\n  - b\n    c\n",
        "a: b,\n",
    ],
)
def test_what_is_wrong_or_not_plain_is_left_to_the_strict_reader(text: str) -> None:
    assert parse_plain_header(text) is None


def test_a_key_that_stands_twice_is_still_refused() -> None:
    with pytest.raises(BadNote):
        parse_header("a: 1\na: 2\n")
