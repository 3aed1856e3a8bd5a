"""Machines whose claims stand in a database: each piece of work is done once, no line is lost, no limit is passed."""

import random
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from agent.database.connection import SharedDatabase
from agent.errors import LimitReached, Retryable
from agent.llm.ledger import SpendTotals
from agent.llm.messages import Usage
from agent.llm.spend import Meter
from agent.llm.spend_elsewhere import DaySpend, spent_elsewhere
from agent.runs.shared_spend import exchange_spend
from agent.vault.change import Stamp
from agent.vault.sync.claims import Claims, RemoteUnreachable
from agent.vault.sync.claims import Machine as Name
from agent.vault.sync.shared_claims import DatabaseValues, SharedClaims, fleet_tables
from agent.vault.sync.turns import Turn, take_turn
from tests.fakes import FakeClock
from tests.fleet.proxy import Proxy, proxies
from tests.llm.spending import PLENTY, QUESTION, Answers, meter
from tests.postgres_server import PostgresServer
from tests.remotes import make_remote
from tests.vault.sync.machines import Machine, another
from tests.vaults import git, make_vault

WHAT = "job often"
CALL = replace(QUESTION, max_output=50)


@dataclass
class Member:
    """A machine of the fleet, with ways of its own to the database and to the remote."""

    machine: Machine
    database: SharedDatabase
    proxy: Proxy
    link: Path
    unsent: list[Turn] = field(default_factory=list)

    def claims(self, run_on: str = "") -> SharedClaims:
        return SharedClaims(self.machine.vault, Name(self.machine.vault.id, self.machine.name), run_on, self.database)

    def cut(self) -> None:
        self.proxy.cut()
        self.link.unlink(missing_ok=True)

    def mend(self) -> None:
        self.proxy.mend()
        self.database.forget_absence()
        if not self.link.exists():
            self.link.symlink_to(self.machine.remote.parent / "shared.git")


@dataclass
class Fleet:
    members: list[Member]
    remote: Path
    server: Callable[..., list[tuple[object, ...]]]


MakeFleet = Callable[[int], Fleet]


@pytest.fixture
def fleet(tmp_path: Path, postgres: PostgresServer, database_url: str) -> Iterator[MakeFleet]:
    sockets = Path(tempfile.mkdtemp(prefix="px"))  # a socket's path is short
    database = SharedDatabase(database_url, str(tmp_path))
    tables = fleet_tables(database)
    remote = tmp_path / "shared.git"
    stack = []

    def make(count: int) -> Fleet:
        make_remote(remote)
        ways = proxies(sockets, postgres.folder, count)
        stack.append(ways)
        members = []
        for number, proxy in enumerate(ways.__enter__()):
            name, clock = f"m{number}", FakeClock(ids=10_000 * (number + 1))
            link = tmp_path / f"{name}.git"
            link.symlink_to(remote)
            if number:
                machine = another(tmp_path, name, link, clock=clock)
            else:
                machine = Machine(name, make_vault(tmp_path / "first", {"tea.md": "# Tea\n"}, clock=clock), link)
                machine.synced()
            url = database_url.replace(str(postgres.folder), str(proxy.folder))
            members.append(Member(machine, SharedDatabase(url, str(tmp_path)), proxy, link))
        return Fleet(members, remote, tables.ask)

    yield make
    for each in stack:
        each.__exit__(None, None, None)
    tables.close()
    shutil.rmtree(sockets)


def expire(fleet: Fleet) -> None:
    """Let the time of all claims pass of which no result is to be handed over."""
    fleet.server("update claims set until = now() - interval '1 s' where until < now() + interval '1 hour'")


def taken(claims: Claims) -> str:
    found = claims.take(WHAT, 600)
    assert found is not None
    return found.token


def test_one_has_it_until_it_is_given_back_or_its_time_has_passed(fleet: MakeFleet) -> None:
    made = fleet(2)
    one, other = (each.claims() for each in made.members)
    token = taken(one)
    assert other.take(WHAT, 600) is None and other.take("job else", 600) is not None
    assert taken(made.members[0].claims()) == token  # after a restart, too
    (held,) = one.held()
    one.release(held)
    taken(other)
    assert one.take(WHAT, 600) is None
    expire(made)
    (lost,) = (each for each in other.held() if each.what == WHAT)
    taken(one)
    assert other.renew(lost, 600) is None


def test_without_the_database_nobody_has_it_but_the_machine_that_is_named(fleet: MakeFleet) -> None:
    one, other = fleet(2).members
    one.cut()
    with pytest.raises(RemoteUnreachable, match="shared database"):
        one.claims().take(WHAT, 600)
    alone = one.claims(run_on="m0")
    assert taken(alone) and other.claims().take(WHAT, 600) is not None
    one.mend()
    assert (
        alone.renew(alone.held()[0], 600) is None
    )  # the other has it now, and its work is not done twice from here on


def test_of_several_that_want_it_at_once_one_gets_it(fleet: MakeFleet) -> None:
    claims, found = [each.claims() for each in fleet(4).members], list[str]()

    def take(each: Claims) -> None:
        for number in range(8):
            if each.take(f"job {number}", 600) is not None:
                found.append(f"job {number}")

    together([partial(take, each) for each in claims])
    assert Counter(found) == {f"job {number}": 1 for number in range(8)}


