"""Vectors go into their index beside the reading of the next notes, and what goes wrong there is not lost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from agent.errors import Permanent
from agent.index.arrays import Floats
from agent.index.ingest import Placing


@dataclass
class FullIndex:
    """Takes no vectors."""

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        raise Permanent(f"no room for note {notes[0]}")


def test_what_goes_wrong_while_vectors_are_placed_is_raised() -> None:
    placing = Placing(FullIndex(), [7], [np.zeros((1, 4), np.float32)])
    with pytest.raises(Permanent, match="no room for note 7"):
        placing.wait()
