"""The hooks of a program: at the begin of a session it is told of the vault, at its end its decisions are kept.

Claude Code gets a plugin of its own folder, with the hooks and the skill. Codex and Gemini CLI have one file of hooks,
in which all others stay, and a folder of skills. The hooks of all three have the same form.
"""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from agent.errors import UserError
from agent.interfaces.mcp.install import edits
from agent.interfaces.mcp.install.installing import Edited, load_text, write
from agent.texts import Sentence

NAMES = ("claude-code", "codex", "gemini")
"""The programs that have hooks."""
_PLUGIN = "vault-agent"
_SKILL = Path(__file__).parents[3] / "integrations" / "programs" / "SKILL.md"
_BEGIN, _END = "SessionStart", "SessionEnd"
_SECONDS = 20
"""Seconds for the begin of a session; its end is not waited for."""


def hook_files(
    client: str, home: Path, command: Sequence[str], pending: Edited, environ: Mapping[str, str] = os.environ
) -> list[Edited]:
    """The files with the hooks of a program, which call `command` with the vault; those that need no change, too.
    `pending` is the program's file with its server, which is written before: one program has its hooks in the same.

    Raises `UserError` for a file that cannot be read, and for a program without hooks.
    """
    folder = _folder(client, home, environ)
    hooks = _hooks(client, command)
    skill = _SKILL.read_text("utf-8")
    if client != "claude-code":
        file = folder / ("hooks.json" if client == "codex" else "settings.json")
        return [_with_hooks(file, hooks, pending), _whole(folder / "skills" / _PLUGIN / "SKILL.md", skill)]
    plugin = folder / "skills" / _PLUGIN
    about = "Use the person's vault of notes: what is known at the begin of a session, what was decided at its end."
    manifest = {"name": _PLUGIN, "version": "0.1.0", "description": about, "author": {"name": _PLUGIN}}
    return [
        _whole(plugin / ".claude-plugin" / "plugin.json", _json(manifest)),
        _whole(plugin / "hooks" / "hooks.json", _json({"hooks": hooks})),
        _whole(plugin / "skills" / _PLUGIN / "SKILL.md", skill),
    ]


def without_hooks(client: str, home: Path, pending: Edited, environ: Mapping[str, str] = os.environ) -> list[Edited]:
    """The same files without the hooks; one that is ours alone has no text any more."""
    found: list[Edited] = []
    for each in hook_files(client, home, (_PLUGIN,), pending, environ) if client in NAMES else []:
        if client != "claude-code" and each.path.name != _SKILL.name:
            found.append(_with_hooks(each.path, {}, pending))
        else:
            found.append(Edited(each.path, each.before, ""))
    return found


def write_hooks(edited: Edited) -> None:
    """Write a file of hooks, or remove one that has no text any more, with its folders if they are empty then."""
    if edited.after:
        write(edited)
        return
    edited.path.unlink(missing_ok=True)
    for folder in edited.path.parents[:4]:
        if folder.name == "skills" and _PLUGIN not in folder.parts:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def _folder(client: str, home: Path, environ: Mapping[str, str]) -> Path:
    match client:
        case "claude-code":
            return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        case "codex":
            return Path(environ.get("CODEX_HOME") or home / ".codex")
        case "gemini":
            return home / ".gemini"
        case _:
            raise UserError(
                "{client} has no hooks", hint="leave --with-hooks out; {known} have them", client=client,
                known=", ".join(NAMES),
            )  # fmt: skip


def _hooks(client: str, command: Sequence[str]) -> dict[str, Any]:
    """Each event with its hook. A failure of the first is no failure of the session; the second goes on by itself, as
    the program that ends waits for nothing, and a shell gives what runs beside it no input of its own."""
    begin = shlex.join([*command, "program-session", "begin", "--as", client])
    end = shlex.join([*command, "program-session", "end", "--as", client])
    name = {"name": _PLUGIN} if client == "gemini" else {}
    seconds = _SECONDS * 1000 if client == "gemini" else _SECONDS
    starts = {"type": "command", **name, "command": f"{begin} 2>/dev/null || exit 0", "timeout": seconds}
    ends = {"type": "command", **name, "command": f"exec 3<&0; nohup {end} <&3 >/dev/null 2>&1 &"}
    return {_BEGIN: [{"hooks": [starts]}], _END: [{"hooks": [ends]}]}


def _with_hooks(file: Path, hooks: Mapping[str, Any], pending: Edited) -> Edited:
    """The file with these hooks in place of ours of before, and with all others."""
    before = pending.after if pending.path == file else load_text(file)
    try:
        tables = edits.parse_jsonc(before)
        if not isinstance(tables, dict) or not isinstance(tables.get("hooks", {}), dict):
            raise ValueError(Sentence("it is no object"))
        after, wanted = before, deepcopy(tables)
        for event in (_BEGIN, _END):
            known = tables.get("hooks", {}).get(event, [])
            others = [rest for each in known if (rest := _without_ours(each))]
            rows = [*others, *hooks.get(event, [])]
            if rows == known:
                continue
            if rows:
                wanted.setdefault("hooks", {})[event] = rows
                after = edits.with_value(after, ("hooks", event), rows)
            else:
                del wanted["hooks"][event]
                after = edits.without_value(after, ("hooks", event))
        if edits.parse_jsonc(after) != wanted:
            raise ValueError(Sentence("{table} is written there in an unusual way", table="hooks"))
    except (TypeError, ValueError, RecursionError) as error:
        reason = error.args[0] if error.args else ""
        raise UserError(
            "{path} is not changed, since it cannot be understood: {reason}",
            hint="mend the file first, or add the server by hand",
            path=file,
            reason=reason if isinstance(reason, Sentence) else str(error),
        ) from error
    return Edited(file, before, after)


def _without_ours(group: Any) -> Any:
    """A group of hooks without those that call this program; None for one that has no others."""
    if not _is_ours(group):
        return group
    others = [each for each in group["hooks"] if not _is_ours(each)]
    return {**group, "hooks": others} if others else None


def _is_ours(hook: object) -> bool:
    """True for a hook, or a group of them, that calls this program."""
    return any(f" program-session {name} --as " in json.dumps(hook) for name in ("begin", "end"))


def _whole(file: Path, text: str) -> Edited:
    """A file that is ours alone."""
    return Edited(file, load_text(file), text)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
