"""What was forgotten in a run is taken out of what was written about the run itself, once it is over.

While a run goes on, its session's note gets further records, and its name may have the words; the note of the day gets
a line about it afterwards.
"""

import threading
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.forgetting.forget import carry_out, ignore
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.memory.forgetting.places import find_places
from agent.texts import Language
from agent.vault.change import Stamp, actor_of
from agent.vault.store import Vault


@dataclass(slots=True)
class ForgettingsOfRuns:
    """What was forgotten in the runs of this process that are not over."""

    vault: Vault
    language: Language
    _forgotten: dict[str, list[ForgottenStatements]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def add(self, run: str, forgotten: ForgottenStatements) -> None:
        """Note that this was forgotten in a run, or in one that it has delegated to."""
        with self._lock:
            self._forgotten.setdefault(run.partition(".")[0], []).append(forgotten)

    def settle(self, event: TaskCompleted) -> None:
        """Take what was forgotten in a run out of what was written since."""
        with self._lock:
            found_in_run = self._forgotten.pop(event.run, [])
        for forgotten in found_in_run:
            found = find_places(self.vault, forgotten, {}, ignore)
            left = replace(found, forgotten=replace(found.forgotten, marks=frozenset()))  # its tombstone is there
            stamp = Stamp(actor_of(event.job, event.speaker.channel), run=event.run, session=event.session)
            if left.gone or left.changed:
                carry_out(self.vault, left, self.language, stamp=stamp)
