"""A connection to one index in the shared database: its tables are those of one schema.

Each index that is built has a schema of its own. What goes wrong becomes `DatabaseAway` (no server, and nothing is
damaged), `DatabaseFault` (a person has to look), or `Damaged` (the next update builds the index anew).
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from hashlib import sha256

from agent.database.away import DatabaseAway, MissingThere
from agent.database.connection import Connection, SharedDatabase, database_errors
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
    "select set_config('search_path', concat_ws(', ', quote_ident(%s), (select extnamespace::regnamespace::text "
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
    _connection: Connection | None = field(default=None, init=False)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The connection, in whatever transaction it is."""
        try:
            with index_errors():
                yield self.connection
        except DatabaseAway:
            self.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """One consistent state of the tables."""
        with self.reading():
            connection = self._begun()
            try:
                yield connection
            finally:
                if not connection.closed:
                    connection.execute("rollback")

    def _begun(self) -> Connection:
        """The connection in a new transaction; one that was cut meanwhile, as by a server's restart, is made again."""
        begin = "begin isolation level repeatable read read only"
        if self._connection is not None:
            with suppress(DatabaseAway), index_errors():
                self._connection.execute(begin)
                return self._connection
            self.close()
        self.connection.execute(begin)
        return self.connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All that is written inside, or nothing; inside another transaction a part of it."""
        with self.reading() as connection, connection.transaction():
            yield connection

    @property
    def is_open(self) -> bool:
        """True if it has a connection that is not known to be cut."""
        return self._connection is not None and not self._connection.closed

    @property
    def is_in_transaction(self) -> bool:
        """True inside `snapshot` or `transaction`."""
        return self._connection is not None and self._connection.info.transaction_status != _IDLE

    def has(self, table: str) -> bool:
        """True if there is a table of this name."""
        with self.reading() as connection:
            row = connection.execute("select to_regclass(%s)", (f'"{self.schema}".{table}',)).fetchone()
        return row is not None and row[0] is not None

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = self.database.connect(**({"seconds": 0} if self.writes else {}))
            self._enter()
        return self._connection

    def enter(self, schema: str) -> None:
        """Go on in another schema, with the same connection."""
        self.schema = schema
        if self._connection is not None:
            with index_errors():
                self._enter()

    def close(self) -> None:
        """Close the connection; the next question makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _enter(self) -> None:
        assert self._connection is not None
        if self.writes:
            self._connection.execute(f'create schema if not exists "{self.schema}"')
        else:
            self._connection.execute(SETTINGS)
        self._connection.execute(_SEARCH_PATH, (self.schema,))
