"""Claims: of several machines with one vault, one does a piece of work. Start reading at `Claims.take`.

A claim is a reference of the remote, `refs/vault-agent/claims/<hash of what is claimed>`, on a small text that says who
has it and until when. It is taken, renewed and given back by compare-and-swap, so that of two machines that want it at
the same moment one gets it. A machine that has died leaves a claim that expires.

Clocks differ: a claim is taken over `SLACK` seconds after its end by the clock of who takes it over, or after it was
seen unchanged for its whole length and `SLACK` seconds, whatever its times say. A machine whose clock is wrong by more
may lose a claim too early; its work is in vain then, but not done twice: who has a claim renews it before the result is
written, and a claim that was lost cannot be renewed.

When the remote was away, the machine that is named in `run_on` has perhaps done what nobody else knows of: once the
remote is back, the others whose settings name it let it go first for `GOES_FIRST` seconds.

Without a remote every claim is granted here. With several, the one whose address comes first in the alphabet has the
claims, as it is the same on all machines that share it.
"""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable
from agent.git.network import Network, RefUpdate, RefusedRef
from agent.git.repository import OWN_REFS
from agent.json_value import parse_json
from agent.records.table import Table
from agent.texts import Sentence
from agent.vault.layout import SYNC_STATE
from agent.vault.provenance.remotes import plain_address
from agent.vault.store import Vault
from agent.vault.sync.problems import problem_of
from agent.vault.sync.state import StateFile, SyncedRemote

CLAIMS = f"{OWN_REFS}claims/"
"""The references on the remote."""
SLACK = 120.0
"""Seconds by which the clocks of two machines may differ: those that are set by a time server differ by less than one,
those that are set by hand by a minute or so."""
KEPT = timedelta(days=7)
"""The time after which an expired claim is removed from the remote."""
LONGEST = 3 * 86_400.0
"""Seconds: the longest claim; a longer one counts as so long."""
SECONDS = 30.0
"""The most seconds for one question to the remote: a claim is some hundred bytes, and work waits for it."""
GOES_FIRST = 90.0
"""Seconds in which a machine that has worked without the remote hands over what it did, once the remote is back: it
tries every ten seconds, and one try may wait for the network for thirty. One that is gone delays the others by that."""
_COPIES = f"{OWN_REFS}claims-read/"
"""References in this repository, each for the moment in which a claim is read."""
_TRIES = 3
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 10_000
"""Bytes of a claim; a larger file at such a reference is none."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine with the vault: `id` never changes for its clone, `name` is for people."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The right of one machine to do `what`. `token` is another one each time that it is taken; `oid` is the object on
    the remote, empty for a claim that was granted here without asking a remote."""

    what: str
    machine: Machine
    token: str
    since: datetime
    until: datetime
    seconds: float
    oid: str = ""


class RemoteUnreachable(Retryable):
    """The remote that has the claims cannot be asked, and this machine must not act without it."""


