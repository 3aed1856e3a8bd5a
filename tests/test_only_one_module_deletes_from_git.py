"""The program's own git calls destroy nothing: one module alone deletes objects, and one alone asks it to."""

import ast
from collections.abc import Iterator

from tests.sources import Source, sources

DESTROYS = frozenset(
    ("gc", "prune", "prune-packed", "reset", "checkout", "restore", "switch", "stash", "reflog", "filter-branch")
) | frozenset(("--hard", "--force", "--prune=now", "--expire=now"))
"""Words of git commands that lose what a person has: files, objects, entries of logs, or another's commits."""
DELETER, ASKS_FOR_IT = "git/delete_objects.py", "vault/history/deletion.py"


def words_of_git(source: Source) -> Iterator[str]:
    """The constants that are arguments of a call, or in a list or a tuple."""
    for node in source.nodes:
        parts = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        yield from (each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_no_call_of_git_destroys_anything() -> None:
    found = {source.path: DESTROYS.intersection(words_of_git(source)) for source in sources()}
    in_vaults = {path: words for path, words in found.items() if words and path.startswith(("vault/", "memory/"))}
    assert in_vaults == {}


def test_one_module_deletes_objects_for_one_other() -> None:
    users = {source.path for source in sources() if "delete_objects" in source.text}
    assert users == {DELETER, ASKS_FOR_IT}
    packs = {source.path for source in sources() if "pack-objects" in words_of_git(source)}
    assert packs == {DELETER}
