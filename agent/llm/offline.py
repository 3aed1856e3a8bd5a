"""The provider for a vault without a model, and answers made of quotations.

Choosing the passages is left to search.
"""

from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.llm.messages import Reply, Request
from agent.llm.provider import Cancelled, Model, OnText, ignore, never
from agent.texts import Language, text

MOST = 5
"""Passages quoted in an answer."""
_LONGEST = 900
"""Characters quoted of a passage: a paragraph or two."""


class Offline:
    """A `Provider` without a model; callers check `model.present` first."""

    @property
    def model(self) -> Model:
        return Model("offline", 32_768, 4_096, present=False)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """Always raises `ConfigError`: an invented answer could be mistaken for a model's."""
        raise ConfigError(
            "no language model is configured",
            hint="vault-agent config set llm.preset NAME (openai, anthropic, deepseek, ollama, …), "
            "or llm.base_url and llm.model",
        )


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage of a note; `lines` count from 1 in the file, inclusive; `heading` is the one above it, if any."""

    path: str
    text: str
    lines: tuple[int, int]
    heading: str = ""
    title: str = ""


def format_extracts(question: str, passages: Sequence[QuotedPassage], language: Language = "en") -> str:
    """An answer to `question` made of the first passages (best first), quoted and linked, as Markdown.

    It states that no model is configured and how to name one, and also when there is nothing to quote.
    """
    chosen = _distinct(passages)[:MOST]
    if not chosen:
        return f"{text('llm.nothing_to_quote', language)}\n\n{text('llm.name_a_model', language)}"
    quotes = [f"{_quote(each.text)}\n>\n> {_source(each, language)}" for each in chosen]
    return "\n\n".join([text("llm.quotations", language), *quotes, text("llm.name_a_model", language)])


def _distinct(passages: Sequence[QuotedPassage]) -> list[QuotedPassage]:
    """The passages that have text, each text once."""
    found: dict[str, QuotedPassage] = {}
    for passage in passages:
        if passage.text.strip():
            found.setdefault(" ".join(passage.text.split()), passage)
    return list(found.values())


def _quote(passage: str) -> str:
    passage = passage.strip("\n")
    if len(passage) > _LONGEST:
        passage = f"{passage[:_LONGEST].rstrip()} …"
    return "\n".join(f"> {line}".rstrip() for line in passage.splitlines())


def _link(passage: QuotedPassage) -> str:
    """`[[path#heading|title]]`; characters that would end the link early are removed from the shown text."""
    target = passage.path.removesuffix(".md")
    heading = _plain(passage.heading)
    shown = _plain(passage.title) or _plain(target.rpartition("/")[2])
    return f"[[{target}{'#' + heading if heading else ''}|{shown}]]"


def _plain(name: str) -> str:
    return " ".join("".join(" " if sign in "[]|#^" else sign for sign in name).split())


def _source(passage: QuotedPassage, language: Language) -> str:
    first, last = passage.lines
    if first == last:
        return text("llm.quoted_from_line", language, link=_link(passage), first=first)
    return text("llm.quoted_from", language, link=_link(passage), first=first, last=last)