@dataclass(slots=True)
class Claims:
    """The claims of one vault, as this machine sees them; for use by several threads. `run_on` names the machine that
    acts when the remote cannot be reached; empty for none.

    All methods that ask the remote may take up to `SECONDS` seconds for each question, and raise `RemoteUnreachable`.
    """

    vault: Vault
    machine: Machine
    run_on: str = ""
    _seen: dict[str, float] = field(default_factory=dict, init=False)
    _was_away: bool = field(default=False, init=False)
    _back_since: float | None = field(default=None, init=False)

    def take(self, what: str, seconds: float) -> Claim | None:
        """Claim something for this many seconds; None if another machine has it.

        A claim that this machine has already is renewed, also after a restart.
        """
        known = self._records.get(claim_key(what))
        if known is not None and (renewed := self.renew(known, seconds)) is not None:
            return renewed
        return self._put(self._new(what, seconds), "", is_new=True)

    def renew(self, claim: Claim, seconds: float) -> Claim | None:
        """Have a claim for this many seconds from now; None if it was lost: another machine does the work, or has done
        it.

        A claim that was granted without the remote is taken there as soon as it can be reached.
        """
        again = replace(self._new(claim.what, seconds), token=claim.token, since=claim.since)
        renewed = self._put(again, claim.oid, is_new=not claim.oid)
        if renewed is None:
            self._forget(claim)
        return renewed

    def release(self, claim: Claim) -> None:
        """Give a claim back, if this machine still has it, and has not renewed it for other work."""
        remote, ref = self.remote, _ref(claim.what)
        if remote is not None and claim.oid and self._push(remote, RefUpdate("", ref, claim.oid)):
            known, found = self._records.get(claim_key(claim.what)), self._read(remote, [ref]).get(ref)
            is_renewed = known is not None and known.oid != claim.oid
            if found is not None and found.token == claim.token and not is_renewed:
                self._push(remote, RefUpdate("", ref, found.oid))  # only the answer to a renewal was lost
        self._forget(claim)

    def lets_others_first(self) -> bool:
        """True for a while after the remote was away, on a machine whose `run_on` names another one; look before a
        claim is taken for new work."""
        remote = self.remote
        if remote is None or not self.run_on or self.acts_without_remote or not self._was_away:
            return False
        self._is_there()
        now = self.vault.clock.monotonic()
        self._back_since = now if self._back_since is None else self._back_since
        self._was_away = now - self._back_since < GOES_FIRST
        return self._was_away

    def held(self) -> tuple[Claim, ...]:
        """The claims that this machine has taken and not given back, also before a restart; some may be lost."""
        return tuple(self._records.all())

    def clean(self) -> int:
        """Remove claims from the remote that expired long ago; returns their number."""
        remote, git = self.remote, self.vault.git
        if remote is None:
            return 0
        for copy in git.run("for-each-ref", "--format=%(refname)", _COPIES).decode().split():
            git.run("update-ref", "-d", copy)  # left by a process that was killed
        found = self._read(remote, [f"{CLAIMS}*"])
        long_ago = self.vault.clock.now() - KEPT
        old = [RefUpdate("", ref, claim.oid) for ref, claim in found.items() if claim.until < long_ago]
        return len(old) - len(self._push(remote, *old)) if old else 0

    def _is_there(self) -> None:
        """Raise `RemoteUnreachable` if nobody can be asked for a claim."""
        if (remote := self.remote) is not None:
            self._list(remote, [f"{CLAIMS}none"])

    def _note_absence(self) -> None:
        """Remember that nobody could be asked."""
        self._was_away, self._back_since = True, None

    @property
    def remote(self) -> SyncedRemote | None:
        """The remote that has the claims; None if none is set up."""
        return claims_remote(self.vault)

    @property
    def acts_without_remote(self) -> bool:
        """True if this machine acts when the remote cannot be reached."""
        return bool(self.run_on) and self.run_on.casefold() == self.machine.name.casefold()

    def _put(self, wanted: Claim, before: str, *, is_new: bool) -> Claim | None:
        """Put a claim in place of the object `before` (empty: of nothing); None if another machine has it.

        `is_new`: it may take the place of an expired one.
        """
        remote = self.remote
        if remote is None:
            return wanted
        try:
            return self._put_there(remote, wanted, before, is_new=is_new)
        except RemoteUnreachable:
            if not self.acts_without_remote:
                raise
            return self._keep(replace(wanted, oid="" if is_new else before))

    def _put_there(self, remote: SyncedRemote, wanted: Claim, before: str, *, is_new: bool) -> Claim | None:
        ref, wanted = _ref(wanted.what), self._stored(wanted)
        refused: tuple[RefusedRef, ...] = ()
        for _ in range(_TRIES):
            refused = self._push(remote, RefUpdate(wanted.oid, ref, before))
            if not refused:
                return self._keep(wanted)
            other = self._read(remote, [ref]).get(ref)
            if other is None and not is_new:
                return None
            if other is not None and other.token != wanted.token and not (is_new and self._is_over(other)):
                return None
            if other is not None and other.oid == wanted.oid:
                return self._keep(wanted)  # it had arrived, and only the answer was lost
            before = other.oid if other is not None else ""
        raise self._unreachable(remote, problem_of(refused).reason)

    def _stored(self, claim: Claim) -> Claim:
        """The claim with its object, which is in this repository now."""
        data = json.dumps(_document(claim), ensure_ascii=False).encode("utf-8", "replace")
        command = ("hash-object", "-w", "--no-filters", "-t", "blob", "--stdin")
        return replace(claim, oid=self.vault.git.run(*command, stdin=data).decode().strip())

    def _is_over(self, claim: Claim) -> bool:
        """True if another machine's claim has expired, by its times or by how long it was seen here."""
        now = self.vault.clock.monotonic()
        first = self._seen.setdefault(claim.oid, now)
        length = claim.seconds if 0 <= claim.seconds <= LONGEST else LONGEST
        return self.vault.clock.now() > claim.until + timedelta(seconds=SLACK) or now - first > length + SLACK

    def _read(self, remote: SyncedRemote, patterns: list[str]) -> dict[str, Claim]:
        """The claims on the remote by reference; for what is there and is no claim, one that has expired long ago."""
        for last in (False, False, True):
            found = self._list(remote, patterns)
            if not found:
                break
            try:
                return self._fetched(remote, found)
            except AgentError as error:  # one was perhaps given back or renewed in between
                if last:
                    raise self._unreachable(remote, problem_of(error).reason) from error
        return {}

    def _fetched(self, remote: SyncedRemote, found: Mapping[str, str]) -> dict[str, Claim]:
        mark = self.vault.clock.new_id()
        copies = {ref: f"{_COPIES}{mark}/{ref.removeprefix(CLAIMS)}" for ref in found}
        git = self.vault.git
        try:
            Network(git, SECONDS).fetch(remote.address, [f"+{ref}:{copy}" for ref, copy in copies.items()])
            here = zip(found, git.objects(list(copies.values())), strict=True)
            return {ref: _claim(each.data, each.oid) for ref, each in here if each is not None}
        finally:
            rows = "".join(f"delete {copy}\0\0" for copy in copies.values())
            git.run("update-ref", "--stdin", "-z", stdin=rows.encode(), ok=(0, 1, 128))

    def _list(self, remote: SyncedRemote, patterns: list[str]) -> dict[str, str]:
        self._check_paused(remote)
        try:
            return Network(self.vault.git, SECONDS).list_refs(remote.address, patterns)
        except AgentError as error:
            self._note_absence()
            raise self._unreachable(remote, problem_of(error).reason) from error

    def _push(self, remote: SyncedRemote, *updates: RefUpdate) -> tuple[RefusedRef, ...]:
        self._check_paused(remote)
        try:
            return Network(self.vault.git, SECONDS).push(remote.address, updates)
        except AgentError as error:
            self._note_absence()
            raise self._unreachable(remote, problem_of(error).reason) from error

    def _check_paused(self, remote: SyncedRemote) -> None:
        """Raise `RemoteUnreachable` while the person has paused sync: nothing is sent, and nothing heard."""
        if StateFile(self.vault.private_folder / SYNC_STATE).load().is_paused:
            raise self._unreachable(remote, Sentence("sync is paused"))

    def _unreachable(self, remote: SyncedRemote, reason: Sentence) -> RemoteUnreachable:
        return RemoteUnreachable(
            "{remote} cannot be asked whether another machine does it: {reason}",
            hint="vault-agent config set sync.run_on {machine} lets this machine do it without asking",
            remote=remote.name,
            reason=reason,
            machine=self.machine.name,
        )

    def _new(self, what: str, seconds: float) -> Claim:
        now = self.vault.clock.now()
        return Claim(what, self.machine, self.vault.clock.new_id(), now, now + timedelta(seconds=seconds), seconds)

    @property
    def _records(self) -> Table[Claim]:
        """The claims of this machine, kept outside the vault."""
        return _records(self.vault)

    def _keep(self, claim: Claim) -> Claim:
        self._records.put(claim, claim_key(claim.what))
        return claim

    def _forget(self, claim: Claim) -> None:
        known = self._records.get(claim_key(claim.what))
        if known is not None and known.token == claim.token and known.oid == claim.oid:
            self._records.drop(claim_key(claim.what))


