"""The results of a step: shared by need, cut from the end between hits or lines, and what is missing is named."""

from hypothesis import given
from hypothesis import strategies as st

from agent.loop.results import cut_result, shared_rooms
from agent.tools.taint import frame
from agent.tools.tool import Cited
from tests.context.talk import by_fours

HITS = [Cited(f"talks/session-{number}.md", (number, number + 8)) for number in range(1, 13)]
FOUND = "\n\n".join(
    f"{at}. {each.path}, lines {each.lines[0]}-{each.lines[1]}\nSaid.\n\n{at - 1}. no hit\n{'words ' * 60}"
    for at, each in enumerate(HITS, 1)
)
READ = "plan.md, lines 207-306 of 400:\n\n" + "\n".join(f"line {number}" for number in range(207, 307))


def test_the_best_hits_stay_whole_and_the_others_are_named() -> None:
    text = cut_result(FOUND, HITS, 500, by_fours)
    assert by_fours(text) <= 500
    kept = sum(f"\n{at}. talks/" in f"\n{text}" for at in range(1, 13))
    assert 3 <= kept < 12 and text.startswith(FOUND[: FOUND.index(f"\n\n{kept + 1}. talks")].rstrip())
    assert f"{12 - kept} more: talks/session-{kept + 1}.md:{kept + 1}-{kept + 9}, " in text.splitlines()[-1]


def test_a_note_is_read_from_its_beginning_and_says_which_lines_are_missing() -> None:
    text = cut_result(READ, [Cited("plan.md", (207, 306))], 150, by_fours)
    *shown, empty, told = text.splitlines()
    last = int(shown[-1].removeprefix("line "))
    assert shown[2:] == [f"line {number}" for number in range(207, last + 1)] and empty == ""
    assert told == f"[… left out for lack of room: lines {last + 1}-306; read them with lines]"


def test_the_frame_of_a_strangers_text_stays_closed() -> None:
    for text, sources in ((FOUND, HITS), (READ, [Cited("plan.md", (207, 306))])):
        cut = cut_result(frame(text, "plan.md"), sources, 400, by_fours)
        assert cut.startswith("<untrusted") and cut.endswith("\n</untrusted>") and by_fours(cut) <= 400


def test_a_frame_among_the_hits_is_whole_or_not_there_and_its_name_is_not_said() -> None:
    whole = [
        f"{at}. {each.path}, lines {each.lines[0]}-{each.lines[1]}\n{'words ' * 60}" for at, each in enumerate(HITS, 1)
    ]
    mixed = "\n\n".join(frame(each, "a page") if at % 3 == 0 else each for at, each in enumerate(whole))
    for room in range(60, 900, 40):
        cut = cut_result(mixed, HITS, room, by_fours)
        assert by_fours(cut) <= room and cut.count("<untrusted") == cut.count("</untrusted>")
        assert cut.rpartition("</untrusted>")[2].count("talks/session-4.md") == 0, "a stranger's title stands framed"
        outside = "".join(part.rpartition("</untrusted>")[2] for part in cut.split("<untrusted"))
        assert "1. talks/session-1" not in outside


def test_what_cites_no_note_keeps_its_beginning_and_its_end() -> None:
    text = cut_result("\n".join(f"step {at}" for at in range(900)) + "\nerror: no such file", [], 100, by_fours)
    assert text.startswith("step 0") and text.endswith("error: no such file")


@given(st.text(max_size=2_000), st.integers(32, 400), st.integers(0, 4))
def test_a_result_of_any_form_has_room(text: str, room: int, count: int) -> None:
    assert by_fours(cut_result(text, HITS[:count], room, by_fours)) <= room


@given(st.lists(st.integers(0, 5_000), max_size=8), st.integers(32, 2_000))
def test_room_is_shared_by_need(sizes: list[int], share: int) -> None:
    rooms = shared_rooms(sizes, share)
    assert sum(rooms) <= share * len(sizes)
    for size, room in zip(sizes, rooms, strict=True):
        assert room <= size and (room == size or room >= share), "nobody has less than their share for others"
    if any(room < size for size, room in zip(sizes, rooms, strict=True)):
        assert sum(rooms) > share * len(sizes) - len(sizes), "and nothing is left over"
