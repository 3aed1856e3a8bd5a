"""Generated notes and header values, and whole notes, for the tests of laws."""

import subprocess
import tempfile
from pathlib import Path

from hypothesis import strategies as st

from agent.markdown.yaml_write import Value

_HERE = Path(__file__).parent
_VAULTS = _HERE.parents[2] / "shared" / "data" / "vaults"
NOTES = [*sorted((_HERE / "notes").glob("*.md")), *(sorted(_VAULTS.rglob("*.md")) if _VAULTS.is_dir() else [])]
"""Whole notes: those in `tests/markdown/notes`, and those of published vaults where they lie beside the project."""
CASES = (_HERE / "commonmark_cases.txt").read_text("utf-8").removesuffix("\n").split("\n%%\n")
"""Bodies in which CommonMark's rules for lists, quotes, fences, tables and headings meet."""

words = st.sampled_from(
    [
        "yes",
        "No",
        "12:30",
        "0123",
        "2026-01-01",
        "# x",
        "a: b",
        "",
        " pad ",
        "~",
        "null",
        "1e5",
        ".nan",
        "-",
        "---",
        "...",
    ]
    + [
        "[[Link]]",
        "买牛奶",
        "x # y",
        "tab\there",
        'quo"te',
        "it's",
        "two\nlines",
        "ends\n",
        "\n",
        "a\r\nb",
        "\u200fרtl",
    ]
    + [
        "=",
        "<<",
        "0o17",
        "1_000",
        "*star",
        "&and",
        "!bang",
        "%per",
        "@at",
        "`tick",
        "\x00",
        "\x85nel\u2028ls",
        "\ufeff",
    ]
)
texts = words | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.dates() | st.datetimes(timezones=st.none())
)
values: st.SearchStrategy[Value] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["status", "tags", "due", "类型", "a b", "yes", "x:y", "1", "#k", "new\nline"]) | texts

_header_lines = st.sampled_from(
    ["title: X # why", "tags:", "tags: [a, 'b']", "  - a", "- a", "  - b # two", "# comment", "", "  # deep", "1: one"]
    + ["text: |", "  body", "text: >-", "text: |+", "'quoted': \"v\"", "m:", "  k: v", "    deep: 1", "n: {a: 1}"]
    + [
        "date: 2026-01-01",
        "f: .nan",
        "long: [a,",
        "  b]",
        "...",
        "--- x",
        "bad: [",
        "bad: *alias",
        "other:",
        "p: a",
        "  b",
    ]
)
_bodies = st.sampled_from(
    ["", "\n", "text", "text\n", "# H\n\n- [ ] do\n", "---\nx: 1\n---\n", "\n\n---\n", "…\r\nx"]
) | st.text(max_size=30)


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """A note: with or without header, good or bad, LF or CRLF, byte order mark, missing newline, stray bytes."""
    lines = draw(st.lists(_header_lines, max_size=7))
    body = draw(_bodies)
    text = draw(
        st.sampled_from(
            [body, "\n".join(["---", *lines, "---", body]), "\n".join(["--- ", *lines, "---"]), "---\n" + body]
        )
    )
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    data = text.replace("\n", newline).encode("utf-8", "surrogatepass")
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return bom + data + draw(st.sampled_from([b"", b"", b"\xff\x00"]))


def git_merge_file(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """A line merge by git, as the vault does it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        run = subprocess.run(["git", "merge-file", "-p", "-q", *map(str, paths)], capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else None
