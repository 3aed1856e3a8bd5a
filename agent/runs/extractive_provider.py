"""The provider for vaults without a model: it answers with the best passages, quoted and linked.

They are memories that may be recalled for the person who asks, and for the owner passages of other notes, alternating,
the best of each first.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from agent.dataclass import dataclass
from agent.index.hit import Hit
from agent.llm.messages import Assistant, Reply, Request, Usage, User
from agent.llm.offline import Offline, QuotedPassage, format_extracts
from agent.llm.provider import Cancelled, Model, OnText, ignore, never
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
        floor = self.recall.workspace.settings.memory.floor
        known = self.recall.recaller.recall(question, asker, PASSAGES, unasked=True)
        notes = self.recall.others(question, PASSAGES).hits if asker.is_owner else ()
        notes = tuple(hit for hit in notes if plain(hit.passage) not in plain(question))
        found = known.above(floor).found
        memories = [QuotedPassage(each.path, each.text, each.lines) for each in found if each.text not in question]
        mixed = zip_longest(memories, map(_passage, notes))
        return [each for pair in mixed for each in pair if each is not None][:PASSAGES]


def _passage(hit: Hit) -> QuotedPassage:
    return QuotedPassage(hit.path, hit.passage, hit.lines, hit.headings[-1] if hit.headings else "", hit.title)
