"""A Markdown text, read in all the ways in which editors may differ.

They differ in whether they know tables, what they take for indented code, and what for the definition of a link (a
footnote looks like one, and is shown): what one reading takes for code or for a definition, another one shows. In all
of them a picture by reference is a picture, wherever its address may be defined.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, product

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

_RULES = {
    "table": re.compile(r"^[^\w\n]*-[^\w\n]*$", re.MULTILINE),
    "reference": re.compile(r"\]:"),
    "code": re.compile(r"[ ]{4}|\t"),
}
"""The rules in which editors differ, each with what a text has in which it makes a difference."""
_NO_PICTURE = re.compile(r"!(?:\[\^|\[\[[^\[\]\n]*\]\](?!\[))")
"""An exclamation mark before a footnote, and an embed."""
_NESTING = 100
"""The most lists, quotes and brackets in each other that are read."""


def parsed(text: str, is_wanted: Callable[[str], bool]) -> tuple[Sequence[Token], ...]:
    """The tokens of the text, in each of the readings that make a difference to it; what is in a paragraph only if it
    is wanted."""
    found = [rule for rule, begin in _RULES.items() if begin.search(text)]
    readings = product(*([(), (rule,)] for rule in found))
    known: dict[str, list[Token]] = {}
    return tuple(_read(_parser(frozenset(chain(*rules))), text, is_wanted, known) for rules in readings)


def parsed_line(text: str) -> Sequence[Token]:
    """The tokens of a text that is no block."""
    return _parsed_inline(_parser(frozenset()), text, {})


class _Parser(MarkdownIt):
    """Takes every address as a link: which of them do nothing is decided elsewhere."""

    def validateLink(self, url: str) -> bool:
        return True


def _read(
    parser: _Parser, text: str, is_wanted: Callable[[str], bool], known: dict[str, list[Token]]
) -> Sequence[Token]:
    """The tokens of one reading; `known` are those of the paragraphs that mean the same without definitions."""
    env: EnvType = {}
    tokens = parser.parse(text, env)
    for token in tokens:
        if token.type == "inline" and is_wanted(token.content):
            if env.get("references"):
                token.children = _parsed_inline(parser, token.content, env)
            else:
                if token.content not in known:
                    known[token.content] = _parsed_inline(parser, token.content, env)
                token.children = known[token.content]
    return tokens


def _parsed_inline(parser: _Parser, text: str, env: EnvType) -> list[Token]:
    tokens: list[Token] = []
    parser.inline.parse(text, parser, env, tokens)
    return tokens


@cache
def _parser(rules: frozenset[str]) -> _Parser:
    """The parser with these of the rules in which editors differ."""
    parser = _Parser("commonmark", {"maxNesting": _NESTING})
    parser.enable([*rules], ignoreInvalid=True).disable([*(_RULES.keys() - rules)])
    parser.inline.ruler.after("image", "picture_by_reference", _picture_by_reference)
    parser.core.ruler.disable("inline")
    return parser


def _picture_by_reference(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("![", state.pos) or _NO_PICTURE.match(state.src, state.pos):
        return False
    end = state.md.helpers.parseLinkLabel(state, state.pos + 1, disableNested=False)
    if end < 0:
        return False
    if not silent:
        state.push("image", "", 0).attrs["src"] = state.src[state.pos + 1 : end + 1]
    state.pos = end + 1
    return True
