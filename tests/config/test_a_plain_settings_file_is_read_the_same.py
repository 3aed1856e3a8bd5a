"""The quick reader of settings files reads what the YAML parser reads, or leaves the file to it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.config.file import parse_settings
from agent.config.resources import resource
from agent.config.text_file import parse_plain_settings
from agent.texts import LANGUAGES
from agent.vault.template import read_template

_PIECES = (
    *("git:", "durable: true", "llm:", "fast:", "model: a/b-c_1.2", 'folder: ""', "share: 0.05", "at: 9:30", "x:"),
    *("key: null", "key: nullable", "key: ~", "key: a b", "key: 'a'", "key: a:", "key: [a]", "key: {a: 1}", "a: b: c"),
    *("# words …", "key: word # why", "key: word#x", "git: # mine", "git:#no", "- a", "---", "...", "%YAML 1.1"),
    *("key: &a b", "key: *a", "key: !t b", "key: |", "key: a\tb", "\tkey: a", "key:\u2028a", "# \u2028git:", "# \x07"),
    *("key: a\r", "Key: a", "1: a", "null: a", "", " ", "? a", ": b", "key:  two", "key: word  ", '"key": a'),
    *(
        'folder: "Agent/"',
        'key: "a b # c: d"',
        'key: "12"',
        'key: " 助手/ "',
        'key: "a\\tb"',
        'key: "a"b',
        'key: "a" # why',
        'key: "',
    ),
)
_LINES = st.builds(
    lambda indent, piece: " " * indent + piece, st.sampled_from((0, 0, 1, 2, 2, 4)), st.sampled_from(_PIECES)
)
_TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(_LINES, max_size=8), st.sampled_from(("", "\n")))


@settings(max_examples=600)
@given(_TEXTS)
@example("a:\n  b: c\n d: e")
@example("a:\n b: c\na:\n b: c")
@example("a:\n  b:\n    c: d\n  e: f\ng: h # i")
def test_what_it_reads_is_what_yaml_says(text: str) -> None:
    plain = parse_plain_settings(text)
    if plain is not None:
        parsed = parse_settings(text, "f").entries
        assert dict(plain) == {key: (entry.text, entry.line) for key, entry in parsed.items()}


@pytest.mark.parametrize(
    "text",
    ["", "# mine\n", "git:\n  durable: true  # slow\n\nbrake:\n    notes: 20\nlog: x", 'vault:\n  folder: "助手/"'],
)
def test_the_usual_form_is_read_without_yaml(text: str) -> None:
    assert parse_plain_settings(text) is not None


def test_so_are_the_files_that_the_program_comes_with() -> None:
    vaults = [
        read_template(resource("vault_template"), language)["vault-agent.yaml"].decode() for language in LANGUAGES
    ]
    for text in [(resource("configs") / "defaults.yaml").read_text("utf-8"), *vaults]:
        assert parse_plain_settings(text)
