"""A model that does a task as a good one would: it says nothing that its request does not contain."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.llm.messages import (
    Assistant,
    Cancelled,
    Model,
    OnText,
    Reply,
    Request,
    System,
    ToolCall,
    Usage,
    User,
    ignore,
    never,
)
from tests.growth.fortnight import PlantedFact

_QUOTED = re.compile(r"“(?P<words>[^”\n]+)”[^\n]*?\(?(?P<link>\[\[[^\]\n]+\]\])")


@dataclass
class GoodModel:
    """A `Provider`. It knows where a statement of the person's belongs as a reader would (`facts`), and only of those
    that it is shown; `days` are the daily notes that it reads when it is asked about a note of the profile."""

    facts: tuple[PlantedFact, ...]
    days: tuple[str, ...] = ()
    requests: deque[Request] = field(default_factory=lambda: deque(maxlen=50))
    calls: int = 0

    @property
    def model(self) -> Model:
        return Model("good", 200_000, 4_000)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """Reads what it needs, then answers."""
        self.requests.append(request)
        self.calls += 1
        messages = [each for each in request.messages if not isinstance(each, System)]
        asked = next((each.text for each in messages if isinstance(each, User)), "")
        shown = "\n".join(each.text for each in messages if not isinstance(each, Assistant))
        wanted = [] if any(isinstance(each, Assistant) for each in messages) else list(self._reads(asked, request))
        if wanted:
            paths = enumerate(wanted)
            calls = tuple(ToolCall(f"c{self.calls}-{at}", "vault_read", {"path": path}) for at, path in paths)
            return Reply(Assistant("", calls), Usage(10, 10), "tools", "good")
        lines = list(self._lines(asked, shown))
        return Reply(Assistant("\n".join(lines) or "NOTHING"), Usage(10, 10), "end", "good")

    def _reads(self, asked: str, request: Request) -> Iterator[str]:
        if _target(asked) and any(tool.name == "vault_read" for tool in request.tools):
            yield from self.days

    def _lines(self, asked: str, shown: str) -> Iterator[str]:
        """For a note of the profile: the statements that belong there, each with the note that it was shown in."""
        target = _target(asked)
        links = {found["words"]: found["link"] for found in _QUOTED.finditer(shown)}
        for fact in self.facts:
            if fact.note == target and fact.quote in shown:
                stem = fact.path.removesuffix(".md").rpartition("/")[2]
                link = links.get(fact.quote, f"[[{stem}]]" if stem in shown else "")
                if link:
                    yield f'- {fact.quote} ({link} "{fact.quote}")'


def _target(asked: str) -> str:
    """The note of the profile that a task names."""
    found = re.search(r"\[\[profile/([^\]|]+)\]\]", asked)
    return found[1] if found else ""
