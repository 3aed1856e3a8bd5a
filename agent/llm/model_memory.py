"""What was learned of models on this machine: their windows, and what the person was told of them; a small file.

Losing it costs one more question to a server, or one more remark; so a file that cannot be read or written is ignored.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from agent.clock import Clock
from agent.config import private
from agent.llm.fields import items, mapping, moment, number, parsed, text
from agent.llm.messages import Json

FILE = "models.json"
"""Its name in the folder of the program's state."""
_LASTS = timedelta(days=7)
"""After this time a hosted server is asked for a window again: models are replaced under the same name."""
_MOST = 64
"""Models that are remembered, the last ones."""


class ModelMemory:
    """The memory in the file at `path`, or of this process only (None)."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._models: dict[str, Mapping[str, Json]] = {}

    def window(self, model: str) -> int:
        """The window of a model in tokens, 0 if none was learned lately."""
        known = self._load().get(model, {})
        is_fresh = self._clock.now() - moment(number(known.get("at"))) < _LASTS
        return number(known.get("window")) if is_fresh else 0

    def learn(self, model: str, window: int) -> None:
        """Remember a window; 0 is ignored."""
        if window:
            self._update(model, {"window": window, "at": int(self._clock.now().timestamp())})

    def tell_once(self, model: str, what: str) -> bool:
        """True if the person was not told this of the model before; now they are."""
        told = [text(each) for each in items(self._load().get(model, {}).get("told"))]
        if what in told:
            return False
        self._update(model, {"told": [*told, what]})
        return True

    def _load(self) -> dict[str, Mapping[str, Json]]:
        with suppress(OSError, ValueError):
            if self._path is not None:
                self._models = {name: mapping(each) for name, each in mapping(parsed(self._path.read_bytes())).items()}
        return self._models

    def _update(self, model: str, facts: Mapping[str, Json]) -> None:
        known = self._load()
        changed = {**known.pop(model, {}), **facts}
        self._models = dict([*known.items(), (model, changed)][-_MOST:])
        with suppress(OSError):
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                private.replace(self._path, json.dumps(self._models, indent=1))
