"""What each program has read from strangers lately, outside the vault: a program that connects again begins with it.

Nothing tells whether it goes on with the conversation in which it read that, and so what is unknown is not trusted, for
as long as a conversation is usually taken up again.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.tools.text_origin import without_path
from agent.vault import durable

REMEMBERED = timedelta(days=1)
"""The time after which a program that has read nothing more of strangers begins anew."""
_UNKNOWN = "what it has read before"


@dataclass(frozen=True, slots=True)
class ClientTaints:
    """The sources of strangers' text by program, one small file each in `folder`."""

    folder: Path
    clock: Clock

    def sources(self, actor: str) -> list[str]:
        """What this program has read from strangers; a file that cannot be read counts as something."""
        try:
            at, sources = parse_json(self._file(actor).read_text("utf-8"))
            is_over = self.clock.now() - datetime.fromisoformat(at) > REMEMBERED
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            return [_UNKNOWN]
        return [] if is_over else [str(each) for each in sources]

    def keep(self, actor: str, sources: Sequence[str]) -> None:
        """Record what this program has read from strangers by now; durable when this returns."""
        kept = list(dict.fromkeys(map(without_path, sources)))
        durable.replace(self._file(actor), json.dumps([self.clock.now().isoformat(), kept]))

    def _file(self, actor: str) -> Path:
        return self.folder / f"{sha256(actor.encode()).hexdigest()[:32]}.json"
