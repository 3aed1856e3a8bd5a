"""The kinds of research, and how much each of them may do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass

ResearchKind: TypeAlias = Literal["fact", "topic", "repository", "deep"]
KINDS: tuple[ResearchKind, ...] = get_args(ResearchKind)


@dataclass(frozen=True, slots=True)
class KindLimits:
    """What one kind of research may do. `calls`: searches and readings of a source, together. `questions`: the parts of
    its outline; `share`: the calls for one of them, before gaps are looked at; `searches`: searches of the web among
    them; `at_once`: researchers at a time. `has_critic`: a critic looks for contradictions and gaps."""

    calls: int
    questions: int
    share: int
    searches: int = 1
    at_once: int = 1
    has_critic: bool = False

    def share_of(self, questions: int) -> int:
        """The calls for each of so many questions: fewer of them may do more each, up to twice as much."""
        return min(self.questions * self.share // max(questions, 1), self.share * 2)


LIMITS: Mapping[ResearchKind, KindLimits] = MappingProxyType(
    {
        "fact": KindLimits(5, 1, 5),
        "topic": KindLimits(20, 4, 4),
        "repository": KindLimits(15, 1, 15),
        "deep": KindLimits(50, 6, 6, searches=2, at_once=4, has_critic=True),
    }
)
"""The calls are those of the seed. Of a topic's 20 and a deep research's 50, four and fourteen are left for gaps."""
