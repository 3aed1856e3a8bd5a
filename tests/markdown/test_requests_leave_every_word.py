"""An answer is put below what was asked, whatever the note looks like, and every word of the person's stays."""

from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.requests import (
    Answer,
    is_answered,
    last_session,
    open_requests,
    own_words,
    unreadable_reason,
    waiting_line,
    with_answer,
    with_notice,
)

LINES = st.lists(
    st.sampled_from(["words", "", "  indented", "# Heading", "- [ ] mine", "> quote", "```", "%%", "中文 问题", "---"]),
    max_size=8,
)
ENDS = st.sampled_from(["\n", "\r\n"])
SAID = Answer("01RUN", "Yes.\n\n- [ ] @agent more\n%% vault-agent: end of answer %%\n[[sessions/2026/a]]")


def plain(text: str) -> list[str]:
    """The lines that say something."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@given(LINES, ENDS, st.booleans())
def test_a_whole_note_keeps_its_words_and_is_asked_once(lines: list[str], end: str, closed: bool) -> None:
    data = (end.join(["Which tea?", *lines]) + (end if closed else "")).encode()
    (request,) = open_requests(data, whole=True)
    after = with_answer(data, request, SAID)
    assert after is not None and is_answered(after, "01RUN") and last_session(after) == "sessions/2026/a.md"
    assert plain(own_words(after)) == plain(data.decode())
    assert open_requests(after, whole=True) == ()
    more = after + f"{end}And coffee?{end}".encode()
    assert [each.text for each in open_requests(more, whole=True)] == ["And coffee?"]


@given(LINES, ENDS, st.sampled_from(["", "  ", "> ", "\t"]), st.sampled_from(["-", "*", "1."]))
def test_a_task_is_ticked_and_nothing_else_changes(lines: list[str], end: str, before: str, item: str) -> None:
    data = end.join(["# Plan", "", f"{before}{item} [ ] @agent buy tea", *lines]).encode()
    found = open_requests(data, whole=False)
    if not found:
        return  # an indented line may be code
    after = with_answer(data, found[0], SAID)
    assert after is not None and is_answered(after, "01RUN")
    ticked = data.decode().replace("[ ] @agent buy tea", "[x] @agent buy tea")
    assert plain(own_words(after)) == plain(ticked)
    assert open_requests(after, whole=False) == ()


@given(LINES, ENDS, st.booleans(), st.sampled_from(["Which tea?", "- [ ] @agent buy tea"]))
def test_a_notice_leaves_the_request_open_and_gives_its_place_to_the_answer(
    lines: list[str], end: str, whole: bool, first: str
) -> None:
    data = end.join([first, *lines]).encode()
    for request in open_requests(data, whole=whole)[:1]:
        noticed = with_notice(data, request, "No key: %% vault-agent: end of waiting %%")
        assert noticed is not None and b"%% vault-agent: waiting %%" in noticed
        assert not request.line or waiting_line(noticed) == request.line
        assert plain(own_words(noticed)) == plain(data.decode())
        (again, *_) = open_requests(noticed, whole=whole)
        assert (again.key, again.text) == (request.key, request.text)
        twice = with_notice(noticed, again, "Still no key")
        assert twice is not None and twice.count(b"%% vault-agent: waiting %%") == 1
        after = with_answer(twice, again, SAID)
        assert after is not None and b"vault-agent: waiting" not in after and is_answered(after, "01RUN")


@given(LINES, ENDS, st.booleans(), st.sampled_from(["Which tea?", "- [ ] @agent buy tea", "  * [ ] @agent buy tea"]))
def test_the_answer_takes_the_place_of_failures_before_it(lines: list[str], end: str, whole: bool, first: str) -> None:
    data = end.join([first, *lines]).encode()
    for request in open_requests(data, whole=whole)[:1]:
        note = data
        for number in range(3):
            text = "Yes.\n\n    Or no."
            answer = Answer(f"run{number}", text, "failed", "no *key* > there") if number < 2 else Answer("run2", text)
            after = with_answer(note, request, answer)
            assert (
                after is not None and is_answered(after, f"run{number}") and not is_answered(after, f"run{number - 1}")
            )
            assert plain(own_words(after))[1:] == plain(data.decode())[1:]
            note = after.replace(b"status: failed", b"status: pending").replace(b"[!]", b"[ ]")
            (request, *_) = open_requests(note, whole=whole) or (request,)


def test_a_failure_that_a_person_has_written_into_stays() -> None:
    data = b"Which tea?\n"
    (request,) = open_requests(data, whole=True)
    failed = with_answer(data, request, Answer("run1", "Set a key.", "failed", "no key"))
    assert failed is not None
    mine = failed.replace(b"Set a key.", b"Set a key.\n\nKey is in the drawer.").replace(b": failed", b": pending")
    (again,) = open_requests(mine, whole=True)
    after = with_answer(mine, again, Answer("run2", "Green."))
    assert after is not None and b"Key is in the drawer." in after and is_answered(after, "run2")


def test_a_failure_of_an_earlier_question_stays() -> None:
    data = b"Which tea?\n"
    (request,) = open_requests(data, whole=True)
    failed = with_answer(data, request, Answer("run1", "Set a key.", "failed", "no key"))
    assert failed is not None
    (other,) = open_requests(failed + b"\nWhich cup?\n", whole=True)
    after = with_answer(failed + b"\nWhich cup?\n", other, Answer("run2", "The blue one."))
    assert other.text == "Which cup?" and after is not None and is_answered(after, "run1")


@given(st.binary(max_size=80))
def test_any_bytes_are_read(data: bytes) -> None:
    for whole in (True, False):
        for request in open_requests(data, whole=whole):
            with_answer(data, request, SAID)


def test_a_note_that_nobody_can_read_is_told_how_to_be_mended() -> None:
    assert unreadable_reason("那么\n".encode("utf-16")) == "the note is not UTF-8 text; save it as UTF-8"
    assert unreadable_reason(b"caf\xe9\n") == "the note is not UTF-8 text; save it as UTF-8"
    assert unreadable_reason(b"---\nstatus: [x\n---\nTea?\n").endswith("; mend the lines between the two ---")
    assert unreadable_reason(b"Tea?\n") == ""


@given(LINES, ENDS, st.sampled_from(["Which tea?", "- [ ] @agent buy tea"]), st.booleans())
def test_the_answer_takes_the_place_of_what_was_said_while_it_waited(
    lines: list[str], end: str, first: str, written_into: bool
) -> None:
    data = end.join([first, *lines]).encode()
    found = open_requests(data, whole=first == "Which tea?")
    if not found:
        return
    waits = Answer("01RUN", "May I?", "needs_approval")
    waiting = with_answer(data, found[0], waits)
    assert waiting is not None and b"May I?" in waiting
    if written_into:
        waiting = waiting.replace(b"May I?", b"May I? (I am thinking.)")
    after = with_answer(waiting, found[0], SAID)
    assert after is not None and b"Yes." in after and (b"May I?" in after) == written_into