def account_of(member: Member, folder: Path, limit: int, answers: Answers) -> Meter:
    """What pays for the calls of a machine, up to so many tokens a day of all machines together."""
    values, name = DatabaseValues(fleet_tables(member.database), "spend"), member.machine.name

    def elsewhere(day: date, mine: SpendTotals) -> SpendTotals:
        exchange_spend(values, name, folder / name, DaySpend(name, day, mine.calls, mine.tokens, mine.money))
        return spent_elsewhere(folder / name, day)

    return replace(meter(folder / name, answers), ceilings=replace(PLENTY, daily_tokens=limit), elsewhere=elsewhere)


def test_what_a_call_may_cost_is_seen_by_others_before_it_is_sent(fleet: MakeFleet, tmp_path: Path) -> None:
    """Of two calls of 55 tokens at most, the day has room for one."""
    one, other = fleet(2).members
    refused = account_of(other, tmp_path / "spend", 100, Answers())

    def meanwhile(_: object) -> None:
        with pytest.raises(LimitReached):
            refused.chat(CALL)

    account_of(one, tmp_path / "spend", 100, Answers(Usage(5, 50), before=meanwhile)).chat(CALL)


def test_machines_at_once_do_not_pass_the_limit_of_a_day(fleet: MakeFleet, tmp_path: Path) -> None:
    calls = list[int]()

    def spend(member: Member) -> None:
        account = account_of(member, tmp_path / "spend", 1_500, Answers(Usage(5, 145)))
        with suppress(LimitReached):
            for _ in range(10):
                account.chat(replace(CALL, max_output=145))
                calls.append(1)

    together([partial(spend, each) for each in fleet(4).members])
    assert 5 <= len(calls) <= 10


def test_a_fleet_under_partitions_and_kills_does_each_occurrence_once(fleet: MakeFleet) -> None:
    live(fleet(3), 3, random.Random(1))


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(3))
def test_six_machines_do_thirty_occurrences_once(fleet: MakeFleet, seed: int) -> None:
    live(fleet(6), 30, random.Random(seed))


def live(fleet: Fleet, occurrences: int, chance: random.Random) -> None:
    """Let the machines do so many occurrences, at once, while some are cut off and some die."""
    lines = list[str]()
    for number in range(occurrences):
        away = chance.sample(fleet.members, chance.randrange(len(fleet.members)))
        for member in away:
            member.cut()
        for member in chance.sample(fleet.members, 2):
            line = f"line {number} of {member.machine.name}"
            write(member.machine, f"{member.machine.name}.md", line)
            lines.append(line)
        seeds = [chance.random() for _ in fleet.members]
        works = zip(fleet.members, seeds, strict=True)
        together([partial(attempt, member, f"done/{number}.md", random.Random(seed)) for member, seed in works])
        for member in away:
            member.mend()
        expire(fleet)
    done = {f"done/{number}.md" for number in range(occurrences)}
    settle(fleet, done)
    added = git(fleet.remote, "log", "--diff-filter=A", "--name-only", "--format=", "main").split()
    assert Counter(path for path in added if path.startswith("done/")) == dict.fromkeys(done, 1)
    assert {git(fleet.remote, "show", f"main:{path}").count("by ") for path in done} == {1}
    names = {line.split()[-1] for line in lines}
    text = "".join(git(fleet.remote, "show", f"main:{name}.md") for name in names)
    assert [line for line in lines if line not in text] == []


def settle(fleet: Fleet, done: set[str]) -> None:
    """Let all machines, which can reach everything now, do what is left, and send it."""
    for _ in range(6):
        for member in fleet.members:
            for path in sorted(done):
                if not (member.machine.root / path).exists():
                    attempt(member, path, None)
            hand_over(member)
            member.machine.sync()
        if not any(each.unsent for each in fleet.members) and done <= there(fleet):
            break


def there(fleet: Fleet) -> set[str]:
    """The notes on the remote."""
    return set(git(fleet.remote, "ls-tree", "-r", "--name-only", "main").split())


def attempt(member: Member, path: str, chance: random.Random | None) -> None:
    """Do an occurrence, if it is this machine's turn; with a `chance`, it may die before it has written, or before the
    result is handed over."""
    machine = member.machine
    with suppress(Retryable):
        turn = take_turn(member.claims(), f"job often {path}")
        if (machine.root / path).exists():
            turn.give_back()
            return
        if chance is not None and chance.random() < 0.3:
            return
        if not turn.finish():
            return
        write(machine, path, f"by {machine.name}")
        member.unsent.append(turn)
        if chance is None or chance.random() < 0.6:
            hand_over(member)


def hand_over(member: Member) -> None:
    with suppress(Retryable):
        member.unsent = [turn for turn in member.unsent if not turn.hand_over()]


def write(machine: Machine, path: str, line: str) -> None:
    before = machine.vault.read(path)
    with machine.vault.transaction("agent(notes): a line", Stamp("agent")) as change:
        change.write(path, before, (before or b"") + f"{line}\n".encode())


def together(works: list[Callable[[], object]]) -> None:
    """Do all at once; the first failure is raised."""
    failures = list[BaseException]()

    def do(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised below
            failures.append(error)

    threads = [threading.Thread(target=do, args=(each,)) for each in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise failures[0]
