"""Asking the person about what arrived: a steering note with its diff, or a remote, each once, in a note with boxes.

The note counts only together with the record of the question, which is kept on this machine: a tick that arrives is no
tick, and a note that looks decided decides nothing. What arrived and whose it is, is `vault.provenance`'s.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from agent.errors import BadNote
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.markdown.verdict import BOXES, above, decision, ticked
from agent.vault import durable
from agent.vault.change import Stamp
from agent.vault.history.line_diff import line_diff
from agent.vault.provenance.database import Arrival
from agent.vault.provenance.remotes import Writers
from agent.vault.provenance.steering import steers
from agent.vault.store import Vault

FOLDER = "approvals"
TYPE = "arrival-review"
MOST_AT_ONCE = 5
"""Notes that wait for an answer at the same time: more would be noise."""
_LONGEST_DIFF = 20_000
_STAMP = Stamp("agent", tool="arrivals")
_TEXTS = {
    "en": {
        "note": "May {subject} say what I do?",
        "note why": "[[{link}]] was changed by what came from {source}. Until you say yes I go by the version before.",
        "note holds": "A yes holds for exactly this text; both ticked is a no. `vault-agent log {subject}` lists the "
        "changes, and `vault-agent undo` with a commit takes one out.",
        "remote": "Do only you write to {subject}?",
        "remote why": "Notes have arrived by this remote: {source}.",
        "remote holds": "`approve`: only you write there, from your other devices. What comes by it counts as typed by "
        "you; notes that say what I do are shown to you first all the same.\n\n`reject`: others write there too. Their "
        "text is read with care and never obeyed, and so it is until you answer.\n\nYour answer stays on this machine; "
        "`vault-agent trust` changes it.",
        "diff": "What would change",
    },
    "zh": {
        "note": "{subject} 可以决定我怎么做事吗？",
        "note why": "[[{link}]] 被来自 {source} 的内容改动了。你同意之前，我按改动以前的版本做事。",
        "note holds": "勾选 `approve`（批准）只对现在这份内容有效；两个都勾选算拒绝。"
        "`vault-agent log {subject}` 列出改动，`vault-agent undo` 加上提交号可以撤掉其中一个。",
        "remote": "只有你会写 {subject} 吗？",
        "remote why": "有笔记从这个远程仓库来：{source}。",
        "remote holds": "`approve`（批准）：只有你自己从别的设备写那里，从那里来的内容当作你亲手写的；"
        "决定我怎么做事的笔记仍会先给你看。\n\n`reject`（拒绝）：别人也会写那里，他们的文字我会小心地读，但不会照做；"
        "你回答之前也是这样。\n\n你的回答只留在这台机器上，`vault-agent trust` 可以更改。",
        "diff": "会有的改动",
    },
}

Kind: TypeAlias = Literal["note", "remote"]
Status: TypeAlias = Literal["pending", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Review:
    """One question: about a steering note whose content is the blob `content` (empty: it is gone), or about a remote.

    `path` is the note that asks, `id` the id in its header.
    """

    kind: Kind
    subject: str
    content: str
    path: str
    id: str
    status: Status = "pending"


@dataclass(frozen=True, slots=True)
class ReviewRecords:
    """The questions that this machine has asked, one small file each."""

    folder: Path

    def get(self, kind: Kind, subject: str) -> Review | None:
        """The last question about this; None where there is none, or none that can be read."""
        return _parsed(self._file(kind, subject))

    def put(self, review: Review) -> None:
        """Keep a question; durable when this returns."""
        durable.replace(self._file(review.kind, review.subject), json.dumps(asdict(review), indent=1))

    def pending(self) -> tuple[Review, ...]:
        """The questions that wait for an answer, in the order of their notes' names."""
        found = (_parsed(file) for file in self.folder.glob("*.json"))
        return tuple(sorted((each for each in found if each and each.status == "pending"), key=lambda each: each.path))

    def _file(self, kind: Kind, subject: str) -> Path:
        return self.folder / f"{sha256(f'{kind} {subject}'.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.json"


def records_of(vault: Vault) -> ReviewRecords:
    """The records of a vault, among its private files."""
    return ReviewRecords(vault.private_folder / "arrivals")


def unseen_steering(vault: Vault) -> list[Arrival]:
    """What arrived in notes that steer the agent and is not in force yet: the last arrival in each."""
    waiting = vault.provenance.unseen(steers)
    return [each for each in waiting if vault.own_version(each.path) != vault.read(each.path)]


def ask_about_arrivals(vault: Vault, when: datetime, new_id: str, language: str = "en") -> tuple[str, ...]:
    """Ask about steering notes and remotes that nobody was asked about, in one commit; returns the notes' paths."""
    records = records_of(vault)
    waiting = len(records.pending())
    notes: dict[str, tuple[Review, bytes]] = {}
    for review, arrivals in _open_matters(vault, records):
        if waiting + len(notes) >= MOST_AT_ONCE:
            break
        asked = replace(review, id=f"{new_id}-{len(notes)}")
        notes[review.path] = asked, _compose(vault, asked, arrivals, when, _TEXTS[language])
    if notes:
        for asked, _ in notes.values():
            records.put(asked)
        with vault.transaction(f"arrivals(ask): {', '.join(each.subject for each, _ in notes.values())}", _STAMP) as tx:
            for path, (_, data) in notes.items():
                before = vault.read(path)
                if before is None:
                    tx.create(path, data)
                else:
                    tx.edit(path, before, data)
    return tuple(notes)


