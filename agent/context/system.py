"""The system message of a conversation: the agent's role, its owner, their AGENT.md, the skills, and the safety rules.

It is written once, when a conversation begins, and sent again to the letter. It contains no day and no clock time, so
a provider's cache matches from step to step, and from conversation to conversation.
"""

from collections.abc import Sequence
from datetime import datetime

from agent.context.prompt import VaultReader, fill
from agent.llm.messages import Context
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


MOMENT = "moment"
"""The source of its message."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NOBODY = (
    "You run as the job `{job}`. What you answer goes to {place}. Nobody can answer now: decide what you can decide, "
    "leave what you cannot, and say which."
)


def moment(now: datetime, job: str = "", place: str = "") -> Context:
    """The message for a task that begins now, a time with its zone. `job` is the id of the job that runs, empty for
    none, and `place` where its answer goes."""
    name, offset = now.tzname() or "", now.isoformat()[-6:]
    named = name if name.startswith("UTC") else ", ".join(filter(None, (name, f"UTC{offset}")))
    rows = [f"It is {_DAYS[now.weekday()]}, {now:%Y-%m-%d %H:%M} ({named})."]
    rows += [_NOBODY.format(job=job, place=place)] if job else []
    return Context("\n".join(rows), MOMENT)
