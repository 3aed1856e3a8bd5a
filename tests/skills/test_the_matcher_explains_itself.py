"""Signals have fixed weights, conflicts fixed rules, and everything that was decided can be read."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.skills.matching.matcher import Matched, MatchState, MatchTask, match
from agent.skills.matching.skill_text import MatchStatus, SelectionLimits
from agent.skills.reading.patterns import TEXT_BYTES
from agent.skills.reading.skill import Skill, SkillSource
from tests.skills.shelves import shelf, skill, triggers, words

FULL = """
triggers:
  intent_patterns: ["调研|研究|分析.*趋势", "research|investigate"]
  tool_signals: [web_search, web_fetch]
  context_signals:
    keywords: [竞品, trend, 行业, market]
    slots: {task_type: [research, analysis], depth: [full]}
"""


FRESH, USUAL = MatchState(), SelectionLimits()


def found(task: str | MatchTask, *skills: Skill, state: MatchState = FRESH, limits: SelectionLimits = USUAL) -> Matched:
    return match(MatchTask(task) if isinstance(task, str) else task, shelf(*skills), state, words, limits)


def fates(matched: Matched) -> dict[str, MatchStatus]:
    return {each.skill.name: each.status for each in matched.matches}


@pytest.mark.parametrize(
    ("task", "tools", "slots", "score"),
    [
        ("Please RESEARCH this", (), {}, 0.5),
        ("请分析一下市场的趋势", (), {}, 0.5),
        ("nothing of it", ("web_search",), {}, 0.25),
        ("nothing of it", ("web_search", "web_fetch", "other"), {}, 0.5),
        ("竞品 and Trends", (), {}, 0.075),
        ("research", ("web_fetch",), {"task_type": "analysis"}, 0.85),
        (
            "research 竞品 trend 行业 market",
            ("web_search", "web_fetch"),
            {"task_type": "research", "depth": "full"},
            1.0,
        ),
    ],
)
def test_the_weights_are_those_of_the_plan(
    task: str, tools: tuple[str, ...], slots: Mapping[str, str], score: float
) -> None:
    (only,) = found(MatchTask(task, tools, slots), skill("a", FULL)).matches
    assert only.score == score == round(min(sum(signal.weight for signal in only.signals), 1), 4)
    assert (only.status is MatchStatus.OFFERED) == (score >= 0.5)


def test_patterns_that_belong_together_count_once_and_only_together() -> None:
    both = skill("a", "triggers:\n  intent_patterns:\n    - all: [week, 'done|slipped']\n  except_patterns: [remind]")
    (only,) = found("what slipped?\nI mean this week", both).matches
    assert [(signal.detail, signal.weight) for signal in only.signals] == [("week & done|slipped", 0.5)]
    assert not found("what slipped?", both).matches and not found("this week", both).matches
    assert not found("remind me of what slipped this week", both).offered


def test_a_skill_without_triggers_matches_nothing() -> None:
    matched = found("research", skill("plain"), skill("a", FULL))
    assert [each.skill.name for each in matched.matches] == ["a"]


def test_a_word_of_latin_letters_begins_where_words_do() -> None:
    one = skill("a", "triggers: {context_signals: {keywords: [art]}, confidence_threshold: 0.1}")
    assert found("modern art", one).offered and found("two arts", one).offered
    assert not found("we start with a chart", one).matches


def test_keywords_of_chinese_need_no_blanks() -> None:
    one = skill("a", "triggers: {context_signals: {keywords: [竞品]}, confidence_threshold: 0.1}")
    assert found("帮我看看这个竞品的价格", one).offered


def test_an_exception_keeps_a_pattern_from_counting_and_is_shown() -> None:
    one = skill(
        "a", "triggers: {intent_patterns: [minutes, 纪要], except_patterns: ['^where', 哪儿], tool_signals: [t]}"
    )
    assert fates(found("the minutes of today", one)) == {"a": MatchStatus.OFFERED}
    (only,) = found(MatchTask("Where are the minutes?", ("t",)), one).matches
    assert [(s.type, s.detail, s.weight) for s in only.signals] == [
        ("except_pattern", "^where", 0.0),
        ("tool_signal", "t", 0.25),
    ]
    assert (only.score, only.status) == (0.25, MatchStatus.BELOW)
    assert fates(found("纪要在哪儿", one)) == {"a": MatchStatus.BELOW} and not found("where is it", one).matches


def test_what_is_said_far_into_a_long_text_is_not_looked_at() -> None:
    one = skill("a", triggers("minutes"))
    assert found("x" * TEXT_BYTES + " minutes" + " x" * TEXT_BYTES, one).matches == ()
    for pasted in ("x " * TEXT_BYTES, "茶" * TEXT_BYTES):
        assert found(f"{pasted}\nminutes, please", one).offered, "what is wanted may stand behind what was pasted"
        assert found(f"minutes, please:\n{pasted}", one).offered


def test_a_higher_threshold_is_obeyed() -> None:
    one = skill("a", FULL + "  confidence_threshold: 0.6\n")
    assert fates(found("research", one)) == {"a": MatchStatus.BELOW}
    assert "0.50 is below 0.60" in str(found("research", one).matches[0].why)


def test_one_of_each_exclusive_group_by_priority_then_score_then_name() -> None:
    group = "exclusive_group: g\n"
    low = skill("low", triggers("x") + group + "priority: 3")
    high = skill("high", triggers("x") + group + "priority: 9")
    scored = skill("scored", triggers("x", more="  context_signals: {keywords: [x]}\n") + group + "priority: 3")
    alone = skill("alone", triggers("x"))
    matched = found("x", low, scored, high, alone)
    assert fates(matched) == {
        "alone": MatchStatus.OFFERED,
        "high": MatchStatus.OFFERED,
        "low": MatchStatus.EXCLUDED,
        "scored": MatchStatus.EXCLUDED,
    }
    assert "high goes before it in the group g (priority 9 over 3)" in next(
        str(each.why) for each in matched.matches if each.skill.name == "low"
    )
    assert fates(found("x", low, scored)) == {"scored": MatchStatus.OFFERED, "low": MatchStatus.EXCLUDED}
    assert fates(found("x", low, replace(low, name="aa"))) == {"aa": MatchStatus.OFFERED, "low": MatchStatus.EXCLUDED}


def test_at_most_three_and_ties_are_by_priority_and_name() -> None:
    some = [
        skill(name, triggers("x") + f"priority: {p}") for name, p in (("d", 5), ("b", 5), ("c", 9), ("a", 5), ("e", 1))
    ]
    matched = found("x", *some)
    assert [each.skill.name for each in matched.offered] == ["c", "a", "b"]
    assert [each.skill.name for each in matched.of(MatchStatus.CROWDED)] == ["d", "e"]


def test_a_skill_rests_in_the_session_it_was_used_in() -> None:
    one = skill("a", triggers("x") + "cooldown: 300")
    assert fates(found("x", one, state=MatchState(since={"a": 299}))) == {"a": MatchStatus.COOLING}
    assert fates(found("x", one, state=MatchState(since={"a": 300}))) == {"a": MatchStatus.OFFERED}
    assert fates(found("x", one)) == {"a": MatchStatus.OFFERED}


def test_one_that_rests_does_not_stand_for_its_group() -> None:
    one = skill("a", triggers("x") + "cooldown: 300\nexclusive_group: g\npriority: 9")
    other = skill("b", triggers("x") + "exclusive_group: g")
    assert fates(found("x", one, other, state=MatchState(since={"a": 1}))) == {
        "a": MatchStatus.COOLING,
        "b": MatchStatus.OFFERED,
    }


def test_feedback_moves_the_score_and_may_move_it_below_the_threshold() -> None:
    one = skill("a", triggers("x"))
    assert found("x", one, state=MatchState(factors={"a": 1.2})).matches[0].score == 0.6
    lowered = found("x", one, state=MatchState(factors={"a": 0.6})).matches[0]
    assert (lowered.score, lowered.base, lowered.status) == (0.3, 0.5, MatchStatus.BELOW)


LONG = "# Title\n\nfirst words here\n\n## One\n\n" + "one " * 40 + "\n\n## Two\n\n" + "two " * 40


@pytest.mark.parametrize(
    ("name", "task", "is_named"),
    [
        ("meeting-notes", "Use meeting-notes for this", True),
        ("meeting-notes", "Follow Meeting-Notes.", True),
        ("meeting-notes", "按照meeting-notes来写", True),
        ("meeting-notes", "with your meeting notes skill, please", True),
        ("tea", "use the skill tea", True),
        ("tea", "用 tea 技能", True),
        ("泡茶-法", "请按泡茶-法做", True),
        ("meeting-notes", "Where are my meeting notes?", False),
        ("meeting-notes", "Read [[meeting-notes]], projects/meeting-notes.md and a/meeting-notes/b", False),
        ("meeting-notes", "a no-meeting-notes-day", False),
        ("tea", "I like tea", False),
        ("tea", "teach me a skill", False),
    ],
)
def test_what_a_task_names_is_given_whole_and_nothing_else_is(name: str, task: str, is_named: bool) -> None:
    matched = found(task, skill(name, triggers("tea|meeting|泡茶"), "Boil."))
    assert [each.skill.name for each in matched.active] == [name] * is_named
    assert all("Boil." in each.text and each.score == 1 for each in matched.active)
    assert not any(each.text for each in matched.offered)


def test_what_is_named_or_always_wanted_obeys_no_rule_of_offers() -> None:
    group = "exclusive_group: g\npriority: {}\ncooldown: 300\n"
    skills = [
        skill("always-so", "activation: always\n" + group.format(1)),
        skill("by-name", group.format(2)),
        skill("high", triggers("x") + "exclusive_group: g\npriority: 9"),
        *(skill(name, triggers("x")) for name in "abcd"),
    ]
    state = MatchState(since={"always-so": 1, "by-name": 1}, factors={"by-name": 0.5})
    matched = found("x, with by-name", *skills, state=state)
    assert [each.skill.name for each in matched.active] == ["by-name", "always-so"]
    assert [each.skill.name for each in matched.offered] == ["a", "b", "c"]
    assert "its text is given" in str(matched.of(MatchStatus.EXCLUDED)[0].why)


def test_a_named_skill_that_is_too_long_is_not_cut_but_offered_with_the_reason() -> None:
    (only,) = found("the skill a", skill("a", "max_tokens: 70", LONG)).offered
    assert not only.text and not only.tokens
    assert str(only.why) == f"its text of {words(LONG) + 15} tokens does not fit in its max_tokens, 70"


def test_the_budget_holds_for_all_together() -> None:
    some = [skill(name, "", "word " * 90) for name in "abc"]
    matched = found("the skill a, the skill b, the skill c", *some, limits=SelectionLimits(room=215))
    assert fates(matched) == {"a": MatchStatus.ACTIVE, "b": MatchStatus.ACTIVE, "c": MatchStatus.OFFERED}
    assert sum(each.tokens for each in matched.active) <= 215
    assert str(matched.offered[0].why).startswith("its text of 105 tokens does not fit in the 5 that are left")


def test_a_short_skill_is_given_whole_after_one_that_is_too_long() -> None:
    limits = SelectionLimits(room=80)
    matched = found("the skill a, the skill b", skill("a", "", LONG), skill("b"), limits=limits)
    assert fates(matched) == {"a": MatchStatus.OFFERED, "b": MatchStatus.ACTIVE}


def test_the_type_of_the_task_is_known_or_that_of_the_skill() -> None:
    asked = MatchTask("research", slots={"depth": "full", "channel": "cli"})
    (only,) = found(asked, skill("a", FULL)).offered
    assert dict(only.slots) == {"task_type": "research", "depth": "full"}
    (other,) = found(MatchTask("research", slots={"task_type": "analysis"}), skill("a", FULL)).offered
    assert dict(other.slots) == {"task_type": "analysis"}
    (none,) = found(MatchTask("research", slots={"task_type": "tea"}), skill("a", FULL)).offered
    assert not none.slots


def test_what_the_model_has_already_is_not_given_again() -> None:
    one = skill("a", triggers("x"))
    assert fates(found("x", one, state=MatchState(present=frozenset({"a"})))) == {"a": MatchStatus.PRESENT}


def test_what_nobody_has_looked_at_is_shown_but_never_used_and_pushes_nobody_aside() -> None:
    stranger = skill("s", triggers("x") + "exclusive_group: g\npriority: 10", source=SkillSource.VAULT)
    own = skill("a", triggers("x") + "exclusive_group: g\npriority: 1")
    matched = found("x", stranger, own)
    assert fates(matched) == {"s": MatchStatus.UNREVIEWED, "a": MatchStatus.OFFERED}
    (unreviewed,) = matched.of(MatchStatus.UNREVIEWED)
    assert "skills review s" in str(unreviewed.why) and not unreviewed.text


def test_a_chain_over_a_strangers_skill_is_a_strangers_too() -> None:
    stranger = skill("s", source=SkillSource.VAULT)
    own = skill("a", triggers("x") + "chain: [{skill: s}]")
    assert fates(found("x", own, stranger)) == {"a": MatchStatus.UNREVIEWED}


LEARNED = "trigger_conditions: [The user wants an itinerary]"


@pytest.mark.parametrize("near", [0.85, 0.6])
def test_a_learned_skill_is_offered_by_its_meaning(near: float) -> None:
    one = skill("a", LEARNED)
    matched = found("plan my trip", one, state=MatchState(near={one.key: near}))
    assert fates(matched) == {"a": MatchStatus.OFFERED} and matched.matches[0].signals[0].type == "semantic"


def test_below_that_nothing_speaks_for_it() -> None:
    one = skill("a", LEARNED)
    assert not found("plan", one, state=MatchState(near={one.key: 0.59})).matches


names = st.sampled_from("abcdefgh")
headers = st.builds(
    lambda pattern, group, priority: (
        triggers(pattern) + (f"exclusive_group: {group}\n" * bool(group)) + f"priority: {priority}"
    ),
    st.sampled_from(["x", "y", "x|y"]),
    st.sampled_from(["", "g", "h"]),
    st.integers(1, 10),
)


@given(st.dictionaries(names, headers, max_size=8), st.randoms(use_true_random=False), st.integers(0, 300))
def test_the_order_of_the_skills_decides_nothing_and_the_rules_always_hold(
    described: dict[str, str], random: object, room: int
) -> None:
    skills = [skill(name, header, f"{name} " * 50) for name, header in described.items()]
    task = f"x, by the skill {next(iter(described), 'z')}"
    one = found(task, *skills, limits=SelectionLimits(room=room))
    other = found(task, *reversed(skills), limits=SelectionLimits(room=room))
    assert [(e.skill.name, e.status, e.why, e.text) for e in one.matches] == [
        (e.skill.name, e.status, e.why, e.text) for e in other.matches
    ]
    groups = [each.skill.exclusive_group for each in (*one.active, *one.offered) if each.skill.exclusive_group]
    assert len(groups) == len(set(groups)) and len(one.offered) <= 3
    assert sum(each.tokens for each in one.active) <= room
    assert all(each.skill.body in each.text for each in one.active), "whole or not at all"
    assert not any(each.text for each in one.offered)
