"""What the settings of Obsidian in a vault say: what its search excludes, how links look, and if it commits itself."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_APP = ".obsidian/app.json"
_LARGEST = 1 << 20
_PACE = ("autoSaveInterval", "autoBackupAfterFileChange")
"""The settings of obsidian-git for commits by itself: minutes between them, and after each change."""


def excluded_files(root: Path) -> Callable[[str], bool]:
    """What tells if Obsidian excludes a file of the vault at `root`, which it then shows after all others."""
    settings = load_json(root / _APP)
    filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
    tests = list(_tests(filters if isinstance(filters, list) else ()))
    return lambda path: any(test(path.casefold()) for test in tests)


def link_form(root: Path) -> str:
    """How Obsidian writes a link in the vault at `root`, as an example; empty where its settings leave it open."""
    settings = load_json(root / _APP)
    if not isinstance(settings, dict):
        return ""
    form, is_markdown = settings.get("newLinkFormat"), settings.get("useMarkdownLinks") is True
    if form is None and not is_markdown:
        return ""
    path = {"relative": "../path/to/note", "absolute": "path/to/note"}.get(str(form), "note")
    return f"[note]({path}.md)" if is_markdown else f"[[{path}]]"


def has_auto_committer(root: Path) -> bool:
    """True if Obsidian has a plugin that commits all changes of the vault at `root` by itself, in the person's name: it
    would take the program's text, too, while that waits for a commit. False where its settings say that it is off, or
    commits only when it is told to."""
    try:
        return any(map(_commits_by_itself, root.glob(".obsidian*/plugins/obsidian-git")))
    except OSError:
        return False


def _commits_by_itself(plugin: Path) -> bool:
    """True for an `obsidian-git` in this folder that may commit at a pace or after each change; also where its settings
    cannot be read."""
    enabled, settings = load_json(plugin.parents[1] / "community-plugins.json"), load_json(plugin / "data.json")
    if isinstance(enabled, list) and plugin.name not in enabled:
        return False
    return not isinstance(settings, dict) or any(settings.get(key) not in (0, False, None) for key in _PACE)


def _tests(filters: "list[object] | tuple[object, ...]") -> Iterator[Callable[[str], bool]]:
    """A test for each filter: the beginning of a path, or a regular expression between slashes."""
    for each in filters:
        if not isinstance(each, str) or not each.strip("/ "):
            continue
        if len(each) > 2 and each.startswith("/") and each.endswith("/"):
            yield from _expression(each[1:-1])
        else:
            yield _beginning(each.casefold().lstrip("/"))


def _beginning(text: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(text)


def _expression(pattern: str) -> Iterator[Callable[[str], bool]]:
    """The test of a regular expression; none for one that RE2 does not have."""
    import re2  # type: ignore[import-untyped]  # few vaults have one

    options = re2.Options()
    options.log_errors, options.case_sensitive = False, False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error:
        return
    yield lambda path: compiled.search(path) is not None


def load_json(file: Path) -> Mapping[str, object] | list[object] | None:
    """The JSON object or list in a file; None if there is none, or if it cannot be read."""
    try:
        with file.open("rb") as opened:
            value = json.loads(opened.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
