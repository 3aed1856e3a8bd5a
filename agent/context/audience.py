"""Who is given what: which texts a model gets, by who asks. The one place where that is decided.

It is a list of what may be given: a source that it does not name is for the owner alone. A guest's model gets what the
guest has said (`memories` are each person's own) and the program's instructions, so none of the owner's prompts either.
"""

from collections.abc import Mapping
from enum import Enum, auto

from agent.context.prompt import VaultReader, nothing
from agent.events.receipt import MEMORIES

PROFILE = "profile"
"""The name of the block about the owner."""


class Audience(Enum):
    """The person whose run it is, and who else reads its answers."""

    OWNER = auto()
    GROUP = auto()
    """The owner, where others read along."""
    GUEST = auto()


_ALL = frozenset(Audience)
_OWNERS = frozenset({Audience.OWNER, Audience.GROUP})
_ALONE = frozenset({Audience.OWNER})
GIVEN: Mapping[str, frozenset[Audience]] = {
    MEMORIES: _ALL,
    "skills": _OWNERS,
    "skill_index": _OWNERS,
    "reflection": _OWNERS,
    "notice": _OWNERS,
    "curiosity": _ALONE,
    PROFILE: _ALONE,
    "rules": _ALONE,
}
"""The audiences of each source of texts, by its name: those asked when a task begins, and those that add texts while a
run goes on."""


def audience_of(role: str, *, group: bool) -> Audience:
    """The audience of a run for a person in this role, in a group or not."""
    if role != "owner":
        return Audience.GUEST
    return Audience.GROUP if group else Audience.OWNER


def may_be_given(source: str, audience: Audience) -> bool:
    """True if the audience's model may be given texts of the source."""
    return audience in GIVEN.get(source, _ALONE)


def reader_for(audience: Audience, read: VaultReader) -> VaultReader:
    """`read` for the prompts of a run; for a guest one that finds none of the owner's, so that the program's are
    used."""
    return nothing if audience is Audience.GUEST else read
