"""Claims: of two machines that want to do the same thing, one may."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.git.network import Network
from agent.vault.sync.claims import CLAIMS, GOES_FIRST, KEPT, SLACK, Claim, Claims, RemoteUnreachable
from agent.vault.sync.claims import Machine as Name
from agent.vault.sync.turns import NotOurTurn, Turn, take_turn
from tests.fakes import FakeClock
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import git, make_vault

WHAT = "note inbox/tea.md"


def of(machine: Machine, run_on: str = "") -> Claims:
    return Claims(machine.vault, Name(machine.vault.id, machine.name), run_on)


def clock_of(machine: Machine) -> FakeClock:
    clock = machine.vault.clock
    assert isinstance(clock, FakeClock)
    return clock


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, {"tea.md": "# Tea\n"}, clocks=(FakeClock(), FakeClock(ids=1_000)))


def later(*machines: Machine, seconds: float) -> None:
    for machine in machines:
        clock_of(machine).advance(seconds)


def taken(claims: Claims, seconds: float = 600.0) -> Claim:
    found = claims.take(WHAT, seconds)
    assert found is not None
    return found


def test_the_second_does_not_get_it_until_the_first_gives_it_back(pair: tuple[Machine, Machine]) -> None:
    one, other = map(of, pair)
    claim = taken(one)
    assert other.take(WHAT, 600) is None and other.take("note else.md", 600) is not None
    one.release(claim)
    assert one.held() == ()
    assert taken(other).machine.name == "Bert" and one.take(WHAT, 600) is None


def test_what_it_has_it_gets_again_also_after_a_restart(pair: tuple[Machine, Machine]) -> None:
    claim = taken(of(pair[0]))
    again = taken(of(pair[0]))
    assert again.token == claim.token and of(pair[0]).held() == (again,)
    assert of(pair[1]).take(WHAT, 600) is None


def test_an_expired_claim_is_taken_over_and_cannot_be_renewed(pair: tuple[Machine, Machine]) -> None:
    one, other = map(of, pair)
    lost = taken(one)
    later(*pair, seconds=600 + SLACK - 1)
    assert other.take(WHAT, 600) is None
    later(*pair, seconds=2)
    over = taken(other)
    assert one.renew(lost, 600) is None and one.held() == ()
    one.release(lost)
    assert other.renew(over, 600) is not None


def test_what_was_taken_over_and_given_back_is_lost_all_the_same(pair: tuple[Machine, Machine]) -> None:
    one, other = map(of, pair)
    lost = taken(one)
    later(*pair, seconds=601 + SLACK)
    other.release(taken(other))
    assert one.renew(lost, 600) is None


def test_a_renewed_claim_does_not_expire(pair: tuple[Machine, Machine]) -> None:
    one, other = map(of, pair)
    claim = taken(one)
    for _ in range(4):
        later(*pair, seconds=500)
        renewed = one.renew(claim, 600)
        assert renewed is not None and renewed.token == claim.token
        claim = renewed
        assert other.take(WHAT, 600) is None


@pytest.mark.parametrize("ahead", [-86_400.0, -SLACK / 2, SLACK / 2, 86_400.0])
def test_clocks_that_differ_lose_nothing(pair: tuple[Machine, Machine], ahead: float) -> None:
    """Within the slack none is taken over early; beyond, the first owner does not finish, and it does not last."""
    one, other = map(of, pair)
    later(pair[0], seconds=ahead)
    claim = taken(one)
    early = other.take(WHAT, 600)
    assert (early is None) == (ahead >= -SLACK)
    if early is not None:
        assert one.renew(claim, 600) is None
        return
    later(*pair, seconds=601 + 2 * SLACK)
    assert other.take(WHAT, 600) is not None, "a clock that is far ahead holds it for ever"
    assert one.renew(claim, 600) is None


def test_without_a_remote_everything_is_granted(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, clock=FakeClock())
    claims = Claims(vault, Name(vault.id, "Anna"))
    claim = taken(claims)
    assert claims.renew(claim, 600) is not None and claims.held() == ()
    claims.release(claim)


def away(pair: tuple[Machine, Machine]) -> Path:
    remote = pair[0].remote
    return remote.rename(remote.with_name("away.git"))


def test_with_a_remote_that_is_away_only_the_named_machine_acts(pair: tuple[Machine, Machine]) -> None:
    one, other = of(pair[0], "anna"), of(pair[1], "anna")
    place = away(pair)
    with pytest.raises(RemoteUnreachable, match="origin cannot be asked whether another machine does it"):
        other.take(WHAT, 600)
    with pytest.raises(RemoteUnreachable):
        of(pair[0]).take(WHAT, 600)
    claim = taken(one)
    place.rename(pair[0].remote)
    assert one.renew(claim, 600) is not None and other.take(WHAT, 600) is None


def alone(pair: tuple[Machine, Machine]) -> tuple[Claims, Claims, Turn]:
    """Both machines want the same while the remote is away; the named one has done it when the remote is back."""
    named, other = of(pair[0], "Anna"), of(pair[1], "Anna")
    place = away(pair)
    turn = take_turn(named, WHAT)
    with pytest.raises(RemoteUnreachable):
        take_turn(other, WHAT)
    pair[0].write("answer.md", "the answer\n")
    assert turn.finish()
    git(pair[0].root, "add", "answer.md")
    git(pair[0].root, "commit", "-qm", "an answer")
    place.rename(pair[0].remote)
    return named, other, turn


def test_who_worked_while_the_remote_was_away_goes_first(pair: tuple[Machine, Machine]) -> None:
    _, other, turn = alone(pair)
    with pytest.raises(NotOurTurn, match="the remote was away"):
        take_turn(other, WHAT)  # the other asks before the first has sent what it did
    later(*pair, seconds=GOES_FIRST - 1)
    with pytest.raises(NotOurTurn):
        take_turn(other, "note else.md")
    assert turn.hand_over()
    later(*pair, seconds=2)
    take_turn(other, WHAT)
    assert pair[1].read("answer.md") == "the answer\n", "what was done is seen before the work begins"


def test_who_is_gone_is_not_waited_for_any_longer(pair: tuple[Machine, Machine]) -> None:
    _, other, turn = alone(pair)
    with pytest.raises(NotOurTurn):
        take_turn(other, WHAT)
    later(*pair, seconds=GOES_FIRST + 1)
    assert not take_turn(other, WHAT).is_lost()
    assert not turn.finish(), "the first must not answer any more"


def test_nobody_waits_where_no_machine_is_named(pair: tuple[Machine, Machine]) -> None:
    claims, place = of(pair[1]), away(pair)
    with pytest.raises(RemoteUnreachable):
        take_turn(claims, WHAT)
    place.rename(pair[0].remote)
    take_turn(claims, WHAT)


def test_the_named_machine_itself_waits_for_nobody(pair: tuple[Machine, Machine]) -> None:
    named, _, _ = alone(pair)
    take_turn(named, "note else.md")


def test_what_was_granted_alone_is_lost_if_another_has_it_by_then(pair: tuple[Machine, Machine]) -> None:
    one, other = of(pair[0], "Anna"), of(pair[1], "Anna")
    place = away(pair)
    claim = taken(one)
    place.rename(pair[0].remote)
    taken(other)
    assert one.renew(claim, 600) is None


def test_a_renewal_whose_answer_was_lost_is_known_again(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = of(pair[0])
    claim = taken(one)
    place, push = pair[0].remote, Network.push

    def cut(network: Network, *args: object, **more: object) -> None:
        push(network, *args, **more)  # type: ignore[arg-type]
        raise RemoteUnreachable("cut")

    with monkeypatch.context() as patched, pytest.raises(RemoteUnreachable):
        patched.setattr(Network, "push", cut)
        one.renew(claim, 900)
    again = one.renew(claim, 600)
    assert place.exists() and again is not None
    one.release(claim)
    assert of(pair[1]).take(WHAT, 600) is None, "it was renewed since"
    one.release(again)
    assert of(pair[1]).take(WHAT, 600) is not None


def test_what_is_no_claim_at_such_a_reference_is_replaced(pair: tuple[Machine, Machine]) -> None:
    one = of(pair[0])
    ref = git(pair[0].remote, "for-each-ref", "--format=%(refname)", CLAIMS).strip()
    assert ref == ""
    taken(one)
    ref = git(pair[0].remote, "for-each-ref", "--format=%(refname)", CLAIMS).strip()
    git(pair[0].remote, "update-ref", ref, "HEAD")
    assert of(pair[1]).take(WHAT, 600) is not None


def test_old_claims_are_cleaned_and_none_is_left_here(pair: tuple[Machine, Machine]) -> None:
    one, other = map(of, pair)
    taken(one)
    later(*pair, seconds=(KEPT + timedelta(minutes=20)).total_seconds())
    other.take("note new.md", 600)
    assert other.clean() == 1 and other.clean() == 0
    assert len(git(pair[0].remote, "for-each-ref", CLAIMS).splitlines()) == 1
    assert "claims" not in git(pair[1].root, "for-each-ref")


def race(pair: tuple[Machine, Machine], times: int) -> None:
    for number in range(times):
        what, start, won = f"note {number}.md", threading.Barrier(2), list[str]()

        def go(machine: Machine, what: str = what, start: threading.Barrier = start, won: list[str] = won) -> None:
            claims = of(machine)
            start.wait()
            if claims.take(what, 600) is not None:
                won.append(machine.name)

        threads = [threading.Thread(target=go, args=(machine,)) for machine in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1, (what, won)


def test_of_two_at_the_same_moment_one_gets_it(pair: tuple[Machine, Machine]) -> None:
    race(pair, 5)


@pytest.mark.chaos
def test_of_two_at_the_same_moment_one_gets_it_two_hundred_times(tmp_path: Path) -> None:
    race(two_machines(tmp_path, {"tea.md": "# Tea\n"}, clocks=(SystemClock(), SystemClock())), 200)
