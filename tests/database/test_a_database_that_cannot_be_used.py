"""A shared database that stands still, only reads, or is of another kind: said in words, and never waited for long."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.database import connection as limits
from agent.database.away import DatabaseAway, DatabaseFault
from agent.database.connection import SharedDatabase, database_errors
from agent.database.tables import DatabaseTables
from tests.postgres_server import PostgresServer

TABLES = ("create table if not exists words (word text primary key)",)


@pytest.fixture
def tables(database_url: str, tmp_path: Path) -> Iterator[DatabaseTables]:
    schema = f"words_{tmp_path.name}"
    made = DatabaseTables(SharedDatabase(database_url, "v"), schema, TABLES)
    yield made
    made.ask(f'drop schema "{schema}" cascade')
    made.close()


def test_a_server_that_stands_still_is_not_waited_for(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_GRACE", 0.1)
    made = SharedDatabase(database_url, "v").connect(seconds=0.2)
    process = made.info.backend_pid
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(DatabaseAway, match="does not answer"), database_errors():
            made.execute("select 1")
        assert made.closed
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_writer_waits_for_a_long_question_and_not_for_a_server_that_stands_still(
    postgres: PostgresServer, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECT_SECONDS", 2)  # no driver waits for less
    made = SharedDatabase(database_url, "v").connect(seconds=0)
    monkeypatch.setattr(made, "limit", 0.1)
    assert made.execute("select pg_sleep(0.5)").fetchall()
    with postgres.standing_still():
        with pytest.raises(DatabaseAway, match="does not answer"), database_errors():
            made.execute("select 1")
        assert made.closed


def test_tables_that_were_deleted_are_made_again(tables: DatabaseTables) -> None:
    for deleted in ("table words", f'schema "{tables.schema}" cascade'):
        tables.ask("insert into words values ('kettle')")
        assert tables.ask("select word from words") == [("kettle",)]
        tables.ask(f"drop {deleted}")
        assert tables.ask("select word from words") == []


def test_a_copy_that_is_only_read_is_named(tables: DatabaseTables) -> None:
    tables.ask("select word from words")
    tables.ask("set default_transaction_read_only = on")
    with pytest.raises(DatabaseFault, match="read-only") as found:
        tables.ask("insert into words values ('kettle')")
    assert "not a copy" in str(found.value.hint)
    tables.ask("set default_transaction_read_only = off")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_all_characters_is_refused(
    postgres: PostgresServer, database_url: str, encoding: str
) -> None:
    name = encoding.lower()
    options = ("-h", str(postgres.folder), "-U", "vault")
    postgres.run("createdb", *options, "-E", encoding, "-T", "template0", name)
    with pytest.raises(DatabaseFault, match=encoding):
        SharedDatabase(database_url.replace("dbname=tests", f"dbname={name}"), "v").connect()


@pytest.mark.parametrize("password", ["geheim@123", "geheim/123", "12?geheim", "gehe%zzim"])
def test_a_password_that_is_not_escaped_stands_in_no_error(password: str) -> None:
    with pytest.raises((DatabaseAway, DatabaseFault)) as found:
        SharedDatabase(f"postgresql://me:{password}@127.0.0.1:1/notes", "v").connect()
    told = f"{found.value} {found.value.hint} {found.value.__cause__}"
    assert "123" not in told and "gehe" not in told