def claims_remote(vault: Vault) -> SyncedRemote | None:
    """The remote that has the claims of a vault; None if none is set up."""
    remotes = StateFile(vault.private_folder / SYNC_STATE).load().remotes.values()
    return min(remotes, key=lambda each: plain_address(each.address), default=None)


def drop_claims(vault: Vault, remote: SyncedRemote) -> None:
    """Forget the claims that this machine has on a remote, if it is the one with the claims; there they expire."""
    records = _records(vault)
    for claim in records.all() if claims_remote(vault) == remote else ():
        records.drop(claim_key(claim.what))


def _records(vault: Vault) -> Table[Claim]:
    return Table(vault.records, "claims", Claim)


def claim_key(what: str) -> str:
    """The name under which the claim of something stands."""
    return sha256(what.encode("utf-8", "surrogateescape")).hexdigest()[:40]


def _ref(what: str) -> str:
    return CLAIMS + claim_key(what)


def _document(claim: Claim) -> dict[str, object]:
    return {
        "what": claim.what,
        "machine": {"id": claim.machine.id, "name": claim.machine.name},
        "token": claim.token,
        "since": claim.since.isoformat(),
        "until": claim.until.isoformat(),
        "seconds": claim.seconds,
    }


def _claim(data: bytes, oid: str) -> Claim:
    """The claim in an object of the remote; one that expired long ago for text that is none."""
    try:
        return replace(_parsed(parse_json(data[:_LARGEST])), oid=oid)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return Claim("", Machine("", ""), "", _LONG_AGO, _LONG_AGO, 0.0, oid)


def _parsed(row: Mapping[str, object]) -> Claim:
    since, until = (datetime.fromisoformat(str(row[name])) for name in ("since", "until"))
    machine = row["machine"]
    if since.tzinfo is None or until.tzinfo is None or not isinstance(machine, dict):
        raise ValueError("not a claim")
    who = Machine(str(machine["id"]), "".join(c for c in str(machine["name"]) if c.isprintable())[:60])
    return Claim(
        str(row["what"]),
        who,
        str(row["token"]),
        since,
        until.astimezone(UTC),
        float(str(row["seconds"])),
        str(row.get("oid") or ""),
    )
