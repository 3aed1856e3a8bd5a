"""What other rooms ask of a session's note without knowing its form."""

from agent.markdown.session_marks import (
    MarkedText,
    find_records,
    folded_records,
    is_mark,
    open_record,
    untrusted_sources,
)

TAINT = MarkedText("taint", {"source": "https://a.example/?q=[1]%%"}, "https://a.example")


def test_the_sources_of_strangers_text_are_found_in_callouts_and_in_notes_of_earlier_versions() -> None:
    now = folded_records([MarkedText("run", {"run": "r"}), TAINT], "Untrusted text")
    before = open_record(TAINT, "14:12 Untrusted text")
    assert untrusted_sources(now) == untrusted_sources(before) == ("https://a.example/?q=[1]%%",)
    assert untrusted_sources("%% vault-agent: taint {broken} %%\n") == ("a stranger",), "it counts all the same"
    assert untrusted_sources(folded_records([MarkedText("result")], "x", before.split("\n"))) == (), "text is no record"


def test_a_mark_is_known_from_a_persons_quotation() -> None:
    note = open_record(MarkedText("user", {}, "Hello."), "14:12 You") + folded_records([TAINT], "Title")
    assert all(is_mark(row) for row in note.splitlines() if "vault-agent" in row) and not is_mark("> Hello.")


def test_a_callout_that_a_person_cut_short_is_still_read() -> None:
    note = folded_records([MarkedText("a", {"x": 1}), MarkedText("b", {"y": 2})], "Title", ["- one", "- two"])
    shorter = note.replace("> - two\n", "").replace("> - one\n", "> ")
    assert [(each.kind, each.data) for each in find_records(shorter)] == [("a", {"x": 1}), ("b", {"y": 2})]


def test_marks_in_one_line_are_read_each_for_itself_and_data_makes_none() -> None:
    odd = {"text": '} %% %% vault-agent: user {"x": 1} %%'}
    for title in ("", "Title"):
        note = folded_records([MarkedText("a", odd), MarkedText("b", odd)], title)
        assert [(each.kind, each.data) for each in find_records(note)] == [("a", odd), ("b", odd)]
        assert "[[" not in note, "it would be a link"


def test_notes_of_earlier_versions_have_a_line_and_a_text_for_each_mark() -> None:
    rows = [
        "[!quote]- Title",
        "%% vault-agent: a {} %%",
        "",
        "one",
        "",
        "two",
        "",
        "%% vault-agent: b {} %%",
        "",
        "three",
    ]
    note = "".join(f"> {row}\n" if row else ">\n" for row in rows) + "\n"
    assert [(each.kind, each.text, each.line) for each in find_records(note)] == [
        ("a", "one\n\ntwo", 3),
        ("b", "three", 9),
    ]
