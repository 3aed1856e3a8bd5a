"""Prompts: files with strict variables; the system message made of them; and who is given which text."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from pathlib import Path
from typing import TypeAlias

from agent.errors import UserError
from agent.events.receipt import MEMORIES
from agent.llm.messages import Context
from agent.markdown.note import Note
from agent.texts import Language, Sentence, text
from agent.vault.folders import AGENT_NOTE, PROMPTS

VaultReader: TypeAlias = Callable[[str], bytes | None]
"""The bytes of the note at a path in the vault, None if it does not exist."""

_OWN = Path(__file__).parents[1] / "prompts"
_FIXED = frozenset({"safety"})
_VARIABLE = re.compile(r"\{\{([^{}\n]*)\}\}")


def nothing(path: str) -> bytes | None:
    """Always None: for callers without a vault."""
    return None


def fill(name: str, read: VaultReader = nothing, /, **values: str) -> str:
    """The prompt of this name with its variables replaced; variables in the values are not replaced again.

    Raises `UserError` for a variable that is unknown or missing.
    """
    text, path = _text(name, read)
    for found in _VARIABLE.finditer(text):
        if found[1].strip() not in values:
            line = text.count("\n", 0, found.start()) + 1
            raise UserError(
                "{path}, line {line} of the text: {found} is not a variable of this prompt",
                hint="it has {variables}",
                path=path,
                line=line,
                found=found[0],
                variables=_named(values) or Sentence("none"),
            )
    used = {found[1].strip() for found in _VARIABLE.finditer(text)}
    missing = sorted(values.keys() - used)
    if missing:
        raise UserError(
            "{path} does not use {missing}",
            hint="put it in, or delete {path} to have the original back",
            path=path,
            missing=_named(missing),
        )
    return _VARIABLE.sub(lambda found: values[found[1].strip()], text)


def _text(name: str, read: VaultReader) -> tuple[str, str]:
    path = f"{PROMPTS}{name}.md"
    data = None if name in _FIXED else read(path)
    if data is not None and (body := Note.parse(data).body.strip()):
        return body, path
    return (_OWN / f"{name}.md").read_text("utf-8").strip(), path


def _named(names: "dict[str, str] | list[str]") -> str:
    return ", ".join("{{" + name + "}}" for name in sorted(names))


def system_part(
    read: VaultReader, language: Language, folder: str = "", fixed: Sequence[str] = (), link: str = ""
) -> str:
    """The fixed part of a conversation; `folder` is that of the agent's notes, empty for the vault's root, `fixed` are
    the texts about the owner and the skills, and `link` shows how the owner's notes write one, empty for any way.

    `read` reads the vault. Raises `UserError` for one of the vault's prompts with a wrong variable.
    """
    parts = [fill("system", read, language=text("prompt.language_rule", language))]
    if folder:
        parts.append(text("prompt.folder", language, folder=folder))
    if link:
        parts.append(text("prompt.link", language, link=link))
    owner_text = Note.parse(read(AGENT_NOTE) or b"").body.strip()
    if owner_text:
        parts.append(f"What your owner says ({AGENT_NOTE})\n\n{owner_text}")
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


PROFILE = "profile"
"""The name of the block about the owner."""
NOTICE = "notice"
"""The source of a notice that a person's message answers, and of what the message quotes of others."""
GROUP_TALK = "group_talk"
"""The source of what others have said in a group before the agent was named there."""


class Audience(Enum):
    """The person whose run it is, and who else reads its answers."""

    OWNER = auto()
    GROUP = auto()
    """The owner, where others read along."""
    GUEST = auto()


_ALL = frozenset(Audience)
_OWNERS = frozenset({Audience.OWNER, Audience.GROUP})
_OWNER_ONLY = frozenset({Audience.OWNER})
AUDIENCES_BY_SOURCE: Mapping[str, frozenset[Audience]] = {
    MEMORIES: _ALL,
    "skills": _OWNERS,
    "skill_index": _OWNERS,
    NOTICE: _OWNERS,
    GROUP_TALK: frozenset({Audience.GROUP}),
    "curiosity": _OWNER_ONLY,
    PROFILE: _OWNER_ONLY,
    "rules": _OWNER_ONLY,
}
"""The audiences of each source of texts, by its name: those asked when a task begins, and those that add texts while a
run goes on."""


def audience_of(role: str, *, group: bool) -> Audience:
    """The audience of a run for a person in this role, in a group or not."""
    if role != "owner":
        return Audience.GUEST
    return Audience.GROUP if group else Audience.OWNER


def may_provide(source: str, audience: Audience) -> bool:
    """True if the audience's model may be given texts of the source."""
    return audience in AUDIENCES_BY_SOURCE.get(source, _OWNER_ONLY)


def reader_for(audience: Audience, read: VaultReader) -> VaultReader:
    """`read` for the prompts of a run; for a guest one that finds none of the owner's, so that the program's are
    used."""
    return nothing if audience is Audience.GUEST else read
