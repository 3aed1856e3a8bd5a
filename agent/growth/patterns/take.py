"""Takes in what a look for patterns has found: the notes about the person are brought up to date, in one commit."""

from collections.abc import Callable

from agent.events.growth import PatternDetected
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.look import TOOL, look
from agent.memory.profile.changes import propose_changes
from agent.runs.owner import profile_writing
from agent.runs.status import growth_account
from agent.texts import Sentence
from agent.vault.change import Stamp, actor_of
from agent.workspace.workspace import Workspace

_STAMP = Stamp(actor_of(growth_account("patterns")), tool=TOOL)


def take_patterns(workspace: Workspace, vectors: Vectors | None, publish: Callable[[object], object]) -> None:
    """Look, and write what has changed; `publish` is told of each pattern that no note had. Raises what a transaction
    raises."""
    vault, settings = workspace.vault, workspace.settings
    found = look(vault, settings.vault.language, workspace.clock.now(), vectors)
    proposed = propose_changes(profile_writing(workspace), found.changes)
    if proposed.requests:
        with vault.transaction(Sentence("patterns: what repeats"), _STAMP, masked=True) as change:
            change.requests += proposed.requests
    for each in found.written(proposed.blocks):
        publish(PatternDetected(each.id, each.kind, each.name, each.confidence, each.frequency))
