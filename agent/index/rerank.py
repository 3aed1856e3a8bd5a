"""The seam for a second look at the best hits, by a model that reads question and passage together.

Nothing implements it yet. A reranker only puts hits in another order: it neither adds nor drops any.
"""

from collections.abc import Sequence
from typing import Protocol

from agent.index.hit import Hit


class Reranker(Protocol):
    """Orders hits anew."""

    def rerank(self, query: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The same hits, best first."""
        ...
