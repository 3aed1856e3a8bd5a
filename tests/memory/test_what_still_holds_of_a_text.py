"""A text of several statements, of which a later one contradicts one: the others are still true."""

import pytest

from agent.memory.understanding.holding import gives_another_value, is_disproved, statements_of, still_true


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("I live in Oslo, and my mother's birthday is 3 May", ("I live in Oslo", "my mother's birthday is 3 May")),
        ("Mara lives in Porto and works as a nurse", ("Mara lives in Porto", "Mara works as a nurse")),
        ("Tea, coffee and milk are fine", ("Tea, coffee and milk are fine",)),
        ("I'm allergic to nuts and shellfish", ("I'm allergic to nuts and shellfish",)),
        ("My sister lives in Lyon, and her dog is called Rex", ("My sister lives in Lyon, and her dog is called Rex",)),
        ("我住在杭州，我妈的生日是5月3日", ("我住在杭州", "我妈的生日是5月3日")),
        ("我在杭州上班，养了一只猫", ("我在杭州上班", "我养了一只猫")),
        ("我也喜欢茶", ("我也喜欢茶",)),
        ("I have two children: Mia is 7 and Leo is 4", ("I have two children", "Mia is 7", "Leo is 4")),
        ("My shifts this week: Mon early, Tue off", ("My shifts this week: Mon early, Tue off",)),
    ],
)
def test_each_statement_has_its_subject_and_can_be_read_by_itself(text: str, statements: tuple[str, ...]) -> None:
    assert statements_of(text) == statements


@pytest.mark.parametrize(
    ("older", "later", "holds"),
    [
        ("My brother lives in Leeds and works as a carpenter", "My brother moved to York",
         ("My brother works as a carpenter",)),
        ("My name is Ann and I live in Oslo", "I have moved to Bergen", ("My name is Ann",)),
        ("我住在杭州，我妈的生日是5月3日", "我现在搬到上海了", ("我妈的生日是5月3日",)),
        ("I live in Oslo", "I have moved to Bergen", ()),
        ("I like tea and I have two cats", "The rent is 900 euros", ()),
    ],
)  # fmt: skip
def test_what_a_later_text_does_not_contradict_holds(older: str, later: str, holds: tuple[str, ...]) -> None:
    assert still_true(older, [later]) == holds


def test_another_value_is_told_from_what_may_be_true_beside_it() -> None:
    assert is_disproved("Ana is a vet, and she lives in Oslo. I work at Siemens", "I work at Bosch now")
    assert gives_another_value("My name is Ann and I live in Bergen", "My son is called Jon and I live in Oslo")
    assert not is_disproved("Lunch costs 10 euros", "Lunch costs 12 euros")
