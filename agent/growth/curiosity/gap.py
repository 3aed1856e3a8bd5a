"""A gap: something that only the person knows, as a question with its reason and what is done without an answer."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.growth.beliefs.sign import Dimension

GapKind: TypeAlias = Literal["knowledge", "decision", "action", "judgement"]
Urgency: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class CuriousGap:
    """`question` is asked in one sentence, `why` says what for, `fallback` what is done without an answer. `options`
    are to choose from; for a belief, `dimension` and the `values` of the options. `subject` is the same whenever the
    gap is found again; `source` is a link to the note that shows it."""

    kind: GapKind
    subject: str
    question: str
    why: str
    fallback: str
    options: tuple[str, ...] = ()
    urgency: Urgency = "low"
    source: str = ""
    dimension: Dimension | None = None
    values: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same gap, whenever it is found."""
        return sha256(f"{self.kind}\n{self.subject}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
