"""Names are the field's terms, which a reader who has never seen this project understands at first sight."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.sources import Source, sources

FORBIDDEN = frozenset(
    [
        "alone",
        "behind",
        "eyes",
        "fate",
        "given",
        "keeper",
        "keeping",
        "kept",
        "nobody",
        "said",
        "shown",
        "standing",
        "told",
        "ways",
        "whose",
    ]
)
"""Words that say that something happened to a thing, and not what it is."""
STORED = {
    ("asking/proposal.py", "shown"),
    ("attention/channels/channel.py", "kept"),
    ("config/growth_settings.py", "tasks_kept"),
    ("deeds/changes.py", "human_commits_kept"),
    ("deeds/changes.py", "kept"),
    ("deeds/skills.py", "fate"),
    ("deeds/sync.py", "behind"),
    ("deeds/sync.py", "behind_since"),
    ("events/runs.py", "given"),
    ("interfaces/cli/run_messages.py", "given"),
    ("interfaces/http/command_line.py", "given"),
    ("metrics/totals.py", "answers_given"),
    ("skills/variants/trial_shelf.py", "kept"),
    ("vault/history/undo.py", "human_commits_kept"),
    ("vault/history/undo.py", "kept"),
    ("vault/sync/distance.py", "behind"),
    ("vault/sync/distance.py", "behind_since"),
    ("vault/sync/round.py", "kept"),
}
"""Fields whose names are those of records, settings, metrics, published events and the output for programs."""
_WORD = re.compile(r"[A-Z]?[a-z]+")


def test_no_name_has_a_word_of_our_own() -> None:
    found = [f"{path}:{line} {name}" for path, line, name in _forbidden()]
    assert not found, "name what the thing is: a reply, a refusal, a statement, the lines that are left, …"


def test_what_is_stored_under_such_a_name_is_still_there() -> None:
    there = {(source.path, name) for source in sources() for _, name in _names(source)}
    assert there >= STORED, "take what is gone out of STORED"


def test_each_kind_of_name_is_looked_at() -> None:
    written = (
        "import a as told\nclass KeptRow:\n    shown: int\ndef _said(given: int, /) -> None:\n    left_behind = given\n"
    )
    names = [name for _, name in _names(Source("room/x.py", written, tuple(ast.walk(ast.parse(written)))))]
    assert {name for name in names if _is_forbidden(name)} == {
        "told",
        "KeptRow",
        "shown",
        "_said",
        "given",
        "left_behind",
    }
    assert _is_forbidden("room/kept_files") and not _is_forbidden("unshown saidst akept")


def _forbidden() -> Iterator[tuple[str, int, str]]:
    """The path, the line and the name of each name with a forbidden word, also those of modules."""
    for source in sources():
        for line, name in _names(source):
            if _is_forbidden(name) and (source.path, name) not in STORED:
                yield source.path, line, name


def _names(source: Source) -> Iterator[tuple[int, str]]:
    """The line and the name of all that a module gives a name to; of constants, which are in capitals, none counts."""
    yield 1, PurePosixPath(source.path).stem
    for node in source.nodes:
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield node.lineno, name
            case ast.arg(name) | ast.Name(name, ast.Store()) | ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def _is_forbidden(name: str) -> bool:
    return any(word.lower() in FORBIDDEN for word in _WORD.findall(name))
