"""What stands in where no model is configured: a provider that answers with the best passages, quoted and linked."""

from dataclasses import dataclass

from agent.app.recalling import Recall
from agent.context.anchor import Language
from agent.llm.messages import Assistant, Reply, Request, Usage, User
from agent.llm.offline import Offline, Quoted, extractive
from agent.llm.provider import Cancelled, Model, OnText, ignore, never

PASSAGES = 5


@dataclass(frozen=True, slots=True)
class Quoting:
    """A `Provider` that cannot think and says so; it costs nothing and calls nobody."""

    recall: Recall
    language: Language

    @property
    def model(self) -> Model:
        return Offline().model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The passages that fit what the person said last."""
        asked = next((each.text for each in reversed(request.messages) if isinstance(each, User)), "")
        hits = self.recall.search(asked, PASSAGES).hits
        quoted = [
            Quoted(hit.path, hit.passage, hit.lines, hit.headings[-1] if hit.headings else "", hit.title)
            for hit in hits
        ]
        text = extractive(asked, quoted, self.language)
        on_text(text)
        return Reply(Assistant(text), Usage(), "end", self.model.name)
