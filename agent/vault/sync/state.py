"""What this machine knows of its remotes: which are kept in step, when each had this vault's commit, and what is wrong.

One file beside the vault's other private files; lost, it is made again by `sync setup`.

The conflicts that rounds of sync have left, until the person is asked about them: outside the vault, so that a
round that nobody watches, or that the machine's end cuts short, loses none.
"""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from agent.config import durable
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.records.table import Table
from agent.texts import Sentence
from agent.vault.layout import SYNC_STATE
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class UnaskedConflict:
    """A note, or the copy beside it, that two machines have changed."""

    path: str


def unasked_conflicts(vault: Vault) -> Table[UnaskedConflict]:
    """The records of a vault's conflicts, by the keys of `add_unasked`."""
    return Table(vault.records, "unasked-conflicts", UnaskedConflict)


def add_unasked(vault: Vault, path: str) -> None:
    """Record that a note has a conflict; durable when this returns."""
    unasked_conflicts(vault).put(UnaskedConflict(path), _key(path))


def drop_unasked(vault: Vault, path: str) -> None:
    """Delete the record: the person was asked, or there is nothing to ask."""
    unasked_conflicts(vault).drop(_key(path))


def _key(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]


class WaitKind(StrEnum):
    """Why a remote waits for the person."""

    REWRITTEN = "rewritten"
    """Its history was replaced, and notes would lose text."""
    INCOMING = "incoming"
    """It would delete or empty too many notes here."""
    OUTGOING = "outgoing"
    """Too many notes would be deleted or emptied there."""
    UNRELATED = "unrelated"
    """It has another vault."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A question to the person about a remote: our commit and theirs, and the notes that would lose text."""

    kind: WaitKind
    ours: str
    theirs: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedCommit:
    """A commit of a remote that is too much to be taken in: the `mark` of it and of the limits, and what to say."""

    mark: str
    reason: Sentence
    hint: Sentence


@dataclass(frozen=True, slots=True)
class SyncedRemote:
    """A remote that is kept in step. `agreed`: the last commit that both had, at the time `agreed_at`.

    `trouble` is what is wrong, with a `hint`, since the time `since`; `is_passing` if it may pass by itself. `answer`:
    what the person has said about `wait`. `left_out`: files that the remote does not take. `refusal`: why what
    is there cannot be taken in.
    """

    name: str
    address: str
    branch: str
    agreed: str = ""
    agreed_at: datetime | None = None
    tried_at: datetime | None = None
    trouble: Sentence = Sentence("")
    hint: Sentence = Sentence("")
    is_passing: bool = True
    since: datetime | None = None
    wait: Wait | None = None
    left_out: tuple[str, ...] = ()
    refusal: "RefusedCommit | None" = None

    @property
    def tracking(self) -> str:
        """The remote-tracking reference."""
        return f"refs/remotes/{self.name}/{self.branch}"

    def failed(self, trouble: Sentence, hint: Sentence, now: datetime, *, is_passing: bool) -> "SyncedRemote":
        """The remote after a round that did not reach its end."""
        since = self.since if self.trouble else now
        return replace(self, tried_at=now, trouble=trouble, hint=hint, is_passing=is_passing, since=since)

    def agrees(self, commit: str, now: datetime) -> "SyncedRemote":
        """The remote after a round: it has this commit."""
        return replace(
            self,
            agreed=commit,
            agreed_at=now,
            tried_at=now,
            trouble=Sentence(""),
            hint=Sentence(""),
            since=None,
            wait=None,
            refusal=None,
        )


@dataclass(frozen=True, slots=True)
class SyncState:
    """All remotes of a vault that are kept in step, by name; `is_paused` until `sync resume`."""

    remotes: Mapping[str, SyncedRemote] = field(default_factory=dict)
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class StateFile:
    """The file with the state of one vault."""

    path: Path

    def load(self) -> SyncState:
        """The state; empty if the file is missing or damaged: nothing is then sent or received."""
        try:
            document = parse_json(self.path.read_text("utf-8"))
            remotes = {str(each["name"]): _remote(each) for each in document["remotes"]}
            return SyncState(remotes, bool(document.get("paused")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return SyncState()

    def save(self, state: SyncState) -> None:
        """Replace the state; durable when this returns."""
        remotes = [_document(each) for each in state.remotes.values()]
        durable.replace(self.path, json.dumps({"remotes": remotes, "paused": state.is_paused}, indent=1))

    def put(self, remote: SyncedRemote) -> None:
        """Replace what is known of one remote."""
        state = self.load()
        self.save(replace(state, remotes={**state.remotes, remote.name: remote}))

    def drop(self, name: str) -> None:
        """Forget a remote."""
        state = self.load()
        self.save(replace(state, remotes={key: each for key, each in state.remotes.items() if key != name}))


def _document(remote: SyncedRemote) -> dict[str, object]:
    wait = remote.wait
    return {
        "name": remote.name,
        "address": remote.address,
        "branch": remote.branch,
        "agreed": remote.agreed,
        "agreed_at": _time(remote.agreed_at),
        "tried_at": _time(remote.tried_at),
        "trouble": _row_of(remote.trouble),
        "hint": _row_of(remote.hint),
        "passing": remote.is_passing,
        "since": _time(remote.since),
        "wait": [wait.kind.value, wait.ours, wait.theirs, list(wait.paths)] if wait is not None else None,
        "left_out": list(remote.left_out),
        "refusal": [each.mark, _row_of(each.reason), _row_of(each.hint)]
        if (each := remote.refusal) is not None
        else None,
    }


def _remote(document: Mapping[str, object]) -> SyncedRemote:
    wait = document.get("wait")
    left_out, refusal = document.get("left_out"), document.get("refusal")
    return SyncedRemote(
        str(document["name"]),
        str(document["address"]),
        str(document["branch"]),
        str(document.get("agreed") or ""),
        _read_time(document.get("agreed_at")),
        _read_time(document.get("tried_at")),
        _read_sentence(document.get("trouble")),
        _read_sentence(document.get("hint")),
        bool(document.get("passing", True)),
        _read_time(document.get("since")),
        Wait(WaitKind(wait[0]), wait[1], wait[2], tuple(wait[3])) if isinstance(wait, list) else None,
        tuple(map(str, left_out)) if isinstance(left_out, list) else (),
        RefusedCommit(str(refusal[0]), _read_sentence(refusal[1]), _read_sentence(refusal[2]))
        if isinstance(refusal, list)
        else None,
    )


def _row_of(sentence: Sentence) -> list[object]:
    values = {name: _row_of(each) if isinstance(each, Sentence) else each for name, each in sentence.values.items()}
    plain = {name: each if isinstance(each, str | int | float | list) else str(each) for name, each in values.items()}
    return [sentence.english, plain]


def _read_sentence(found: object) -> Sentence:
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[1], dict):
        return Sentence("")
    values = {str(name): _read_sentence(each) if isinstance(each, list) else each for name, each in found[1].items()}
    return Sentence(str(found[0]), **values)


def _time(at: datetime | None) -> str:
    return at.isoformat() if at is not None else ""


def _read_time(found: object) -> datetime | None:
    return datetime.fromisoformat(found) if isinstance(found, str) and found else None


def state_file(vault: Vault) -> StateFile:
    """The file with the state of a vault's remotes."""
    return StateFile(vault.private_folder / SYNC_STATE)


def sync_state(vault: Vault) -> SyncState:
    """The remotes of a vault that are kept in step."""
    return state_file(vault).load()
