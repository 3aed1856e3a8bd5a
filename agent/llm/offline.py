"""No model: the stand-in that says so, and answers made of quotations, for when nobody has named a model.

Which passages are the best is the search's; this only puts them before the reader.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent.errors import ConfigError
from agent.llm.messages import Reply, Request
from agent.llm.provider import Cancelled, Model, OnText, ignore, never

Language: TypeAlias = Literal["en", "zh"]
MOST = 5
"""Passages that an answer quotes."""
_LONGEST = 900
"""Characters of a passage that are quoted: a paragraph or two."""

_NOT_CONFIGURED = "no language model is configured"
_HINT = "vault-agent config set llm.preset NAME (openai, anthropic, deepseek, ollama, …), or llm.base_url and llm.model"

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "found": "No language model is configured, so this is not an answer in words of its own, but what your notes "
        "say that comes closest to the question:",
        "nothing": "No language model is configured, and nothing in your notes fits the question. Other words may.",
        "how": "To get answers, name a model: `vault-agent config set llm.preset ollama` for one on this machine, or "
        "`openai`, `anthropic` or `deepseek` with the key in `llm.api_key`.",
        "from": "From",
        "lines": "lines",
    },
    "zh": {
        "found": "尚未配置语言模型，因此这里不是组织好的回答，而是笔记中与问题最接近的原文：",
        "nothing": "尚未配置语言模型，笔记中也没有找到与问题相符的内容。可以换一种说法再试。",
        "how": "要得到回答，请指定一个模型：本机模型用 `vault-agent config set llm.preset ollama`，"
        "也可以用 `openai`、`anthropic` 或 `deepseek`，并在 `llm.api_key` 中给出密钥。",
        "from": "出自",
        "lines": "行",
    },
}


class Offline:
    """A `Provider` that cannot think; whoever asks looks at `model.present` first."""

    @property
    def model(self) -> Model:
        return Model("offline", 32_768, 4_096, present=False)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """Raises `ConfigError`, always: an invented answer would be taken for a model's."""
        raise ConfigError(_NOT_CONFIGURED, hint=_HINT)


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage of a note, `lines` from 1 in the file, inclusive; `heading` is the one it stands under, if any."""

    path: str
    text: str
    lines: tuple[int, int]
    heading: str = ""
    title: str = ""


def format_extracts(question: str, passages: Sequence[QuotedPassage], language: Language = "en") -> str:
    """An answer to `question` made of the first passages (best first), quoted and linked, as Markdown.

    Says that no model is configured and how to name one, and says so when there is nothing to quote.
    """
    words = _WORDS[language]
    chosen = _distinct(passages)[:MOST]
    if not chosen:
        return f"{words['nothing']}\n\n{words['how']}"
    shown = [f"{_quote(each.text)}\n>\n> {words['from']} {_link(each)}, {_lines(each, words)}" for each in chosen]
    return "\n\n".join([words["found"], *shown, words["how"]])


def _distinct(passages: Sequence[QuotedPassage]) -> list[QuotedPassage]:
    """The passages that say something, each text once."""
    found: dict[str, QuotedPassage] = {}
    for passage in passages:
        if passage.text.strip():
            found.setdefault(" ".join(passage.text.split()), passage)
    return list(found.values())


def _quote(text: str) -> str:
    text = text.strip("\n")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST].rstrip()} …"
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _link(passage: QuotedPassage) -> str:
    """`[[path#heading|title]]`; signs that would end the link early are left out of what is shown."""
    target = passage.path.removesuffix(".md")
    heading = _plain(passage.heading)
    shown = _plain(passage.title) or _plain(target.rpartition("/")[2])
    return f"[[{target}{'#' + heading if heading else ''}|{shown}]]"


def _plain(text: str) -> str:
    return " ".join("".join(" " if sign in "[]|#^" else sign for sign in text).split())


def _lines(passage: QuotedPassage, words: dict[str, str]) -> str:
    first, last = passage.lines
    return f"{words['lines']} {first}–{last}"
