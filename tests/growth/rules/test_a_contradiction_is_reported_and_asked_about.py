"""What contradicts a rule is reported in its note; where it matters, the person is asked which of both shall hold."""

import pytest

from agent.asking.questions.notes import AskedQuestion, asked_questions
from agent.growth.curiosity.settle import settle_questions
from agent.growth.rules.contradictions import asked_contradictions
from agent.growth.rules.rule import LearnedRule
from agent.vault.change import Stamp
from tests.growth.rules.desk import Desk, reflection, strategy, three
from tests.vaults import write

ASK, NEVER = "Ask before you read a note", "Never ask before you read a note"
OLD, NEW = f"a note is changed: {ASK}", f"a note is changed: {NEVER}"


def active(desk: Desk) -> LearnedRule:
    """A rule that has passed its probation."""
    desk.use(desk.admit(ASK), *[True] * 8)
    desk.tend()
    assert desk.rule().status == "active"
    return desk.rule()


def question(desk: Desk) -> AskedQuestion:
    (asked,) = asked_questions(desk.vault)
    return asked


def tick(desk: Desk, *boxes: str) -> None:
    path = desk.root / question(desk).path
    text = path.read_text("utf-8")
    for box in boxes:
        assert f"- [ ] {box}" in text
        text = text.replace(f"- [ ] {box}", f"- [x] {box}")
    write(path, text)


def test_of_a_rule_on_probation_it_is_only_reported(desk: Desk) -> None:
    desk.admit(ASK)
    (row,) = desk.learn(*three(NEVER, first=10))
    assert (row.event, row.by, row.words) == ("contradicted", "agent", NEW)
    said = desk.rule().data.decode().partition("## What speaks against it")[2]
    assert f"3 reflections on different days say the opposite: “{NEW}” Until then 0 of 0 runs" in said
    assert said.count("    - 2026-11-") == 3 and said.count("[[reflections/") == 3
    assert desk.rule().text == ASK and not desk.rule().is_persons and desk.rule().status == "probation"
    assert desk.asked() == [] and list(asked_questions(desk.vault)) == [] and desk.learn() == ()


def test_what_was_only_reported_is_asked_about_once_the_rule_is_active(desk: Desk) -> None:
    rule = desk.admit(ASK)
    desk.learn(*three(NEVER, first=10))
    assert list(asked_questions(desk.vault)) == []
    desk.use(desk.rule(), *[True] * 8)
    assert "active" in [row.event for row in desk.tend()]
    asked = question(desk)
    assert asked.title == f"Shall this rule still hold: {OLD}" and "8 of 8 runs" in asked.note.body
    assert desk.tend() == () and question(desk).path == asked.path and desk.rule().words == rule.words


def test_about_an_active_rule_the_person_is_asked_once(desk: Desk) -> None:
    active(desk)
    assert [row.event for row in desk.learn(*three(NEVER, first=10))] == ["contradicted"]
    asked = question(desk)
    assert asked.title == f"Shall this rule still hold: {OLD}" and asked.is_open and asked.is_unprompted
    assert asked.options == (f"Keep it: {OLD}", f"Take the opposite: {NEW}", "Neither of the two")
    text = asked.note.body
    assert (
        "8 of 8 runs with [[rules/ask-before-you-read-a-note]] went well" in text and text.count("[[reflections/") == 3
    )
    assert "its uses decide" in asked.fallback
    assert "What speaks against it" in desk.rule().data.decode()
    assert desk.learn(*three(NEVER, first=20)) == () and question(desk).path == asked.path


