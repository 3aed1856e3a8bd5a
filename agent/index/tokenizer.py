"""The tokenizer of a static model, loaded from its file with the first text.

Loading takes 70 ms, in which no other thread can run. So a command that needs the tokens of one text, and has much else
to load, may have another process find them meanwhile.
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.index import tokenizer_process
from agent.index.on_demand import OnDemand
from agent.index.tokenizer_process import encoded, tokenizer_in
from agent.json_value import parse_json
from agent.prefetch import Prefetch

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SECONDS = 5.0
"""For the other process; it takes a tenth of one, and what it does not find is found here."""
_LONGEST = 2_000
"""Characters of a text that is worth another process."""


class FileTokenizer:
    """Tokenizes texts by the tokenizer in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._begun: tuple[str, Prefetch[list[int] | None]] | None = None

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        """The tokens of each text."""
        if self._begun is not None and [*texts] == [self._begun[0]]:
            found = self._begun[1].result()
            if found is not None:
                return [found]
        return encoded(tokenizer_of(self.file).get(), texts)

    def begin(self, text: str) -> None:
        """Have another process find the tokens of this text, which is asked for next; not if they are found at once."""
        if tokenizer_of(self.file).is_held:
            return
        package = find_spec("tokenizers")
        if package is None or package.origin is None or len(text) > _LONGEST:
            return
        words = [sys.executable, "-I", "-S", tokenizer_process.__file__]
        words += [str(Path(package.origin).parent.parent), str(self.file)]
        self._begun = text, Prefetch(lambda: _found_by(words, text))


def _found_by(words: Sequence[str], text: str) -> list[int] | None:
    """The tokens that another process finds; None if it fails, for whatever reason."""
    try:
        ended = subprocess.run(words, input=text.encode(), capture_output=True, timeout=_SECONDS, check=True)
        found: list[int] = parse_json(ended.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return found


@cache
def tokenizer_of(file: Path) -> OnDemand["Tokenizer"]:
    """The tokenizer in a file, the same for all who ask for it."""
    return OnDemand(lambda: tokenizer_in(str(file)))
