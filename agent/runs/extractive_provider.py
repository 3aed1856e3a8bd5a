"""The provider for vaults without a model: it answers with the best passages, quoted and linked.

The owner gets passages of all notes. For anybody else, and in a group, memories are limited to those that may be
recalled for the person who asks; other notes are only for the owner.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.index.hit import Hit
from agent.llm.messages import Assistant, Reply, Request, Usage, User
from agent.llm.offline import Offline, QuotedPassage, format_extracts
from agent.llm.provider import Cancelled, Model, OnText, ignore, never
from agent.memory.recall.eligibility import SPARE, may_be_offered
from agent.memory.recall.recaller import plain
from agent.runs.recall_source import RecallSource
from agent.texts import Language

PASSAGES = 5


@dataclass(frozen=True, slots=True)
class ExtractiveProvider:
    """A `Provider` without a model; its answers say so. It costs nothing and sends nothing."""

    recall: RecallSource
    language: Language
    run: str = ""

    def of_run(self, run: str) -> "ExtractiveProvider":
        """The same for a run: the person who asks in it determines which notes may be quoted."""
        return replace(self, run=run)

    @property
    def model(self) -> Model:
        return Offline().model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The passages that fit the person's last message."""
        asked = next((each.text for each in reversed(request.messages) if isinstance(each, User)), "")
        text = format_extracts(asked, self._quoted(asked), self.language)
        on_text(text)
        return Reply(Assistant(text), Usage(), "end", self.model.name)

    def _quoted(self, question: str) -> Sequence[QuotedPassage]:
        asker = self.recall.ledger.asker(self.run)
        if asker is None:
            return []
        if asker.is_owner and not asker.chat:
            hits = self.recall.search(question, PASSAGES * SPARE).hits
            told = [hit for hit in hits if may_be_offered(hit) and plain(hit.passage) not in plain(question)]
            return [_passage(hit) for hit in told[:PASSAGES]]
        known = self.recall.recaller.recall(question, asker, PASSAGES, unasked=True).found
        hits = self.recall.others(question, PASSAGES).hits if asker.is_owner else ()
        return [*(QuotedPassage(each.path, each.text, each.lines) for each in known), *map(_passage, hits)][:PASSAGES]


def _passage(hit: Hit) -> QuotedPassage:
    return QuotedPassage(hit.path, hit.passage, hit.lines, hit.headings[-1] if hit.headings else "", hit.title)
