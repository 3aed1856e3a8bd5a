"""A stand-in for the models of a person: it reads a conversation as a good model would, and errs as one does.

It knows what each sentence of a file of conversations says, and nothing of the questions. As the fast model it quotes
these sentences, names the known fact that a correction replaces, and leaves out most of what is known. One fact in ten
it misses; one answer in ten is spoilt: by a quote of the assistant, by a quote of nobody, or by having no list at all.
As the main model it repeats what it was told, and sometimes adds a guess. Equal questions have equal answers.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, User, ignore, never
from agent.llm.providers import Providers
from agent.runs import accounts

MISSED, SPOILT, TOLD_AGAIN, GUESSED = 0.1, 0.1, 0.25, 0.2
"""Shares: of facts that are missed, of answers that are spoilt, of known facts that are quoted all the same, and of
answers to the person that end in a guess."""
GUESS = "My guess is that you have always liked it that way"
_KINDS = {
    "preference": "preference", "decision": "decision", "plan": "decision", "habit": "workflow", "health": "health",
    "person": "person", "family": "person", "name": "self", "work": "self", "home": "self",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence that states a fact; `replaces` are the words of any older value that it corrects."""

    quote: str
    kind: str
    replaces: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass
class StandIn:
    """A `Provider` for both roles. `asked` and `spoilt` count the conversations that it was to read."""

    tellings: Sequence[Telling]
    seed: int = 1
    asked: int = 0
    spoilt: int = 0
    model: Model = field(default=Model("stand-in", 32_768, 4_096))

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """Read a conversation, or answer the person."""
        last = next((each.text for each in reversed(request.messages) if isinstance(each, User)), "")
        begin = last.find('{\n "lines": ')
        said = self._answer(last) if begin < 0 else self._read(json.loads(last[begin:]))
        on_text(said)
        return Reply(Assistant(said), Usage(len(last) // 4, len(said) // 4), "end", self.model.name)

    def _answer(self, message: str) -> str:
        told = [each for each in self.tellings if each.quote in message]
        if not told:
            return "Here is what I would do."
        guess = f" {GUESS}: {told[0].quote}." if self._roll(message, "guess") < GUESSED else ""
        return f"Noted: {'; '.join(each.quote for each in told)}.{guess}"

    def _read(self, shown: Mapping[str, Any]) -> str:
        lines, known = shown["lines"], shown["known"]
        found = [
            {"number": line["number"], "kind": telling.kind, "quote": telling.quote,
             "keywords": telling.keywords, **_replaced(telling, known)}
            for line in lines if line["who"] == "person"
            for telling in self.tellings if telling.quote in line["text"] and self._quotes(telling, known)
        ]  # fmt: skip
        self.asked += 1
        talk = json.dumps(lines)
        if self._roll(talk, "spoilt") >= SPOILT:
            return json.dumps(found, ensure_ascii=False)
        self.spoilt += 1
        match int(self._roll(talk, "how") * 3):
            case 0:
                said = [each for each in lines if each["who"] == "assistant"]
                last = said[-1] if said else {"number": 1, "text": "Noted."}
                found.append({"number": last["number"], "kind": "other", "quote": last["text"]})
            case 1:
                found.append({"number": 1, "kind": "preference", "quote": "they are fond of long walks"})
            case _:
                return "Happy to help! The person told me several things about their life."
        return json.dumps(found, ensure_ascii=False)

    def _quotes(self, telling: Telling, known: Sequence[Mapping[str, str]]) -> bool:
        """True if this fact is quoted: it is noticed, and not known, or quoted all the same."""
        if self._roll(telling.quote, "missed") < MISSED:
            return False
        is_known = any(telling.quote in each["text"] for each in known)
        return not is_known or self._roll(telling.quote, "again") < TOLD_AGAIN

    def _roll(self, *about: str) -> float:
        return random.Random("|".join((str(self.seed), *about))).random()


def tellings(
    conversations: Mapping[str, Any], keywords: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[Telling, ...]:
    """The sentences of a file that state a fact or correct one, with the keywords that a model gives them."""
    facts = {each["id"]: each for each in conversations["facts"]}
    fixes = conversations["corrections"]
    told: list[tuple[str, str, tuple[str, ...]]] = [(each["says"], each["kind"], ()) for each in facts.values()]
    told += [(each["says"], facts[each["of"]]["kind"], tuple(map(str, each["stale"]))) for each in fixes]
    return tuple(
        Telling(says, _KINDS.get(kind, "other"), stale, tuple(keywords.get(says, ()))) for says, kind, stale in told
    )


@contextmanager
def in_place_of_models(model: StandIn) -> Iterator[None]:
    """This process asks the stand-in whenever it would ask a configured model."""
    names = vars(accounts)
    before = names["providers"]
    names["providers"] = lambda *_: Providers(model, model)
    try:
        yield
    finally:
        names["providers"] = before


def _replaced(telling: Telling, known: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The known fact that a correction replaces: the newest that states the older value."""
    keys = (
        each["key"] for each in known
        if telling.quote not in each["text"] and any(word in each["text"] for word in telling.replaces)
    )  # fmt: skip
    return {"do": "update", "key": key} if (key := next(keys, "")) else {}
