"""Reviews of what arrived: the person is asked once about each steering note, each remote, and the files of an arrival
that are held back.

A steering note is shown with its diff, and so is what is held back (`receiving.held_now`). The form of the question
and answer is left to `asking.answers`, arrivals and their authors to `vault.provenance`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.asking.answers import answer_in, close, post
from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import BOXES
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.texts import LANGUAGES, Language, text
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS
from agent.vault.history.line_diff import line_diff
from agent.vault.provenance.database import ArrivedBlob
from agent.vault.provenance.remotes import Writers
from agent.vault.receiving.held_now import HeldGroup, diff_of, held_groups, listed, source_of
from agent.vault.receiving.release import refuse, release, release_own, settle_held
from agent.vault.record_folder import RecordFolder
from agent.vault.store import Vault
from agent.vault.template import placed, read_template

TYPE = "arrival-review"
MOST_AT_ONCE = 5
"""The most notes without an answer: more would be noise."""
_LONGEST_DIFF = 20_000
_STAMP = Stamp("agent", tool="arrivals")

ReviewKind: TypeAlias = Literal["note", "remote", "files"]
ReviewStatus: TypeAlias = Literal["pending", "approved", "rejected", "outdated"]


@dataclass(frozen=True, slots=True)
class Review:
    """One question: may this steering note take effect, is this remote written only by the person, or may these files
    come to the disk?

    `subject` is the note's path, the remote's address or the name of a `HeldGroup`, `content` the blob of the note
    (empty for a deleted note and for a remote) or the group's hash, `path` the note that asks, `id` the id in its
    header.
    """

    kind: ReviewKind
    subject: str
    content: str
    path: str
    id: str
    status: ReviewStatus = "pending"


def review_records(vault: Vault) -> RecordFolder[Review]:
    """The questions asked on this machine, from the vault's private files."""
    return RecordFolder(vault.private_folder / "arrivals", _parse)


