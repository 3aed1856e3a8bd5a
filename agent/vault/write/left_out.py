"""Files that the commits of a person's edits leave out: large ones, those that are no text, drafts, and what belongs to
something that the person has staged.

Only new files are left out for what they are: a file that git follows already is the person's choice. A note is always
text, whatever its encoding.

Which files the notes of a vault show or link to: those that travel with them.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from urllib.parse import unquote

from agent.errors import AgentError
from agent.git.runner import Git
from agent.texts import Sentence
from agent.vault.drafts import Drafts, drafts_file, load_drafts
from agent.vault.options import Options
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import DRAFT, Dirty, DirtyKind
from agent.vault.write.commit_plan import find_renames

_LINK = r"\[\[[^]|#]+|\]\(<?[^)#>]+"
"""A pattern in git's extended form: the beginning of a wikilink or Markdown link, up to the end of its target."""
_TARGET = re.compile(r"(?:\[\[|\]\(<?)\s*([^\n]+)")
_TITLE = re.compile(r"""\s+["'].*$""")
"""The title of a Markdown link, behind its target."""


def embedded_files(git: Git, paths: Collection[str]) -> frozenset[str]:
    """Those of the files that a note names in an embed or a link, by its name or by a path that ends alike."""
    if not paths:
        return frozenset()
    named: dict[str, list[str]] = {}
    for path in paths:
        named.setdefault(_name(path), []).append(path)
    return frozenset(
        path
        for target in _targets(git)
        for path in named.get(_name(target), ())
        if f"/{path}".casefold().endswith(f"/{_plain(target)}".casefold())
    )


def _targets(git: Git) -> Iterator[str]:
    """The targets of the links in all notes, in a commit or not."""
    how = ("-h", "-o", "-I", "-E", "--untracked", "--no-textconv", "--no-color", "--no-line-number")
    command = ("--no-literal-pathspecs", "grep", *how, "-e", _LINK, "--", ":(glob)**/*.md")
    found = git.run(*command, ok=(0, 1), drivers_off=True)
    for line in dict.fromkeys(found.decode("utf-8", "replace").splitlines()):
        if (match := _TARGET.match(line)) is not None:
            yield unquote(_TITLE.sub("", match[1]).strip())


def _plain(target: str) -> str:
    """A target without what leads from the note's own folder to it."""
    return "/".join(part for part in target.split("/") if part not in {"", ".", ".."})


def _name(path: str) -> str:
    return path.rpartition("/")[2].casefold()


_LOOK = 8_000
"""The bytes in which git, too, looks for a NUL to tell whether a file is text."""
BINARY, ALONE = "no text", "no text, and no note embeds it"
HALF, KEPT = "the other half of a move that you have staged", "you have staged its deletion"


def left_out_by(
    git: Git, files: Files, options: Options, private_folder: Path, items: Sequence[Dirty]
) -> dict[str, str]:
    """The files among `items` that the commits of the person's edits leave out, with the reason."""
    return {
        **left_out(git, files, options, items),
        **unchanged_drafts(git, files, load_drafts(drafts_file(private_folder)), items),
        **halves(git, files, items),
    }


def left_out(git: Git, files: Files, options: Options, items: Iterable[Dirty]) -> dict[str, str]:
    """The new files among `items` that are large or no text, with the reason; but not what a note embeds or links to
    and is small, if the options say so."""
    found: dict[str, str] = {}
    for item in items:
        if item.kind is DirtyKind.CREATED and (why := _reason(files, options, item.path)):
            found[item.path] = why
    unpaired = [path for path, why in found.items() if why == ALONE]
    for path in embedded_files(git, unpaired):
        del found[path]
    return found


def unchanged_drafts(git: Git, files: Files, drafts: Drafts, items: Iterable[Dirty]) -> Mapping[str, str]:
    """The drafts among `items` that are as the person left them, with the reason."""
    listed = [item for item in items if item.path in drafts.files]
    return {item.path: DRAFT for item in listed if draft_id(git, files, item) == drafts.files[item.path]}


def halves(git: Git, files: Files, items: Sequence[Dirty]) -> Mapping[str, str]:
    """The files among `items` that belong to a staged change, with the reason: the note that is gone where its new
    place is staged, the new place where the deletion is staged, and a file that stays on disk."""
    staged = [item for item in items if item.kind is DirtyKind.STAGED]
    if not staged:
        return {}
    came = {item.path: item.staged for item in staged if not item.oid}
    went = {item.path: item.oid for item in staged if not item.staged}
    deleted = {item.path: item.oid for item in items if item.kind is DirtyKind.DELETED} if came else {}
    created = [item for item in items if item.kind is DirtyKind.CREATED] if went else []
    new = {item.path: draft_id(git, files, item) for item in created if item.path not in went}
    ends = [*find_renames(deleted, came), *find_renames(went, new).values()]
    staying = [item.path for item in created if item.path in went]
    return dict.fromkeys(ends, HALF) | dict.fromkeys(staying, KEPT)


def draft_id(git: Git, files: Files, item: Dirty) -> str:
    """The blob id of a changed file's content; empty for a deleted file, `?` for one that cannot be read."""
    try:
        found = files.read_now(item.path)
    except (AgentError, OSError):
        return "?"
    return "" if found is None else git.blob_id(found[1])


def _reason(files: Files, options: Options, path: str) -> str:
    if not options.largest and options.binaries == "commit":
        return ""
    try:
        descriptor = os.open(files.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""  # a link, or what cannot be read: not ours to judge
    try:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode):
            return ""
        if options.largest and status.st_size > options.largest:
            return Sentence("larger than {size:g} MB", size=options.largest / 1_000_000)
        if options.binaries == "commit" or is_note(path) or b"\0" not in os.read(descriptor, _LOOK):
            return ""
        if options.binaries == "leave":
            return BINARY
        if status.st_size > options.largest_embedded:
            return Sentence("larger than {size:g} MB", size=options.largest_embedded / 1_000_000)
        return ALONE
    finally:
        os.close(descriptor)
