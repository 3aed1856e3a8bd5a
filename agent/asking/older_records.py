"""Records of earlier versions, which had a folder and a form for each kind, as the one record of today."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent.asking.proposal import (
    ChoiceKind,
    Proposal,
    ProposalKind,
    ProposalStatus,
    ProposedNote,
    parse_proposal,
    parse_words,
)
from agent.json_value import parse_json
from agent.markdown.note import Note
from agent.vault.store import Vault


def older_proposals(vault: Vault, folder: str) -> Iterator[tuple[Path, Proposal | None]]:
    """The files in one of these folders, each with its record; None for one that cannot be understood."""
    for file in sorted((vault.private_folder / folder).glob("*.json")):
        try:
            row = parse_json(file.read_text("utf-8"))
            written = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
            yield file, _with_note(vault, _READ[folder](file.stem, row, written))
        except OSError:
            continue
        except (ValueError, KeyError, TypeError):
            yield file, None


def _with_note(vault: Vault, asked: Proposal) -> Proposal:
    """The record with what only its note has said."""
    data = vault.own_version(asked.path)
    note = Note.parse(data or b"")
    if asked.kind == "skill_review" and (data is None or note.string("status") not in (None, "pending")):
        asked = replace(asked, status="rejected")  # answered, or not to be asked about
    heading = note.body.strip().partition("\n")[0].removeprefix("# ").strip()
    return replace(asked, name=asked.name or note.string("skill") or asked.path, question=asked.question or heading)


def _call(key: str, row: dict[str, object], written: datetime) -> Proposal:
    paths, bases = row.get("paths", []), parse_words(row["bases"])
    if not isinstance(paths, list):
        raise TypeError(row)
    tool, path, id = _words(row, "tool", "path", "id")
    return Proposal(
        "call",
        tool,
        path,
        id,
        datetime.fromisoformat(str(row["created"])),
        key=key,
        subject=str(row["hash"]),
        shown=str(row["shown"]),
        bases=dict.fromkeys(map(str, paths), "") | bases,
        why=str(row.get("why", "")),
        change=str(row.get("change", "")),
        run=str(row["run"]),
        session=str(row["session"]),
        call=str(row["call"]),
        expires=datetime.fromisoformat(str(row["expires"])),
        status=_status(row),
        reason=str(row["reason"]),
    )


def _review(key: str, row: dict[str, object], written: datetime) -> Proposal:
    path, digest = _words(row, "path", "digest")
    return Proposal("skill_review", "", path, path, written, key=key, subject=digest, status="pending")


def _offer(key: str, row: dict[str, object], written: datetime) -> Proposal:
    name, path, id, skill, draft = _words(row, "name", "path", "id", "skill", "draft")
    tools, base = row["tools"], row["base"]
    if not isinstance(tools, list):
        raise TypeError(row)
    facts = {"sequence": ",".join(map(str, tools)), "support": str(row["support"])}
    status, reason = _status(row), str(row["reason"])
    is_open = status in ("asking", "pending")
    notes = (ProposedNote(skill, draft, None if base is None else str(base)) if is_open else ProposedNote(skill, ""),)
    return Proposal("skill_offer", name, path, id, written, notes=notes, facts=facts, status=status, reason=reason)


def _arrival(key: str, row: dict[str, object], written: datetime) -> Proposal:
    kinds: dict[object, ProposalKind] = {"remote": "remote", "files": "arrived_files"}
    name, path, id, content = _words(row, "subject", "path", "id", "content")
    kind = kinds.get(row["kind"], "arrived_note")
    return Proposal(kind, name, path, id, written, key=key, subject=content, status=_status(row))


def _job(key: str, row: dict[str, object], written: datetime) -> Proposal:
    job, path, id, digest = _words(row, "job", "path", "id", "digest")
    created, expires = (datetime.fromisoformat(str(row[name])) for name in ("created", "expires"))
    facts = {"planned": datetime.fromisoformat(str(row["planned"])).isoformat(), "stands_for": str(row["stands_for"])}
    is_settled = row["status"] == "settled"
    status = "approved" if is_settled else _status(row)
    reason = str(row.get("reason", ""))
    return Proposal("job", job, path, id, created, key=key, subject=digest, facts=facts, expires=expires, status=status,
                    reason=reason, is_taken=is_settled)  # fmt: skip


def _choice(key: str, row: dict[str, object], written: datetime) -> Proposal:
    kinds: dict[object, ChoiceKind] = {"remote": "remote_wait", "conflict": "conflict"}
    statuses: dict[object, ProposalStatus] = {"open": "pending", "answered": "approved", "over": "outdated"}
    name, path, id, matter, answer, theirs = _words(row, "name", "path", "id", "matter", "answer", "theirs")
    return Proposal(kinds[row["subject"]], name, path, id, written, key=key, subject=matter, facts={"theirs": theirs},
                    choices=parse_words(row["choices"]), status=statuses[row["status"]], reason=answer)  # fmt: skip


def _text(key: str, row: dict[str, object], written: datetime) -> Proposal:
    empty = {name: "" for name in ("key", "subject", "shown", "why", "change", "run", "session", "call")}
    return parse_proposal({**empty, "bases": {}, "expires": None, **row})


def _words(row: dict[str, object], *names: str) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def _status(row: dict[str, object]) -> ProposalStatus:
    found: dict[object, ProposalStatus] = {
        each: each for each in ("asking", "pending", "approved", "used", "rejected", "expired", "outdated")
    }
    return found[{"accepted": "approved", "unwritten": "rejected"}.get(str(row["status"]), row["status"])]


_READ: Mapping[str, Callable[[str, dict[str, object], datetime], Proposal]] = {
    "approvals": _call,
    "reviewed/asked": _review,
    "skill-suggestions": _offer,
    "arrivals": _arrival,
    "job-approvals": _job,
    "proposals": _text,
    "sync-questions": _choice,
}