def test_the_opposite_is_taken(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    tick(desk, f"Take the opposite: {NEW}")
    assert [(row.event, row.by) for row in desk.tend()] == [("changed", "person")]
    rule = desk.rule()
    assert rule.text == NEVER and rule.version == 2 and rule.status == "active" and len(rule.evidence) == 6
    assert f"before (v1): {OLD}" in rule.data.decode() and not rule.is_persons
    asked = question(desk)
    assert not asked.is_open and "→ The opposite holds now" in asked.note.body
    assert desk.tend() == () and list(asked_contradictions(desk.vault).all()) == []


def test_the_rule_is_kept_and_the_opposite_does_not_come_back(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    tick(desk, f"Keep it: {OLD}")
    assert [(row.event, row.words) for row in desk.tend()] == [("refused", NEW)]
    assert desk.rule().text == ASK and desk.rule().status == "active"
    assert desk.learn(*three(NEVER, first=20)) == () and desk.asked() == []


def test_neither_sets_it_aside_for_good(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    tick(desk, "Neither of the two")
    assert [row.event for row in desk.tend()] == ["deprecated", "refused"]
    assert desk.rule().status == "deprecated"
    desk.learn(*three(NEVER, first=20), *three(ASK, first=30))
    assert desk.asked() == [] and desk.rule().status == "deprecated"


def test_two_ticks_change_nothing_and_say_so(desk: Desk) -> None:
    before = active(desk)
    desk.learn(*three(NEVER, first=10))
    tick(desk, f"Keep it: {OLD}", "Neither of the two")
    assert desk.tend() == ()
    assert desk.rule().words == before.words and "could not tell which" in question(desk).note.body


def test_an_answer_about_other_words_does_nothing(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    path = desk.root / desk.rule().path
    write(path, path.read_text().replace(f"# {ASK}", "# Ask before you read a letter"))
    tick(desk, f"Take the opposite: {NEW}")
    desk.tend()
    assert (
        desk.rule().text == "Ask before you read a letter" and "has changed since I asked" in question(desk).note.body
    )


def test_without_an_answer_the_rule_stays(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    desk.clock.advance(15 * 86_400)
    settled = settle_questions(desk.vault, desk.clock.now(), "en")
    with desk.vault.transaction("question(settle): x", Stamp("agent")) as change:
        change.requests += settled.requests
    assert desk.tend() == () and desk.rule().text == ASK
    assert "The rule stays as it is" in question(desk).note.body
    assert list(asked_contradictions(desk.vault).all()) == []


def test_an_answer_that_curiosity_has_taken_in_first_counts(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    tick(desk, f"Take the opposite: {NEW}")
    settled = settle_questions(desk.vault, desk.clock.now(), "en")
    with desk.vault.transaction("question(settle): x", Stamp("agent")) as change:
        change.requests += settled.requests
    assert not question(desk).is_open
    desk.tend()
    assert desk.rule().text == NEVER


@pytest.mark.parametrize("why", ["grave", "the person's"])
def test_it_matters_for_a_rule_of_the_persons_and_where_it_is_grave(desk: Desk, why: str) -> None:
    if why == "grave":
        desk.admit(ASK)
        said = [reflection(day, strategy(NEVER, severity="high")) for day in range(10, 13)]
    else:
        write(desk.root / "rules/mine.md", f"---\nwhen: a note is changed\n---\n{ASK}\n")
        said = three(NEVER, first=10)
    desk.learn(*said)
    assert question(desk).title.endswith(OLD)


def test_no_third_question_is_opened(desk: Desk) -> None:
    active(desk)
    for name in ("one", "two"):
        header = f"---\nid: {name}\ntype: question\ncreated: 2026-11-10\nstatus: open\nexpires: 2027-11-10\n---\n"
        write(desk.root / f"questions/{name}.md", f"{header}# {name}?\n\n## Your answer\n")
    assert desk.learn(*three(NEVER, first=10)) == () and "speaks against" not in desk.rule().data.decode()
    (desk.root / "questions/one.md").unlink()
    assert [row.event for row in desk.tend()] == ["contradicted"]


def test_a_tick_without_the_record_decides_nothing(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    for each in tuple(asked_contradictions(desk.vault).all()):
        asked_contradictions(desk.vault).drop(each.id)
    tick(desk, f"Take the opposite: {NEW}")
    assert desk.tend() == () and desk.rule().text == ASK


def test_one_reflection_is_no_contradiction(desk: Desk) -> None:
    active(desk)
    assert desk.learn(reflection(10, strategy(NEVER)), reflection(11, strategy(NEVER))) == ()


def test_a_chinese_vault_is_asked_in_chinese(desk: Desk) -> None:
    desk.language = "zh"
    desk.use(desk.admit("修改笔记之前先问", when="要修改笔记"), *[True] * 8)
    desk.tend()
    desk.learn(*three("修改笔记之前不要先问", when="要修改笔记", first=10))
    asked = question(desk)
    assert asked.title.startswith("这条规则还要保留吗：") and asked.options[2] == "两条都不要"
    assert "## 与它相反的" in desk.rule().data.decode()
