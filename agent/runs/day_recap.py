"""What a day was about, in lines, for answers without a model: what was said on it, changed by hand and asked.

The day's own note has what was said only once the day was summed up, and without what is recalled beside it.
"""

from datetime import date
from pathlib import PurePosixPath

from agent.memory.daily import cut
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.recall.asker import Asker
from agent.memory.store import PastEvent, past_events
from agent.texts import Language, text
from agent.tools.text_origin import TextOrigin
from agent.vault.store import Vault

_LINE = 120
"""The most characters of a line."""
_NOTES, _ASKED = 8, 4
"""The most notes, and the most tasks, that are named."""


def recap(vault: Vault, foreign: TextOrigin, day: date, asker: Asker, language: Language) -> str:
    """The lines about a day, for the owner; without text of others, and without what is forgotten."""
    stones = load_tombstones(vault)
    events = [each for each in reversed(past_events(vault, day, day)) if not _is_of_others(vault, foreign, each, asker)]
    lines = {kind: [each for each in events if each.kind == kind] for kind in ("said", "edited", "asked")}
    rows = [f"- {each.time} {_cut(stones.left_of_log(each.text))}" for each in lines["said"] if not each.is_replaced]
    notes = [f"[[{PurePosixPath(each.path).stem}]]" for each in lines["edited"] if each.path.endswith(".md")]
    told = {_cut(each.text) for each in lines["said"]}
    tasks = dict.fromkeys(_cut(stones.left_of_log(each.text)) for each in lines["asked"] if each.link)
    asked = [f"“{each}”" for each in tasks if each and each not in told]
    comma = text("recap.comma", language)
    rows += [text("recap.edited", language, notes=comma.join(notes[:_NOTES]))] if notes else []
    rows += [text("recap.asked", language, tasks=comma.join(asked[-_ASKED:]))] if asked else []
    return "\n".join(row for row in rows if row.strip("- :0123456789"))


def _is_of_others(vault: Vault, foreign: TextOrigin, event: PastEvent, asker: Asker) -> bool:
    if event.kind == "said" and (event.sender != asker.sender or event.chat):
        return True
    return bool(foreign.source(event.path, vault.read(event.path) or b"", event.lines or (1, 1)))


def _cut(words: str) -> str:
    return cut(" ".join(words.split()), _LINE)
