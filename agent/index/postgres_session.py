"""A connection to one index in the shared database: its tables are those of one schema.

Each index that is built has a schema of its own. What goes wrong becomes `DatabaseAway` (no server, and nothing is
damaged), `DatabaseFault` (a person has to look), or `Damaged` (the next update builds the index anew).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from hashlib import sha256

from agent.database.away import DatabaseAway, MissingThere
from agent.database.connection import READ_SECONDS, Connection, SharedDatabase, database_errors
from agent.database.held import HeldConnection
from agent.dataclass import dataclass
from agent.index.files import Damaged

_IDLE = 0
"""libpq's status of a connection without a transaction."""
SETTINGS = (
    "set hnsw.ef_search = 100; set hnsw.iterative_scan = relaxed_order; "
    "set jit = off; set enable_hashjoin = off; set enable_mergejoin = off"
)
"""A search asks for few rows of large tables by their keys: each plan that reads more is a wrong guess."""

_SEARCH_PATH = (
    "select set_config('search_path', concat_ws(', ', '\"{}\"', (select extnamespace::regnamespace::text "
    "from pg_extension where extname = 'vector')), false)"
)
"""The schema, and that of pgvector, which each kind of server has elsewhere."""


@contextmanager
def index_errors() -> Iterator[None]:
    """Convert errors of the database, and of parsing what it holds."""
    try:
        with database_errors():
            yield
    except MissingThere as error:
        raise Damaged("{problem}", problem=error.message) from error
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise Damaged("{path} cannot be read: {reason}", path="the shared index", reason=error) from error


def schema_name(vault: str, number: int) -> str:
    """The schema of a vault's index; each that is built has a number of its own."""
    return f"vault_agent_{sha256(vault.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}_{number}"


@dataclass(slots=True)
class IndexSession:
    """One connection, used by one thread at a time. `writes`: its questions may last, and its schema is created."""

    database: SharedDatabase
    schema: str
    writes: bool = False
    _held: HeldConnection = field(init=False)

    def __post_init__(self) -> None:
        self._held = HeldConnection(self.database, self._beginning(), 0 if self.writes else READ_SECONDS)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The connection, in whatever transaction it is."""
        try:
            with index_errors():
                yield self._held.connection()
        except DatabaseAway:
            self.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """One consistent state of the tables."""
        begin = "begin isolation level repeatable read read only"
        with index_errors():
            self._held.ask(lambda connection: connection.execute(begin))
        with self.reading() as connection:
            try:
                yield connection
            finally:
                if not connection.closed:
                    connection.execute("rollback")

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All that is written inside, or nothing; inside another transaction a part of it."""
        with self.reading() as connection, connection.transaction():
            yield connection

    @property
    def is_open(self) -> bool:
        """True if it has a connection that is not known to be cut."""
        return self._held.opened is not None and not self._held.opened.closed

    @property
    def is_in_transaction(self) -> bool:
        """True inside `snapshot` or `transaction`."""
        return self._held.opened is not None and self._held.opened.info.transaction_status != _IDLE

    def has(self, table: str) -> bool:
        """True if there is a table of this name."""
        with self.reading() as connection:
            row = connection.execute("select to_regclass(%s)", (f'"{self.schema}".{table}',)).fetchone()
        return row is not None and row[0] is not None

    def enter(self, schema: str) -> None:
        """Go on in another schema, with the same connection."""
        self.schema = schema
        with index_errors():
            self._held.begin(self._beginning())

    def close(self) -> None:
        """Close the connection; the next question makes another."""
        self._held.close()

    def _beginning(self) -> str:
        first = f'create schema if not exists "{self.schema}"' if self.writes else SETTINGS
        return f"{first}; {_SEARCH_PATH.format(self.schema)}"