def _key(kind: ReviewKind, subject: str) -> str:
    return sha256(f"{kind} {subject}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _pending(records: RecordFolder[Review]) -> list[Review]:
    """The unanswered questions, by the names of their notes."""
    return sorted((each for each in records.all() if each.status == "pending"), key=lambda each: each.path)


def unseen_steering(vault: Vault) -> list[ArrivedBlob]:
    """The last arrival in each steering note whose new text is not in effect yet."""
    own = _as_shipped(vault)
    return [each for each in _steering(vault) if each.path not in own]


def _steering(vault: Vault) -> list[ArrivedBlob]:
    waiting = vault.provenance.unseen(lambda path: vault.home.row(path).steers)
    return [each for each in waiting if vault.own_version(each.path) != vault.read(each.path)]


def _as_shipped(vault: Vault) -> list[str]:
    """The steering notes that arrived as this program ships them: it does not ask about its own text."""
    arrived = [each.path for each in _steering(vault)]
    if not arrived:
        return []
    folder = resource("vault_template")
    shipped = [placed(read_template(folder, language), vault.home) for language in LANGUAGES]
    return [path for path in arrived if (data := vault.read(path)) and data in [files.get(path) for files in shipped]]


def ask_about_arrivals(vault: Vault, when: datetime, new_id: str, language: Language) -> tuple[str, ...]:
    """Ask about new steering notes and remotes, in one commit; returns the notes' paths."""
    for path in _as_shipped(vault):
        vault.provenance.has_seen(path)
    settle_held(vault)
    release_own(vault)
    records = review_records(vault)
    waiting = len(_pending(records))
    notes: dict[str, tuple[Review, bytes]] = {}
    for review, arrivals in _open_matters(vault, records):
        if waiting + len(notes) >= MOST_AT_ONCE:
            break
        asked = replace(review, id=f"{new_id}-{len(notes)}")
        notes[review.path] = asked, _compose(vault, asked, arrivals, when, language)
    if notes:
        for asked, _ in notes.values():
            records.put(_key(asked.kind, asked.subject), asked)
        subject = f"arrivals(ask): {', '.join(each.subject for each, _ in notes.values())}"
        post(vault, {path: data for path, (_, data) in notes.items()}, subject, _STAMP)
    return tuple(notes)


def pending_reviews(vault: Vault) -> tuple[Review, ...]:
    """The questions asked on this machine that have no answer yet, by a tick or by a command."""
    return tuple(each for each in _pending(review_records(vault)) if _answer(vault, each) == "pending")


def settle_arrivals(vault: Vault) -> tuple[Review, ...]:
    """Apply the ticked answers, and close the questions answered by command; returns the questions settled now."""
    records = review_records(vault)
    settled = []
    for review in _pending(records):
        status = _answer(vault, review)
        if status == "pending":
            continue
        _carry_out(vault, review, status)
        done = replace(review, status=status)
        records.put(_key(done.kind, done.subject), done)
        settled.append((done.path, status, done))
    statuses = {path: status for path, status, _ in settled}
    close(vault, statuses, "arrivals(settle): what was asked about is decided", _STAMP)
    return tuple(done for _, _, done in settled)


def _open_matters(vault: Vault, records: RecordFolder[Review]) -> Iterator[tuple[Review, list[ArrivedBlob]]]:
    """The questions not yet asked about the current state, each with its arrivals."""
    answers = vault.provenance.answers.load()
    for address, arrivals in _by_address(vault.provenance.unseen()).items():
        if address not in answers.writers and records.get(_key("remote", address)) is None:
            yield Review("remote", address, "", vault.home.at(_note_path("remote", address)), ""), arrivals
    for arrival in unseen_steering(vault):
        path = arrival.path
        review = Review("note", path, vault.current_id(path), vault.home.at(_note_path("note", path)), "")
        known = records.get(_key("note", path))
        if known is None or known.content != review.content:
            yield review, [arrival]
    for group in held_groups(vault):
        path = vault.home.at(_note_path("files", group.subject))
        known = records.get(_key("files", group.subject))
        if known is None or known.content != group.content:
            yield Review("files", group.subject, group.content, path, ""), []


def _by_address(arrivals: Iterable[ArrivedBlob]) -> dict[str, list[ArrivedBlob]]:
    found: dict[str, list[ArrivedBlob]] = {}
    for arrival in arrivals:
        for address in arrival.addresses:
            found.setdefault(address, []).append(arrival)
    return found


def _note_path(kind: ReviewKind, subject: str) -> str:
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in subject).strip("-")[-60:].strip("-") or kind
    begin = "remote" if kind == "remote" else "arrived"
    digest = sha256(subject.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{APPROVALS}{begin}-{name}-{digest[:6]}.md"


def _compose(vault: Vault, review: Review, arrivals: list[ArrivedBlob], when: datetime, language: Language) -> bytes:
    source = ", ".join(dict.fromkeys(each.source if review.kind == "note" else each.path for each in arrivals[:3]))
    group = _group(vault, review)
    source = source_of(vault, group.files) if group is not None else source
    more = f" (+{len(arrivals) - 3})" if len(arrivals) > 3 else ""
    values = {
        "subject": _plain(review.subject),
        "link": _plain(review.subject.removesuffix(".md")),
        "source": _plain(source) + more,
    }
    parts = [
        f"# {text(f'arrival.{review.kind}', language, **values)}",
        text(f"arrival.{review.kind}_why", language, **values),
        BOXES,
        text(f"arrival.{review.kind}_holds", language, **values),
    ]
    if group is not None:
        parts += [f"## {text('arrival.files_listed', language)}", format_fenced(listed(vault, group.files))]
        parts += [f"## {text('arrival.diff', language)}", format_fenced(diff_of(vault, group.files), "diff")]
    if review.kind == "note":
        parts += [f"## {text('arrival.diff', language)}", format_fenced(_diff(vault, review.subject), "diff")]
    header: dict[str, Value] = {
        "id": review.id,
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": "pending",
        "untrusted": [_plain(source)[:200]],
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def _diff(vault: Vault, path: str) -> str:
    diff = "\n".join(line_diff(vault.own_version(path), vault.read(path), context=2))
    return diff if len(diff) <= _LONGEST_DIFF else f"{diff[:_LONGEST_DIFF]}\n…"


def _plain(words: str) -> str:
    return "".join(c if c.isprintable() and c not in "[]`<>%*" else " " for c in words)


def _group(vault: Vault, review: Review) -> HeldGroup | None:
    """The files that a question is about, if they are held back as they were when it was asked."""
    if review.kind != "files":
        return None
    return next((each for each in held_groups(vault) if each.content == review.content), None)


def _answer(vault: Vault, review: Review) -> ReviewStatus:
    """The answer to a question: by a command, or by the boxes of its note."""
    if review.kind == "files" and _group(vault, review) is None:
        return "outdated"
    if review.kind == "remote" and (known := vault.provenance.answers.load().writers.get(review.subject)) is not None:
        return "approved" if known is Writers.ME else "rejected"
    if review.kind == "note" and vault.own_version(review.subject) == vault.read(review.subject):
        return "approved"
    data = vault.own_version(review.path)
    note = Note.parse(data or b"")
    if data is None or note.id != review.id:
        return "pending"
    answer = answer_in(data)
    if answer is None or (answer and review.kind == "note" and vault.current_id(review.subject) != review.content):
        return "pending"
    return "approved" if answer else "rejected"


def _carry_out(vault: Vault, review: Review, status: ReviewStatus) -> None:
    if review.kind == "remote":
        vault.provenance.answers.answer(review.subject, Writers.ME if status == "approved" else Writers.OTHERS)
    elif (group := _group(vault, review)) is not None:
        answer = release if status == "approved" else refuse
        answer(vault, group.files)
    elif status == "approved" and review.kind == "note":
        vault.provenance.has_seen(review.subject)


def _parse(document: dict[str, object]) -> Review:
    subject, content, path, number = (str(document[name]) for name in ("subject", "content", "path", "id"))
    kinds: dict[object, ReviewKind] = {"remote": "remote", "files": "files"}
    statuses: dict[object, ReviewStatus] = {"approved": "approved", "rejected": "rejected", "outdated": "outdated"}
    kind, status = kinds.get(document["kind"], "note"), statuses.get(document["status"], "pending")
    return Review(kind, subject, content, path, number, status)
