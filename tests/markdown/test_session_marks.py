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
    now = folded_records("Untrusted text", [MarkedText("run", {"run": "r"}), TAINT])
    before = open_record(TAINT, "14:12 Untrusted text")
    assert untrusted_sources(now) == untrusted_sources(before) == ("https://a.example/?q=[1]%%",)
    assert untrusted_sources("%% vault-agent: taint {broken} %%\n") == ("a stranger",), "it counts all the same"
    assert untrusted_sources(folded_records("x", [MarkedText("result", {}, before)])) == (), "text is no record"


def test_a_mark_is_known_from_a_persons_quotation() -> None:
    note = open_record(MarkedText("user", {}, "Hello."), "14:12 You") + folded_records("Title", [TAINT])
    assert all(is_mark(row) for row in note.splitlines() if "vault-agent" in row) and not is_mark("> Hello.")


def test_a_callout_that_a_person_cut_short_is_still_read() -> None:
    note = folded_records("Title", [MarkedText("a", {}, "one\n\ntwo"), MarkedText("b", {}, "three")])
    shorter = note.replace("> three\n", "").replace("> one\n", "> ")
    assert [(each.kind, each.text) for each in find_records(shorter)][1] == ("b", "")
