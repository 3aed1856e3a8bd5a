"""Captures: what the person keeps from anywhere, as a note in `inbox/` that asks nothing, or in the note of the day.

Their own words are theirs; what they share (a page, a clipboard, a text of another app) is a stranger's, and recorded
as such line by line, so that both can stand in one note.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from agent.dataclass import dataclass
from agent.deeds.result import ResultValue
from agent.errors import ToolFailed, ToolRetry, UserError
from agent.escape import escape
from agent.importers.names import FreeNames, safe_name
from agent.llm.messages import never
from agent.markdown.inertness.active import inert_blocks, inert_line, is_link
from agent.markdown.note import Note
from agent.markdown.requests import CAPTURE
from agent.markdown.yaml_write import Value
from agent.memory.daily import beginning
from agent.runs.captured_files import CapturedFile, captured_files, note_strangers
from agent.texts import Sentence, text
from agent.tools.builtin.web import LIMITS, NETWORK, WebNetwork, fetch_page
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Stamp
from agent.vault.folders import INBOX
from agent.vault.message import one_line
from agent.workspace.workspace import Workspace

_LONGEST = 1_000_000
_BEGIN = re.compile(r"^[\W_]+")
"""The marks before the first word of a text."""
_BRACKETS = re.compile(r"[\[\]]")
_ENDS_A_LINK = re.compile(r"[\s()<>\[\]`|]")
"""The signs by which an address could end the link that it stands in, and begin something else."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What is kept: the person's own `words`, what is `shared` (a text with its `title` and `address`), and files."""

    words: str = ""
    shared: str = ""
    title: str = ""
    address: str = ""
    files: tuple[CapturedFile, ...] = ()


class CapturedNote(ResultValue, frozen=True):
    """The note at `path`, with its `files`. `commit` is null while it waits to be written because of `queued`."""

    path: str
    commit: str | None
    queued: str | None
    files: list[str]


def with_page(what: Captured, workspace: Workspace, network: WebNetwork = NETWORK) -> Captured:
    """The same, with the text of the page at its address before what is shared. Raises `UserError` for a page that
    cannot be read."""
    vault = workspace.vault
    try:
        page = fetch_page(what.address, vault.clock, vault.known.values, never, network, LIMITS)
    except (ToolRetry, ToolFailed) as error:
        hint = "keep the address alone: vault-agent capture WORDS"
        raise UserError("{address} cannot be read: {reason}", hint=hint, address=what.address, reason=error) from error
    content = "\n\n".join(filter(None, (page.content.text.strip()[:_LONGEST], what.shared.strip())))
    return Captured(what.words, content, page.content.title or what.title, page.address, what.files)


def capture(workspace: Workspace, what: Captured, *, today: bool = False, mine: bool = False) -> CapturedNote:
    """Keep it in a note of its own in `inbox/`, or with `today` in the day's note, in one commit; with `mine`, texts
    among the files are the person's own. Raises `UserError` where there is nothing, and for a file that is not kept
    (`captured_files`) or words that are too long; `SecretFound`."""
    words, shared = what.words.strip(), _shared(what)
    if max(len(words), len(what.shared)) > 2 * _LONGEST:
        hint = "keep it as a file: vault-agent capture --file PATH"
        raise UserError("the text is longer than {count} characters", hint=hint, count=2 * _LONGEST)
    if not (words or shared or what.files):
        raise UserError("there is nothing to keep", hint='vault-agent capture "call the dentist"')
    vault, run, now = workspace.vault, workspace.clock.new_id(), workspace.clock.now().astimezone()
    files = captured_files(workspace, what.files, now)
    origin = text_origin_of(vault)
    source = what.address or text("capture.source", "en")
    path = vault.home.day_note(now.date()) if today else _path(workspace, what, now)
    row = _row(words, shared, [name for name, _ in files], now)
    if shared:  # without words, the first row of an item is a stranger's with the time before it
        foreign = row if today and not words else shared.encode("utf-8", "replace")
        origin.remember(run, foreign, words.encode("utf-8", "replace"), [source])
    if not (mine or words or today):
        origin.remember_name(run, path, [source])
    if not mine:
        note_strangers(vault, run, files, source)
    subject = Sentence("capture: {words}", words=one_line(words or what.title or what.address or path))
    with vault.transaction(subject, Stamp("agent", run=run, tool="keep")) as change:
        for name, data in files:
            change.create(name, data)
        if today:
            change.append(path, row, beginning(vault, now.date()))
        else:
            change.create(path, _note(words, shared, what, [name for name, _ in files], now))
    done = change.outcome
    return CapturedNote(path, done.commit, done.queued, [name for name, _ in files])


def _path(workspace: Workspace, what: Captured, now: datetime) -> str:
    first = next((line for line in (what.words, what.title, what.shared, what.address) if line.strip()), "")
    words = _BEGIN.sub("", first.strip().splitlines()[0]) if first else ""
    name = safe_name(f"{now:%Y-%m-%d %H%M} {words}")
    folder = workspace.vault.home.at(INBOX).rstrip("/")
    return FreeNames(workspace.vault.place.root).take(folder, name, ".md", now.isoformat())


def _shared(what: Captured) -> str:
    """What others have written, as it stands in a note: quoted, inert, with its address."""
    title, content = _BRACKETS.sub(" ", inert_line(what.title)), inert_blocks(escape(what.shared.strip()))
    address, target = what.address.strip(), _target(what.address)
    link = inert_blocks(f"[{title or target}]({target})") if is_link(address) else inert_line(address)
    rows = [f"> {row}".rstrip() for row in content.split("\n")] if content else []
    head = link if address else f"**{title}**" if title else ""
    return "\n\n".join(filter(None, (head, "\n".join(rows))))


def _target(address: str) -> str:
    return _ENDS_A_LINK.sub(lambda found: quote(found[0], safe=""), address.strip())


def _embeds(files: Sequence[str]) -> str:
    return "\n".join(f"![[{name}]]" for name in files)


def _note(words: str, shared: str, what: Captured, files: Sequence[str], now: datetime) -> bytes:
    header: dict[str, Value] = {"type": CAPTURE, "created": now.replace(microsecond=0)}
    if not words and what.address:
        header["source"] = _target(what.address)
    return Note.compose(header, "\n\n".join(filter(None, (words, _embeds(files), shared))) + "\n").data


def _row(words: str, shared: str, files: Sequence[str], now: datetime) -> bytes:
    """An item of the day's note; what follows its first line stands below it."""
    content = "\n\n".join(filter(None, (words, _embeds(files), shared)))
    first, *more = content.split("\n")
    rows = [f"- {now:%H:%M} {first}", *(f"  {row}".rstrip() for row in more)]
    return ("\n".join(rows) + "\n").encode("utf-8", "replace")