def settle_arrivals(vault: Vault) -> tuple[Review, ...]:
    """Carry out what was ticked, and close the questions that were answered by command; returns what is settled now."""
    records = records_of(vault)
    settled = []
    changes: dict[str, tuple[bytes, bytes]] = {}
    for review in records.pending():
        status = _answer(vault, review)
        if status == "pending":
            continue
        _carry_out(vault, review, status)
        done = replace(review, status=status)
        records.put(done)
        settled.append(done)
        data = vault.read(review.path)
        after = _closed(data, done) if data is not None else None
        if data is not None and after is not None and after != data:
            changes[review.path] = data, after
    if changes:
        with vault.transaction("arrivals(settle): what was asked about is decided", _STAMP) as tx:
            for path, (data, after) in changes.items():
                tx.edit(path, data, after)
    return tuple(settled)


def _open_matters(vault: Vault, records: ReviewRecords) -> Iterator[tuple[Review, list[Arrival]]]:
    """What nobody was asked about as it is now, each with the arrivals that it is about."""
    answers = vault.provenance.answers.load()
    for address, arrivals in _by_address(vault.provenance.unseen()).items():
        if address not in answers.writers and records.get("remote", address) is None:
            yield Review("remote", address, "", _note_path("remote", address), ""), arrivals
    for arrival in unseen_steering(vault):
        data = vault.read(arrival.path)
        review = Review(
            "note", arrival.path, "" if data is None else vault.content_id(data), _note_path("note", arrival.path), ""
        )
        known = records.get("note", arrival.path)
        if known is None or known.content != review.content:
            yield review, [arrival]


def _by_address(arrivals: Iterable[Arrival]) -> dict[str, list[Arrival]]:
    found: dict[str, list[Arrival]] = {}
    for arrival in arrivals:
        for address in arrival.addresses:
            found.setdefault(address, []).append(arrival)
    return found


def _note_path(kind: Kind, subject: str) -> str:
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in subject).strip("-")[-60:].strip("-") or kind
    return f"{FOLDER}/{'arrived' if kind == 'note' else 'remote'}-{name}-{sha256(subject.encode()).hexdigest()[:6]}.md"


def _compose(vault: Vault, review: Review, arrivals: list[Arrival], when: datetime, texts: dict[str, str]) -> bytes:
    source = ", ".join(dict.fromkeys(each.source if review.kind == "note" else each.path for each in arrivals[:3]))
    more = f" (+{len(arrivals) - 3})" if len(arrivals) > 3 else ""
    values = {
        "subject": _plain(review.subject),
        "link": _plain(review.subject.removesuffix(".md")),
        "source": _plain(source) + more,
    }
    parts = [
        f"# {texts[review.kind].format(**values)}",
        texts[f"{review.kind} why"].format(**values),
        BOXES,
        texts[f"{review.kind} holds"].format(**values),
    ]
    if review.kind == "note":
        parts += [f"## {texts['diff']}", fenced(_diff(vault, review.subject), "diff")]
    header: dict[str, Value] = {
        "id": review.id,
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": "pending",
        "untrusted": [_plain(source)[:200]],
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def _diff(vault: Vault, path: str) -> str:
    text = "\n".join(line_diff(*_versions(vault, path), context=2))
    return text if len(text) <= _LONGEST_DIFF else f"{text[:_LONGEST_DIFF]}\n…"


def _versions(vault: Vault, path: str) -> tuple[bytes | None, bytes | None]:
    return vault.own_version(path), vault.read(path)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() and c not in "[]`<>%*" else " " for c in text)


def _answer(vault: Vault, review: Review) -> Status:
    """What has become of a question, by its note or by a command."""
    if review.kind == "remote" and (known := vault.provenance.answers.load().writers.get(review.subject)) is not None:
        return "approved" if known is Writers.ME else "rejected"
    if review.kind == "note" and _is_in_force(vault, review.subject):
        return "approved"
    data = vault.own_version(review.path)
    note = Note.parse(data or b"")
    if data is None or note.id != review.id:
        return "pending"
    said = decision(above(note.body.replace("\r\n", "\n")))
    if said is None or (said and review.kind == "note" and not _is_unchanged(vault, review)):
        return "pending"
    return "approved" if said else "rejected"


def _is_in_force(vault: Vault, path: str) -> bool:
    own, now = _versions(vault, path)
    return own == now


def _is_unchanged(vault: Vault, review: Review) -> bool:
    data = vault.read(review.subject)
    return ("" if data is None else vault.content_id(data)) == review.content


def _carry_out(vault: Vault, review: Review, status: Status) -> None:
    if review.kind == "remote":
        vault.provenance.answers.answer(review.subject, Writers.ME if status == "approved" else Writers.OTHERS)
    elif status == "approved":
        vault.provenance.has_seen(review.subject)


def _closed(data: bytes, review: Review) -> bytes | None:
    """The note with what was decided; None for one that cannot be changed, which the record outweighs."""
    try:
        note = Note.parse(ticked(data, review.status == "approved")).with_key("status", review.status)
        return (note.without_key("untrusted") if review.status == "approved" else note).data
    except BadNote:
        return None


def _parsed(file: Path) -> Review | None:
    try:
        raw = json.loads(file.read_text("utf-8"))
        kind: Kind = "remote" if raw["kind"] == "remote" else "note"
        texts = [str(raw[name]) for name in ("subject", "content", "path", "id")]
        status: Status = raw["status"] if raw["status"] in ("approved", "rejected") else "pending"
        return Review(kind, texts[0], texts[1], texts[2], texts[3], status)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # what cannot be read is asked about again
