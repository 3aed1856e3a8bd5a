"""The system message of a session: the agent's role, the owner's AGENT.md, and the safety rules.

It is written once, when a session begins, and recorded with it. It contains no clock time, so a provider's cache
matches from step to step, and from session to session of a day.
"""

from datetime import date

from agent.context.prompt import VaultReader, fill
from agent.markdown.note import Note
from agent.texts import Language, text
from agent.vault.folders import AGENT_NOTE

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def system_part(read: VaultReader, today: date, language: Language, folder: str = "") -> str:
    """The fixed part for a session that begins today; `folder` is that of the agent's notes, empty for the vault's
    root.

    `read` reads the vault. Raises `UserError` for one of the vault's prompts with a wrong variable.
    """
    day = f"{_DAYS[today.weekday()]}, {today.isoformat()}"
    parts = [fill("system", read, today=day, language=text("prompt.language_rule", language))]
    if folder:
        parts.append(text("prompt.folder", language, folder=folder))
    said = Note.parse(read(AGENT_NOTE) or b"").body.strip()
    if said:
        parts.append(f"What your owner says ({AGENT_NOTE})\n\n{said}")
    parts.append(fill("safety", read))
    return "\n\n".join(parts)
