"""The provider for a vault without a model, and answers made of quotations, also for a model that does not answer.

Choosing the passages is left to search.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.llm.messages import Cancelled, Model, OnText, Reply, Request, ignore, never
from agent.texts import Language, text, translated

ModelState: TypeAlias = Literal["none", "known", "silent"]
"""Why no model answers: none is configured, which its person knows by now or not; or the one there is does not."""
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
    """A passage of a note; `lines` count from 1 in the file, inclusive; `heading` is the one above it, if any.

    `is_entry`: the note is one memory, and the passage all of it.
    """

    path: str
    text: str
    lines: tuple[int, int]
    heading: str = ""
    title: str = ""
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """The passages found for a question, best first; `is_by_chance`: none of them has a word of it. `is_asked` is False
    for a message that asks nothing, and of which nothing will be remembered; `wants`: it wants something done, or
    forgotten. `unsearched`: why the search was not whole; empty if it was."""

    passages: Sequence[QuotedPassage] = ()
    is_by_chance: bool = False
    is_asked: bool = True
    wants: Literal["", "work", "forgetting"] = ""
    unsearched: str = ""


def format_reply(
    statements: Sequence[str], quoted: Quoted | None, language: Language, done: str = "", model: ModelState = "none"
) -> str:
    """The statements of a message that will be remembered, what was `done` because of it, and the passages that fit
    what it asks (None: it asks nothing).

    The first reply of a conversation states that no model is configured and how to name one; later ones are short. In
    place of a model that is `silent`, each states that.
    """
    parts = [text("llm.kept", language), *map(_quote, statements)] if statements else []
    parts += [done] if done else []
    chosen = _distinct(quoted.passages)[:MOST] if quoted else []
    parts += [text(key, language) for key in _sentence_keys(quoted, bool(parts), bool(chosen), model)]
    if quoted is not None and quoted.unsearched and (quoted.is_by_chance or not chosen):
        parts.append(text("llm.unsearched", language, why=translated(quoted.unsearched, language)))
    parts += [f"{_quote(each.text)}\n>\n> {_source(each, language)}" for each in chosen]
    first = [text("llm.silent", language)] if model == "silent" else []
    return "\n\n".join([*first, *parts, *([text("llm.name_a_model", language)] if model == "none" else [])])


_OF_A_QUESTION = {
    (True, True): "llm.quotations",
    (True, False): "llm.quotations_again",
    (False, True): "llm.nothing_to_quote",
    (False, False): "llm.nothing_again",
}
"""The sentence for a question: whether something was found, and whether it is the first of a conversation."""


def _sentence_keys(quoted: Quoted | None, is_answered: bool, is_found: bool, model: ModelState) -> tuple[str, ...]:
    """The names of the sentences that stand before the quotations, or in place of them."""
    is_first, now = model == "none", "_now" if model == "silent" else ""
    quotations = ("llm.quotations_again",) if is_found else ()
    if quoted is None:
        return () if is_answered else (f"llm.nothing_asked{now}",)
    if quoted.wants:
        return (f"llm.not_done{now}" if quoted.wants == "work" else "llm.to_forget", *quotations)
    if not quoted.is_asked:
        return ("llm.nothing_kept", *quotations)
    if is_found and quoted.is_by_chance:
        return ("llm.by_chance",)
    return (_OF_A_QUESTION[is_found, is_first],)


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
    heading = _link_label(passage.heading)
    label = _link_label(passage.title) or _link_label(target.rpartition("/")[2])
    return f"[[{target}{'#' + heading if heading else ''}|{label}]]"


def _link_label(name: str) -> str:
    return " ".join("".join(" " if sign in "[]|#^" else sign for sign in name).split())


def _source(passage: QuotedPassage, language: Language) -> str:
    first, last = passage.lines
    if passage.is_entry:
        return text("llm.quoted_entry", language, link=f"[[{PurePosixPath(passage.path).stem}]]")
    if first == last:
        return text("llm.quoted_from_line", language, link=_link(passage), first=first)
    return text("llm.quoted_from", language, link=_link(passage), first=first, last=last)
