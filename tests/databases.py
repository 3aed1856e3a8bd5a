"""The one PostgreSQL server of a test session; tests use other names in its one database."""

from collections.abc import Iterator

import pytest

from tests.postgres_server import REASON, PostgresServer, postgres_server, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if programs() is None:
        pytest.skip(REASON)
    pytest.importorskip("psycopg")
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """The address of the tests' database."""
    return postgres.url("tests")
