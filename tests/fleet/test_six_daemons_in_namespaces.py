"""Six daemons, each in a network namespace of its own, with one database and one remote: cut off and killed, they do
each occurrence of a job once, lose no line, and do not pass the limit of the day."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.database.connection import SharedDatabase
from agent.schedule.history import RAN, HistoryRow, parse_history
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.sync.shared_claims import fleet_tables
from agent.vault.sync.state import SyncedRemote, state_file
from agent.workspace.workspace import Workspace, load_daemon_state
from tests.daemon.process import environment
from tests.fleet.namespaces import REASON, SERVER, Network, can_be_made, network
from tests.fleet.server import DATABASE, GIT
from tests.jobs.town import QUICK, job
from tests.postgres_server import PostgresServer
from tests.remotes import clone_as, git_as, make_remote
from tests.stories.agents import NOTES, PROJECT, script
from tests.trust.git_server import NAME
from tests.vaults import git, make_vault

COUNT, MINUTES = 6, 5
"""The daemons, and the occurrences, one in each minute: with a clock that is set nothing is pushed."""
LIMIT = 40_000
"""Tokens of a day on all machines; a run takes about 4,000."""
ENDS = 90.0


@dataclass
class Member:
    """A machine of the fleet with its daemon; one that has no process is dead."""

    number: int
    workspace: Workspace
    environ: Mapping[str, str]
    process: "subprocess.Popen[bytes] | None" = None
    lines: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"m{self.number}"

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def is_ready(self) -> bool:
        """True once the daemon follows the vault."""
        assert self.process is not None and self.process.poll() is None, (self.root.parent / "log").read_text("utf-8")
        state = load_daemon_state(self.workspace) or {}
        return state.get("pid") == self.process.pid and "files" in state and not state.get("starting")

    def start(self, place: Network) -> None:
        words = place.command(self.number, [sys.executable, "-m", "agent", "daemon", str(self.root)])
        with (self.root.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(words, env=dict(self.environ), stdout=log, stderr=log)

    def kill(self) -> None:
        """End it as a loss of power does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def end(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(ENDS)
            self.process = None

    def save(self, line: str) -> None:
        """Add a line to the machine's own note and to one of all machines, as an editor does."""
        for path in (f"{self.name}.md", "shared.md"):
            with (self.root / path).open("a", encoding="utf-8") as file:
                file.write(f"{line} in {path}\n\n")
            self.lines.append(f"{line} in {path}")


@contextmanager
def fleet(
    folder: Path, postgres: PostgresServer, database: str, put: pytest.MonkeyPatch
) -> Iterator[tuple[Network, list[Member]]]:
    """The machines, none of them started, and the network between them and their server."""
    remote = folder / NAME
    make_remote(remote)
    said = script(folder / "script.json", "Good morning.", after="Good morning.")
    notes = {**NOTES, "jobs/often.md": job("{cron: '* * * * *'}", "Say hello."), "shared.md": "# Shared\n\n"}
    with network(COUNT) as place:
        words = [sys.executable, "-m", "tests.fleet.server", SERVER, str(folder), f"{postgres.folder}/.s.PGSQL.5432"]
        serving = subprocess.Popen(place.command(None, words), env={**os.environ, "PYTHONPATH": str(PROJECT)})
        members = []
        try:
            for number in range(COUNT):
                members.append(_member(folder, number, notes, remote, said, database, put))
            yield place, members
        finally:
            for each in members:
                each.kill()
            serving.kill()
            serving.wait()


def _member(
    folder: Path,
    number: int,
    notes: Mapping[str, str],
    remote: Path,
    said: Path,
    database: str,
    put: pytest.MonkeyPatch,
) -> Member:
    """A machine with a clone, which trusts the remote and the job."""
    root = folder / f"m{number}" / "vault"
    if number:
        root.parent.mkdir()
        clone_as(f"m{number}", remote, root)
    else:
        make_vault(root.parent, notes)
        git_as(root, "m0", "remote", "add", "origin", str(remote))
        git_as(root, "m0", "push", "-q", "origin", "main")
    address = f"http://{SERVER}:{GIT}/{NAME}"
    git(root, "remote", "set-url", "origin", address)
    own = {
        **QUICK,
        "VAULT_AGENT_MACHINE__NAME": f"m{number}",
        "VAULT_AGENT_LLM__WIRE": "scripted",
        "VAULT_AGENT_LLM__SCRIPT": str(said),
        "VAULT_AGENT_SPEND__DAILY_TOKENS": str(LIMIT),
        "VAULT_AGENT_SPEND__JOBS_TOKENS": str(LIMIT),
        "VAULT_AGENT_SYNC__QUIET_SECONDS": "2",
        "VAULT_AGENT_SYNC__INTERVAL_SECONDS": "20",
        "VAULT_AGENT_SYNC__CLAIMS": "postgres",
        "VAULT_AGENT_INDEX__ENGINE": "postgres",
        "VAULT_AGENT_DATABASE__URL": f"postgresql://vault@{SERVER}:{DATABASE}/{database}",
        "VAULT_AGENT_GROWTH__CURIOSITY__UNPROMPTED": "false",
    }
    environ = environment(root.parent / "home", own)
    with put.context() as here:
        for key, value in environ.items():
            here.setenv(key, value)
        workspace = open_workspace(root)
        vault = workspace.vault
        vault.provenance.answers.answer(plain_address(address), Writers.ME)
        state_file(vault).put(SyncedRemote("origin", address, "main"))
        vault.provenance.look()
        vault.provenance.has_seen("jobs/often.md")
    return Member(number, workspace, environ)


def rows(text: str) -> tuple[HistoryRow, ...]:
    return parse_history(text.encode())


@pytest.mark.chaos
@pytest.mark.skipif(not can_be_made(), reason=REASON)
@pytest.mark.parametrize("seed", range(2))
def test_a_fleet_in_namespaces(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    database = f"fleet{seed}"
    socket = postgres.url(database)
    chance, real = random.Random(seed), SystemClock()
    with fleet(tmp_path, postgres, database, monkeypatch) as (place, members):
        for each in members:
            each.start(place)
        while not all(each.is_ready() for each in members):
            real.sleep(0.2)
        for minute in range(MINUTES):
            away = chance.sample(range(COUNT), chance.randrange(3))
            for number in away:
                place.cut(number)
            dead = chance.choice(members) if chance.random() < 0.5 else None
            for each in chance.sample(members, 2):
                each.save(f"line {minute} of {each.name}")
            real.sleep(30)
            if dead is not None:
                dead.kill()
            real.sleep(30)
            for number in away:
                place.mend(number)
            if dead is not None:
                dead.start(place)
        spent = settled(place, members, tmp_path / NAME, socket)
    history = rows(git(tmp_path / NAME, "show", "main:jobs/history/often.md"))
    ran = Counter(each.planned for each in history if each.outcome in RAN)
    outcomes = Counter(each.outcome for each in history)
    assert ran and set(ran.values()) == {1}, outcomes
    assert 0 < spent <= LIMIT
    files = git(tmp_path / NAME, "ls-tree", "-r", "--name-only", "main").split("\n")
    text = "".join(git(tmp_path / NAME, "show", f"main:{path}") for path in files if path.endswith(".md"))
    assert [line for each in members for line in each.lines if line not in text] == []
    sys.stdout.write(f"seed {seed}: {dict(outcomes)} by {Counter(each.machine for each in history)}, {spent} tokens\n")


def settled(place: Network, members: list[Member], remote: Path, url: str) -> int:
    """Let all that is left be sent, and end the daemons; the tokens that all have spent."""
    real = SystemClock()
    until = real.monotonic() + 120
    wanted = {line for each in members for line in each.lines}
    while real.monotonic() < until:
        names = [f"{each.name}.md" for each in members] + ["shared.md"]
        there = set(git(remote, "ls-tree", "--name-only", "main").split())
        text = "".join(git(remote, "show", f"main:{name}") for name in names if name in there)
        if all(line in text for line in wanted):
            break
        real.sleep(1)
    real.sleep(20)
    for each in members:
        each.end()
    tables = fleet_tables(SharedDatabase(url, ""))
    values = tables.ask("select value from told where kind = 'spend'")
    tables.close()
    return sum(json.loads(value)["tokens"] for (value,) in values)
