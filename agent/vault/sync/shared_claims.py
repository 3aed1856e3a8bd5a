"""Claims and values of machines in the shared database, in place of references on the remote.

A claim is a row, of which each vault has one for what is claimed. The server's clock says when one has expired, so that
no clock of a machine matters. A turn is still handed over with the notes: git alone has those.
"""

from collections.abc import Mapping
from dataclasses import replace

from agent.database.away import DatabaseAway, DatabaseFault
from agent.database.connection import SharedDatabase
from agent.database.tables import DatabaseTables
from agent.dataclass import dataclass
from agent.vault.store import Vault
from agent.vault.sync.claims import KEPT, Claim, Claims, Machine, RemoteUnreachable, claim_key

_SCHEMA = "vault_agent_fleet"
_TABLES = (
    "create table if not exists claims (vault text, key text, what text not null, machine text not null, "
    "name text not null, token text not null, oid text not null, until timestamptz not null, primary key (vault, key))",
    "create table if not exists told (vault text, kind text, machine text, value text not null, "
    "primary key (vault, kind, machine))",
)


def fleet_tables(database: SharedDatabase) -> DatabaseTables:
    """The tables with claims and values of all vaults."""
    return DatabaseTables(database, _SCHEMA, _TABLES)


class SharedClaims(Claims):
    """The claims of one vault in the shared database; where `Claims` speaks of the remote, it is the database here."""

    def __init__(self, vault: Vault, machine: Machine, run_on: str, database: SharedDatabase) -> None:
        super().__init__(vault, machine, run_on)
        self._tables = fleet_tables(database)

    def release(self, claim: Claim) -> None:
        known = self._records.get(claim_key(claim.what))
        is_renewed = known is not None and known.token == claim.token and known.oid != claim.oid
        if not is_renewed:
            query = "delete from claims where vault = %s and key = %s and token = %s"
            self._ask(query, self._name, claim_key(claim.what), claim.token)
        self._forget(claim)

    def clean(self) -> int:
        query = "delete from claims where vault = %s and until < now() - %s returning key"
        return len(self._ask(query, self._name, KEPT))

    def _is_there(self) -> None:
        self._ask("select 1")

    @property
    def _name(self) -> str:
        return self._tables.database.vault

    def _put(self, wanted: Claim, before: str, *, is_new: bool) -> Claim | None:
        wanted = replace(wanted, oid=self.vault.clock.new_id())
        values = (self._name, claim_key(wanted.what), wanted.what, self.machine.id, self.machine.name, wanted.token)
        try:
            rows = self._ask(
                "insert into claims as c select %s, %s, %s, %s, %s, %s, %s, now() + %s * interval '1 second' "
                "where %s or exists (select from claims where vault = %s and key = %s and token = %s) "
                "on conflict (vault, key) do update set what = excluded.what, machine = excluded.machine, "
                "name = excluded.name, token = excluded.token, oid = excluded.oid, until = excluded.until "
                "where c.token = excluded.token or (%s and c.until < now()) returning oid",
                *(*values, wanted.oid, wanted.seconds, is_new, *values[:2], wanted.token, is_new),
            )
        except RemoteUnreachable:
            if not self.acts_without_remote:
                raise
            return self._keep(replace(wanted, oid="" if is_new else before))
        return self._keep(wanted) if rows else None

    def _ask(self, query: str, *values: object) -> list[tuple[object, ...]]:
        try:
            return self._tables.ask(query, *values)
        except (DatabaseAway, DatabaseFault) as error:
            self._note_absence()
            raise RemoteUnreachable(
                "the shared database cannot be asked whether another machine does it: {reason}",
                hint="vault-agent config set sync.run_on {machine} lets this machine do it without asking",
                reason=error.message,
                machine=self.machine.name,
            ) from error


@dataclass(frozen=True, slots=True)
class DatabaseValues:
    """What machines show to each other in the shared database: one value of a kind each."""

    tables: DatabaseTables
    kind: str

    def show(self, machine: str, value: str) -> None:
        """Show a value in place of the machine's last one; raises `AgentError` when the server is away."""
        self.tables.ask(
            "insert into told values (%s, %s, %s, %s) on conflict (vault, kind, machine) "
            "do update set value = excluded.value",
            *(self.tables.database.vault, self.kind, machine, value),
        )

    def others(self, machine: str) -> Mapping[str, str]:
        """The values of the other machines."""
        query = "select machine, value from told where vault = %s and kind = %s and machine <> %s"
        return dict(self.tables.ask(query, self.tables.database.vault, self.kind, machine))
