"""What is likely misspelt in the header of a job: a key that is nearly one of a job's, and a channel that there is not.

A person's own keys make no noise. A job with a warning runs all the same, since somebody may wait for it; but not one
with a misspelt key of those that say whether, where and for how much it may run.
"""

from collections.abc import Collection

from agent.config.settings import channel_names
from agent.config.values import meant
from agent.schedule.header_fields import WrongField
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL
from agent.texts import Sentence, joined

_HOLD_BACK = frozenset({"status", "approval_required", "spend", "run_on", "user_id"})
_OWN = frozenset(
    (
        *("tags", "tag", "aliases", "alias", "cssclasses", "cssclass", "publish", "permalink", "description", "image"),
        *("cover", "author", "date", "modified", "updated", "up", "related", "parent", "links", "sources", "category"),
        *(
            "categories",
            "area",
            "project",
            "context",
            "contexts",
            "notes",
            "tasks",
            "users",
            "conflicts",
            "conflict_of",
        ),
        *("untrusted", "sender_id", "previous_id"),
    )
)
"""Keys of Obsidian, of its plugins and of other notes, which are near to one of a job's by chance."""


def misspelt_keys(
    others: Collection[str], known: Collection[str]
) -> tuple[list[tuple[str, WrongField]], list[Sentence]]:
    """The errors and the warnings of keys that are nearly one of those that are known; an error has its key."""
    errors, warnings = list[tuple[str, WrongField]](), list[Sentence]()
    for key in others:
        near = "" if key.casefold() in _OWN else meant(key, known)
        if near and near in _HOLD_BACK:
            hint = "did you mean {names}? A key of your own needs another name"
            errors.append((key, WrongField("this is no setting of a job", hint=hint, names=near)))
        elif near:
            warnings.append(Sentence("{key} is no setting of a job; did you mean {near}?", key=key, near=near))
    return errors, warnings


def unknown_channel(channel: str) -> list[Sentence]:
    """The warning of a channel that there is not, with the one that is likely meant; none for one that there is."""
    name = channel.partition(":")[0]
    known = [DAILY_CHANNEL, NO_CHANNEL, *channel_names()]
    if name in known:
        return []
    if near := meant(name, known):
        return [Sentence("there is no channel {name}; did you mean {near}?", name=name, near=near)]
    return [Sentence("there is no channel {name}; there are {names}", name=name, names=joined(known, ", "))]
