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
    with_answer,
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
