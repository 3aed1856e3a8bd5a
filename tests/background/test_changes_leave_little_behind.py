"""What following the vault has left in memory is given back: once a minute, and never while more is to be taken in."""

from agent.background.leftovers import PAUSE, UNASKED, Leftovers
from agent.events.types import FilesChanged
from agent.markdown.changes import NoteChange
from agent.watch.snapshot import REST, Recent
from tests.fakes import FakeClock

CHANGED: FilesChanged[NoteChange] = FilesChanged((), 0.0)


def test_one_who_saves_all_day_is_given_back_once_a_minute() -> None:
    clock, given, behind = FakeClock(), list[float](), [False]
    leftovers = Leftovers(
        clock, lambda: behind[0], lambda: given.append(clock.monotonic()), lambda: None, lambda: False
    )
    for _ in range(600):  # ten minutes, a save each second
        leftovers.changed(CHANGED)
        leftovers.turn(clock.monotonic())
        clock.sleep(1.0)
    assert len(given) == 9
    assert min(later - one for one, later in zip(given, given[1:], strict=False)) >= PAUSE


def test_turns_without_a_change_give_nothing_back_and_what_waits_comes_first() -> None:
    clock, given, behind = FakeClock(), list[float](), [False]
    leftovers = Leftovers(
        clock, lambda: behind[0], lambda: given.append(clock.monotonic()), lambda: None, lambda: False
    )
    for _ in range(2):
        clock.sleep(2 * PAUSE)
        leftovers.turn(clock.monotonic())
    assert not given
    leftovers.changed(CHANGED)
    clock.sleep(2 * PAUSE)
    behind[0] = True
    leftovers.turn(clock.monotonic())
    behind[0] = False
    assert not given
    leftovers.turn(clock.monotonic())
    leftovers.turn(clock.monotonic())
    assert len(given) == 1


def test_what_a_search_has_loaded_is_asked_about_until_it_is_given_back() -> None:
    clock, asked, held, behind = FakeClock(), list[float](), [False], [False]
    leftovers = Leftovers(
        clock, lambda: behind[0], lambda: None, lambda: asked.append(clock.monotonic()), lambda: held[0]
    )
    for _ in range(10):
        leftovers.turn(clock.monotonic())
        clock.sleep(UNASKED)
    assert not asked
    held[0] = True
    leftovers.turn(clock.monotonic())
    clock.sleep(UNASKED - 1)
    leftovers.turn(clock.monotonic())
    assert not asked
    clock.sleep(1)
    behind[0] = True
    leftovers.turn(clock.monotonic())
    behind[0] = False
    assert not asked
    leftovers.turn(clock.monotonic())
    leftovers.turn(clock.monotonic())
    assert len(asked) == 1
    clock.sleep(UNASKED)
    leftovers.turn(clock.monotonic())
    assert len(asked) == 2
    held[0] = False
    clock.sleep(UNASKED)
    leftovers.turn(clock.monotonic())
    assert len(asked) == 2


def test_a_cache_at_rest_keeps_the_versions_read_last_and_one_at_least() -> None:
    recent = Recent(64 * REST)
    for number in range(300):
        recent.put(f"{number}.md", "a", bytes(4096))
    recent.rest()
    assert recent.size <= REST
    assert recent.get("299.md", "a") is not None
    assert recent.get("0.md", "a") is None
    recent.put("diary.md", "b", bytes(2 * REST))
    recent.rest()
    assert recent.get("diary.md", "b") is not None
    assert recent.size == 2 * REST
