"""Language understanding by a model: asked in batches, at a limited cost, accepted only with a quote of the source.

Rules answer first; the model is asked about the rest. Its answer must have the format of the prompt and quote the texts
word for word; otherwise it is rejected and the answer of the rules is used. Texts that differ in a number or in a "not"
are never the same. Sending the prompt is left to the caller.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Fact, FactKind, Pair, SourceText, TextRelation
from agent.memory.understanding.statements import LONGEST, is_question
from agent.memory.understanding.wording import similarity, wording

Ask = Callable[[str, str], str]
"""Function from (prompt name, questions) to the model's answer; may raise `AgentError` or `OSError`."""

ITEMS = 20
"""The most questions in one batch, and in one call of `compare` or `facts`; the rest is left to the rules."""
CHARACTERS = 8_000
"""The most characters of one batch, about 2,000 tokens of English and 6,000 of Chinese."""
_ALIKE = 0.2
"""The Jaccard similarity from which the model is asked if two texts say the same."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelUnderstanding:
    """Asks a model for the answers that rules cannot give; the rules' answers are used if it fails or answers badly."""

    ask: Ask

    def compare(self, pairs: Sequence[Pair]) -> tuple[TextRelation, ...]:
        """The relation of the newer text of each pair to the older one."""
        found = list(RULES.compare(pairs))
        doubtful = [at for at, answer in enumerate(found) if answer is TextRelation.DIFFERENT and _is_near(pairs[at])]
        batch = _fitting([(at, {"newer": pairs[at].newer, "older": pairs[at].older}) for at in doubtful])
        for at, item in self._answers("compare", batch):
            if (answer := _relation(item, pairs[at])) is not None:
                found[at] = answer
        return tuple(found)

    def facts(self, sources: Sequence[SourceText]) -> tuple[tuple[Fact, ...], ...]:
        """The facts in each text: by the model for the texts that fit in one batch, by rules for the others."""
        found = list(RULES.facts(sources))
        batch = _fitting([(at, {"text": source.text}) for at, source in enumerate(sources) if source.text.strip()])
        answers = self._answers("facts", batch)
        quoted: dict[int, list[Fact]] = {}
        for at, item in answers:
            if (fact := _fact(item, sources[at])) is not None:
                quoted.setdefault(at, []).append(fact)
        for at, facts in quoted.items():
            found[at] = tuple(dict.fromkeys(facts))
        return tuple(found)

    def _answers(
        self, prompt: str, batch: Sequence[tuple[int, Mapping[str, str]]]
    ) -> list[tuple[int, Mapping[str, str]]]:
        """The parsed answers of the model, each with the position of its question; none if it fails."""
        if not batch:
            return []
        questions = [{"number": number, **texts} for number, (_, texts) in enumerate(batch, 1)]
        try:
            reply = self.ask(prompt, json.dumps(questions, ensure_ascii=False, indent=1))
            items = list(reply_items(reply))
        except (AgentError, OSError, ValueError, RecursionError) as error:
            logger.warning("the model's understanding is left out (%s): %s", prompt, error)
            return []
        places = {str(number): at for number, (at, _) in enumerate(batch, 1)}
        return [(places[item["number"]], item) for item in items if item.get("number") in places]


def _is_near(pair: Pair) -> bool:
    return similarity(wording(pair.newer), wording(pair.older)) >= _ALIKE


def _fitting(items: Sequence[tuple[int, Mapping[str, str]]]) -> list[tuple[int, Mapping[str, str]]]:
    """The questions from the first on, as many as fit in one batch."""
    batch: list[tuple[int, Mapping[str, str]]] = []
    room = CHARACTERS
    for at, texts in items[:ITEMS]:
        room -= sum(len(text) for text in texts.values())
        if room >= 0:
            batch.append((at, texts))
    return batch


def reply_items(reply: str) -> Iterator[Mapping[str, str]]:
    """The objects of the JSON array in a reply, a list in them as lines; raises `ValueError` if there is none."""
    begin, end = reply.find("["), reply.rfind("]")
    if begin < 0 or end < begin:
        raise ValueError("no JSON array in the answer")
    for item in json.loads(reply[begin : end + 1]):
        if isinstance(item, dict):
            yield {str(key): _text(value) for key, value in item.items()}


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _relation(item: Mapping[str, str], pair: Pair) -> TextRelation | None:
    """The relation that an answer gives to a pair; None if the format or a quote is wrong, or the texts differ in a
    number or negation."""
    quotes = (item.get("newer", ""), item.get("older", ""))
    if not all(quote.strip() for quote in quotes) or quotes[0] not in pair.newer or quotes[1] not in pair.older:
        return None
    match item.get("relation"):
        case TextRelation.CONTRADICTS:
            return TextRelation.CONTRADICTS
        case TextRelation.SAME:
            one, other = wording(pair.newer), wording(pair.older)
            is_like = one.numbers == other.numbers and one.negated == other.negated
            return TextRelation.SAME if is_like else None
        case _:
            return None


def _fact(item: Mapping[str, str], source: SourceText) -> Fact | None:
    """The fact in an answer; None unless its quote is part of one line of the source and not a question."""
    quote, kind = item.get("quote", "").strip(), item.get("kind", "")
    line = next((line.strip() for line in source.text.splitlines() if quote and quote in line), None)
    if line is None or kind not in set(FactKind) or len(quote) > LONGEST or is_question(quote):
        return None
    return Fact(quote, FactKind(kind), line)
