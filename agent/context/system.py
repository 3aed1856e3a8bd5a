"""The system message of a conversation: the agent's role, its owner, their AGENT.md, the skills, and the safety rules.

It is written once, when a conversation begins, and sent again to the letter. It contains no day and no clock time, so
a provider's cache matches from step to step, and from conversation to conversation.
"""

from collections.abc import Sequence

from agent.context.prompt import VaultReader, fill
from agent.markdown.note import Note
from agent.texts import Language, text
from agent.vault.folders import AGENT_NOTE


def system_part(read: VaultReader, language: Language, folder: str = "", fixed: Sequence[str] = ()) -> str:
    """The fixed part of a conversation; `folder` is that of the agent's notes, empty for the vault's root, and `fixed`
    are the texts about the owner and the skills.

    `read` reads the vault. Raises `UserError` for one of the vault's prompts with a wrong variable.
    """
    parts = [fill("system", read, language=text("prompt.language_rule", language))]
    if folder:
        parts.append(text("prompt.folder", language, folder=folder))
    said = Note.parse(read(AGENT_NOTE) or b"").body.strip()
    if said:
        parts.append(f"What your owner says ({AGENT_NOTE})\n\n{said}")
    parts += filter(None, fixed)
    parts.append(fill("safety", read))
    return "\n\n".join(parts)
