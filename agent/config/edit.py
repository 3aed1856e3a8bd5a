"""Edits of one key in the machine settings, by lines: the rest of the file stays as the person wrote it.

Each edit is checked by parsing the result; an edit that is not safe (of `{…}` over several lines, for example) is
refused and changes nothing.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from agent.config.directories import directories
from agent.config.file import BOM, Content, SettingLine, parse_settings, replace_file
from agent.config.secrets import Secret, refuse_literal
from agent.config.settings import RENAMED, refuse_of_one_vault, setting_type
from agent.config.text_file import load_text
from agent.config.values import format_value
from agent.errors import ConfigError
from agent.texts import Sentence

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/+-]| (?! ))*(?<! )")
"""Text that needs no quotes in YAML."""


def set_machine(key: str, value: str, environ: Mapping[str, str] | None = None, *, vault_id: str = "") -> Path:
    """Write a setting into the machine's file, or with a vault's id into the one for that vault, and return the file's
    path; raises `ConfigError`.

    `key` may be the other name of a setting (`RENAMED`): errors name it as it was given. The value is
    checked first, and a secret is only taken by reference; the file is synced to disk when this returns.
    """
    checked = check_value(key, value)
    key = RENAMED.get(key, key)
    text = format_value(checked) if isinstance(checked, bool) else value.strip()
    path = _file(environ, vault_id)
    replace_file(path, with_key(load_text(path) or "", key, text, str(path)))
    return path


def check_value(name: str, value: str) -> object:
    """The value as `set_machine` would write it; raises `ConfigError` where that would."""
    key = RENAMED.get(name, name)
    kind = setting_type(key)
    refuse_of_one_vault(key)
    if kind.base is Secret:
        refuse_literal(key, value)
    try:
        return kind.read(value)
    except ConfigError as error:
        shows = Sentence("vault-agent config get {key} shows the present value", key=name)
        raise ConfigError("{key}: {problem}", hint=error.hint or shows, key=name, problem=error) from error


def unset_machine(key: str, environ: Mapping[str, str] | None = None, *, vault_id: str = "") -> tuple[Path, bool]:
    """Remove a setting from the machine's file, or with a vault's id from the one for that vault; the result is the
    file's path, and True if the setting was in it.

    The key may be unknown, so that a mistyped one can be removed.
    """
    path = _file(environ, vault_id)
    text = load_text(path) or ""
    if key not in parse_settings(text, str(path)).entries:
        return path, False
    replace_file(path, without_key(text, key, str(path)))
    return path, True


def _file(environ: Mapping[str, str] | None, vault_id: str) -> Path:
    places = directories(environ)
    return places.settings_of(vault_id) if vault_id else places.settings_file


def with_key(text: str, key: str, value: str, name: str = "settings") -> str:
    """A settings file's text with `key` set to `value`; raises `ConfigError` when it has to be edited by hand."""
    mark, body = _split(text)
    content = parse_settings(text, name)
    entry = content.entries.get(key)
    edited = _replaced(body, entry, value) if entry else _inserted(body, content, key, value)
    return mark + _verified(edited, content, key, value, name)


def without_key(text: str, key: str, name: str = "settings") -> str:
    """A settings file's text without its `key`; raises `ConfigError` when it has to be edited by hand."""
    mark, body = _split(text)
    content = parse_settings(text, name)
    entry = content.entries[key]
    first = body.rfind("\n", 0, entry.key_start) + 1
    return mark + _verified(body[:first] + body[_after(body, entry) :], content, key, None, name)


def _replaced(body: str, entry: SettingLine, value: str) -> str:
    written = _scalar(value)
    if entry.block:
        written += _newline(body)
    if entry.start == entry.end and body[entry.start - 1 : entry.start] == ":":
        written = f" {written}"
    return body[: entry.start] + written + body[entry.end :]


def _inserted(body: str, content: Content, key: str, value: str) -> str:
    """The text with a new line at the end of the key's section, and with the missing sections above it."""
    parts = key.split(".")
    for depth in range(len(parts) - 1, -1, -1):
        section = ".".join(parts[:depth])
        place = _place(body, content, section)
        if place is not None:
            offset, column = place
            return body[:offset] + _lines(body, offset, column, parts[depth:], value) + body[offset:]
    return body


def _place(body: str, content: Content, section: str) -> tuple[int, int] | None:
    """The offset and column for a new key of `section`; None when there is no such section to extend."""
    found = content.sections.get(section)
    if not section:
        return len(body), found.column if found else 0
    empty = content.entries.get(section)
    if empty is not None and empty.text == "":
        start = body.rfind("\n", 0, empty.key_start) + 1
        return _after(body, empty), empty.key_start - start + 2
    inside = [entry for key, entry in content.entries.items() if key.startswith(f"{section}.")]
    if found is None or found.flow or not inside:
        return None
    return _after(body, max(inside, key=lambda entry: entry.end)), found.column


def _lines(body: str, offset: int, column: int, parts: list[str], value: str) -> str:
    newline = _newline(body)
    lines = [" " * (column + 2 * level) + f"{part}:" for level, part in enumerate(parts)]
    lines[-1] += f" {_scalar(value)}"
    before = newline if offset and body[offset - 1] != "\n" else ""
    return before + newline.join(lines) + newline


def _after(body: str, entry: SettingLine) -> int:
    """The offset after the entry's last line."""
    if entry.block:
        return entry.end
    end = body.find("\n", entry.end)
    return len(body) if end < 0 else end + 1


def _verified(edited: str, before: Content, key: str, value: str | None, name: str) -> str:
    expected = {each: entry.text for each, entry in before.entries.items()}
    expected.pop(key, None)
    if value is not None:
        expected[key] = value
    try:
        found = {each: entry.text for each, entry in parse_settings(edited, name).entries.items()}
    except ConfigError:
        found = None
    parents = {key[:dot] for dot, letter in enumerate(key) if letter == "."}
    if found is None or _but(found, parents) != _but(expected, parents):
        raise ConfigError(
            "{name} is written in a way that cannot be edited line by line; nothing was changed",
            hint="change {key} there by hand",
            name=name,
            key=key,
        )
    return edited


def _but(texts: dict[str, str | None], parents: set[str]) -> dict[str, str | None]:
    """The texts without empty sections in `parents`: an edit may empty a section or fill it."""
    return {key: text for key, text in texts.items() if not (key in parents and text == "")}


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) and value != "null" else json.dumps(value, ensure_ascii=False)


def _newline(body: str) -> str:
    return "\r\n" if "\r\n" in body else "\n"


def _split(text: str) -> tuple[str, str]:
    return (BOM, text[1:]) if text.startswith(BOM) else ("", text)
