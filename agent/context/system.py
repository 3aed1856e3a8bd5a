"""The system message of a session: the agent's role, the owner's AGENT.md, the learned rules, and the safety rules.

It is written once, when a session begins, and recorded with it. It contains no clock time, so a provider's cache
matches from step to step, and from session to session of a day.
"""

from collections.abc import Sequence
from datetime import date

from agent.context.prompt import VaultReader, fill
from agent.markdown.note import Note
from agent.texts import Language, text
from agent.vault.folders import AGENT_NOTE

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def system_part(read: VaultReader, today: date, language: Language, rules: Sequence[str] = (), folder: str = "") -> str:
    """The fixed part for a session that begins today; `rules` are the learned rules that are active;
    `folder` is that of the agent's notes, empty for the vault's root.

    `read` reads the vault. Raises `UserError` for one of the vault's prompts with a wrong variable.
    """
    day = f"{_DAYS[today.weekday()]}, {today.isoformat()}"
    parts = [fill("system", read, today=day, language=text("prompt.language_rule", language))]
    if folder:
        parts.append(text("prompt.folder", language, folder=folder))
    said = Note.parse(read(AGENT_NOTE) or b"").body.strip()
    if said:
        parts.append(f"What your owner says ({AGENT_NOTE})\n\n{said}")
    learned = "\n".join(f"- {' '.join(rule.split())}" for rule in rules if rule.strip())
    if learned:
        parts.append(f"What you have learned to do here\n{learned}")
    parts.append(fill("safety", read))
    return "\n\n".join(parts)
