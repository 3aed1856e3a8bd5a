"""Facts that came up again and again come into MEMORY.md with their evidence; what a person did to it stands."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agent.memory.entry import ANSWER, Entry, EntryType, with_question
from agent.memory.forgetting.forget import carry_out
from agent.memory.forgetting.forget import plan as forgetting
from agent.memory.memory_note import words
from agent.memory.store import DayEntries, StoredEntry
from agent.memory.understanding.seam import FactKind, SourceText
from agent.memory.understanding.statements import facts_in
from agent.memory.upkeep.day_summary import day_summary
from agent.memory.upkeep.longterm import owner_words
from tests.memory.days import Days, days


def stated(text: str) -> dict[str, FactKind]:
    facts = tuple(facts_in(SourceText(text)))
    assert all(fact.text in fact.quote and fact.quote in text for fact in facts)
    return {fact.text: fact.kind for fact in facts}


FACTS = [
    ("Anna's birthday is 3 May", "By the way, Anna's birthday is 3 May.", "People"),
    ("I prefer window seats on trains", "I prefer window seats on trains!", "Preferences"),
    (
        "We decided to use Postgres for the warehouse",
        "Well, we decided to use Postgres for the warehouse.",
        "Decisions",
    ),
    ("Every Friday the team deploys to staging", "every Friday the team deploys to staging", "Routines"),
    ("The office wifi is called blue-house", "Remember that the office wifi is called blue-house.", "Other"),
    ("My sister lives in Lyon", "my sister lives in Lyon", "People"),
    ("I never eat peanuts because of an allergy", "I never eat peanuts because of an allergy.", "Health"),
    ("Ben teaches physics at the Lessing school", "Ben teaches physics at the Lessing school", "People"),
    ("我喜欢喝绿茶", "我喜欢喝绿茶。", "Preferences"),
    ("每周一上午十点开例会", "每周一上午十点开例会。", "Routines"),
    ("我们决定采用蓝绿部署", "我们决定采用蓝绿部署！", "Decisions"),
    ("我妹妹住在里昂", "对了，我妹妹住在里昂。", "People"),
    ("公司的无线网络叫做蓝房子", "公司的无线网络叫做蓝房子。", "Other"),
]
ONCE = [
    "The concert was in the old mill",
    "Cleo has a new bicycle",
    "今天的会议室是三零二",
    "I like the film about whales",
    "We agreed to meet at the harbour",
    "The dentist moved to Mill Street",
    "我买了一本关于鲸鱼的书是蓝色的",
]


def test_in_twenty_conversations_what_is_said_three_times_comes_in_and_what_is_said_once_does_not(
    tmp_path: Path,
) -> None:
    home = days(tmp_path)
    said: dict[str, list[str]] = {fact: [] for fact, *_ in FACTS}
    for number in range(20):
        for at, (fact, again, _) in enumerate(FACTS):
            if number % 7 == at % 7 and len(said[fact]) < 3:
                said[fact].append(
                    home.say((fact, again)[number % 2].rstrip(".") + ". Can you look something up for me?")
                )
        home.say(ONCE[number % len(ONCE)] if number < len(ONCE) else f"Summarise chapter {number} please")
        home.pass_days(1)
        home.tend()
    assert all(len(paths) >= 2 for paths in said.values())
    for fact, again, _ in FACTS:
        while len(said[fact]) < 3:
            said[fact].append(home.say(again))
    home.tend()
    for fact, _, section in FACTS:
        part = home.memory.split(f"## {section}\n")[1].split("\n## ")[0]
        row = next(row for row in part.splitlines() if fact.lower() in row.lower())
        for path in said[fact]:
            assert f"[[{Path(path).stem}]]" in row
        said_in_it = [plain.lower() for row in home.memory.splitlines() if (plain := words(row))]
        assert sum(fact.lower() in plain for plain in said_in_it) == 1
    for fact in ONCE:
        assert fact not in home.memory
    assert "Summarise" not in home.memory and "Noted" not in home.memory


def test_what_capture_counts_in_one_entry_counts(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(3):
        home.capture("Anna's birthday is 3 May")
        home.pass_days(1)
    home.tend()
    assert len(home.paths("entries/")) == 1
    assert "Anna's birthday is 3 May" in home.memory


def test_twice_is_not_enough_and_neither_is_thrice_in_a_long_time(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
        home.pass_days(20)
        home.tend()
    assert home.memory == ""


def test_how_often_and_how_long_are_settings(tmp_path: Path) -> None:
    home = days(tmp_path, facts_times=2, facts_days=50)
    for _ in range(2):
        home.say("Anna's birthday is 3 May")
        home.pass_days(20)
    home.tend()
    assert "3 May" in home.memory


@pytest.mark.parametrize(
    "changes", [{"sender_id": "ben"}, {"untrusted": ("https://example.org",)}], ids=["another's", "a stranger's"]
)
def test_only_the_owners_words_count(tmp_path: Path, changes: dict[str, object]) -> None:
    home = days(tmp_path)
    for _ in range(4):
        home.say("Anna's birthday is 3 May", **changes)  # type: ignore[arg-type]
    home.tend()
    assert home.memory == ""


def test_the_models_words_are_no_evidence(tmp_path: Path) -> None:
    home = days(tmp_path)
    for number in range(4):
        home.say(f"Summarise chapter {number}", "The hero is called Cleo.")
    home.tend()
    assert home.memory == ""


def test_a_chinese_vault_has_chinese_sections_and_those_there_are_used(tmp_path: Path) -> None:
    home = days(
        tmp_path, {"MEMORY.md": "---\ntype: memory\n---\n# 长期记忆\n\n## 偏好\n\n## 人物\n\n- 小王是邻居\n"}, "zh"
    )
    for _ in range(3):
        home.say("我喜欢喝绿茶")
        home.say("我们决定采用蓝绿部署")
    home.tend()
    assert "## 偏好\n\n- 我喜欢喝绿茶 ([[" in home.memory
    assert "## 决定\n\n- 我们决定采用蓝绿部署 ([[" in home.memory
    assert "## 人物\n\n- 小王是邻居\n" in home.memory and home.memory.count("## 偏好") == 1


def test_what_is_in_the_note_already_is_not_said_twice(tmp_path: Path) -> None:
    note = "# Long-term memory\n\n## People\n\n- Anna's birthday is 3 May, she wants no presents\n"
    home = days(tmp_path, {"MEMORY.md": note})
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
    home.tend()
    assert home.memory == note


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (("我对花生过敏，做饭要小心。", "我对花生过敏。", "我对花生过敏，请注意。"), "我对花生过敏。"),
        (("I am allergic to peanuts, so be careful.", "I am allergic to peanuts.", "Sorry, I am allergic to peanuts."),
         "I am allergic to peanuts."),
        (("I eat no meat.", "I eat no meat, what can I cook?", "Find me a soup, I eat no meat."), "I eat no meat."),
        (("我不吃羊肉。", "我不吃羊肉，今晚做什么好？", "帮我订餐，我不吃羊肉。"), "我不吃羊肉。"),
        (("The cello lesson is moved to the hall.", "The cello lesson is moved to the hall!",
          "The cello lesson is moved to the hall, please."), "The cello lesson is moved to the hall, please."),
        (("We brew our own beer.",) * 3, "We brew our own beer."),
        (("备用雨伞在门厅的柜子里。", "备用雨伞就在门厅的柜子里", "备用雨伞在门厅的柜子里。"),
         "备用雨伞在门厅的柜子里。"),
    ],
)  # fmt: skip
def test_a_fact_counts_too_where_it_is_a_part_of_a_sentence(tmp_path: Path, said: tuple[str, ...], fact: str) -> None:
    home = days(tmp_path)
    for text in said:
        home.say(text)
        home.pass_days(1)
    (added,) = home.tend()[0].report.added
    assert added == fact


def test_what_only_accompanies_what_is_said_is_no_fact_of_its_own(tmp_path: Path) -> None:
    home = days(tmp_path)
    for text in ("Anna lives in Bergen, which is far away.", "The cabin is ours, which is far away.",
                 "Ben moved to Oslo, which is far away."):  # fmt: skip
        home.say(text)
    assert home.tend()[0].report.added == ()


def test_what_a_person_has_deleted_does_not_come_back(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
    home.tend()
    home.by_hand("MEMORY.md", "# Long-term memory\n")
    for _ in range(3):
        home.say("By the way, Anna's birthday is 3 May!")
        home.pass_days(1)
        home.tend()
    assert "3 May" not in home.memory


def test_what_a_person_has_corrected_stays_corrected(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
    home.tend()
    home.by_hand("MEMORY.md", home.memory.replace("3 May", "5 June"))
    corrected = home.memory
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
        home.pass_days(1)
        home.tend()
    assert home.memory == corrected


def test_a_note_that_has_grown_too_large_merges_its_own_lines_and_keeps_the_persons(tmp_path: Path) -> None:
    mine = "".join(f"- My own remark number {number} about lighthouses and their keepers\n" for number in range(12))
    home = days(tmp_path, {"MEMORY.md": f"# Long-term memory\n\n## Mine\n\n{mine}"}, memory_kilobytes=1)
    for word in ("apples", "pears", "plums", "quinces"):
        for _ in range(3):
            home.say(f"The garden behind the old mill has {word} in the autumn")
    upkeep, _ = home.tend()
    assert mine in home.memory
    assert len(home.memory.encode()) <= 1024 or upkeep.report.too_large
    home.pass_days(1)
    home.tend()
    home.tend()
    together = home.memory + home.text("archive/MEMORY.md")
    assert all(word in together for word in ("apples", "pears", "plums", "quinces"))
    assert home.tend()[0].report.counts["added"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "Can you book a table?",
        "Summarise my inbox",
        "Thanks a lot!",
        "帮我写一封邮件",
        "你知道吗？",
        "> Anna is tall",
        "Run the tests",
        "That's great to hear!",
        "Yes, it works for me",
        "Sounds good",
        "Your summary really helps",
        "那太好了",
        "这样就可以了",
        "在日历里加上牙医",
        "我要一份新的报告",
        "现在开始吧，我们继续",
    ],
)
def test_questions_and_requests_are_no_facts(text: str) -> None:
    assert stated(text) == {}


def test_facts_have_their_kinds() -> None:
    assert stated("I prefer tea. Anna is my neighbour. We decided to leave.") == {
        "I prefer tea.": FactKind.PREFERENCE,
        "Anna is my neighbour.": FactKind.PERSON,
        "We decided to leave.": FactKind.DECISION,
    }


@pytest.mark.parametrize("text", ["太太在银行工作", "这个项目用 Rust", "This house has a well"])
def test_what_begins_like_a_reaction_may_be_a_fact(text: str) -> None:
    assert [*stated(text)] == [text]


CORRECTIONS = 30


def correct(home: Days, number: int) -> tuple[str, str, bool]:
    """One of thirty corrections by hand; the note, what was put or taken, and whether it must be there afterwards."""
    bullets = [row for row in home.memory.splitlines() if row.startswith("- ")]
    if number % 3 == 0 and bullets:
        row = bullets[number % len(bullets)]
        home.by_hand("MEMORY.md", home.memory.replace(row + "\n", ""))
        return "MEMORY.md", row.split(" ([[")[0].lower(), False
    if number % 3 == 1 and bullets:
        row = bullets[number % len(bullets)]
        mine = f"- corrected by hand, number {number:02}"
        home.by_hand("MEMORY.md", home.memory.replace(row, mine))
        return "MEMORY.md", mine, True
    entries = home.paths("entries/")
    path = entries[number % len(entries)]
    mine = f"corrected by hand, number {number:02}"
    home.by_hand(path, home.text(path) + mine + "\n")
    return path, mine, True


@given(st.permutations(range(CORRECTIONS)))
@settings(max_examples=1, deadline=None, phases=[Phase.generate])
def test_thirty_corrections_by_hand_survive_whatever_comes_after(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    home = days(tmp_path_factory.mktemp("days"))
    for fact, again, _ in FACTS:
        for text in (fact, again, fact):
            home.say(text)
    home.tend()
    done: dict[str, tuple[str, bool]] = {}
    for count, number in enumerate(order):
        path, text, there = correct(home, number)
        replaced = [old for old, (where, is_there) in done.items() if is_there and old not in home.text(where)]
        for old in replaced:
            del done[old]  # a later correction by hand took its place
        done[text] = (path, there)
        if count % 6 == 0:
            for _, again, _ in FACTS[:: 1 + count % 3]:
                home.say(again)
            home.pass_days(1)
            home.tend()
    home.pass_days(45)
    home.tend()
    assert len(done) > CORRECTIONS // 2
    for text, (path, there) in done.items():
        assert text in home.text(path).lower() if there else text not in home.memory.lower(), (path, text, there)


def test_a_forgotten_fact_never_comes_back(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(3):
        home.say("Anna's birthday is 3 May")
    home.tend()
    assert "3 May" in home.memory
    (path,) = home.paths("entries/")
    carry_out(home.vault, forgetting(home.vault, path), "en")
    for _ in range(5):
        assert home.say("By the way, Anna's birthday is 3 May!") == ""
        home.keep(home.entry("Anna's birthday is 3 May"))
        home.pass_days(1)
        home.tend()
    assert "3 May" not in home.memory


def test_what_was_forgotten_before_it_came_in_does_not_come_in_either(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry("Anna's birthday is 3 May"))
    carry_out(home.vault, forgetting(home.vault, path), "en")
    for _ in range(3):
        home.keep(home.entry("Anna's birthday is 3 May"))
    home.tend()
    assert home.memory == ""


SECTIONS = {
    "About you": ["quick intro: everyone calls me Nell", "I work at the harbour office", "we live above the bakery",
                  "我叫沈青，青草的青", "我在图书馆工作", "我们住在码头边上"],
    "Health": ["I'm allergic to wasps, so please keep that written down", "our GP is Dr Lund at the mill surgery",
               "I've got a bad hip from skating", "我一喝牛奶就过敏", "医生叫我少吃盐", "我血压有点高"],
    "People": ["my oldest friend Sanne moved to Malmö", "the chimney sweep is called Otto",
               "our twins Ida and Per are six",
               "我二姐在昆明开花店", "外公今年九十二了", "我弟弟在学木工"],
    "Preferences": ["I can't stand liquorice so nothing with that", "my favourite bread is rye",
                    "one more thing: I take my coffee black", "我只喝红茶",
                    "我受不了香菜的味道，所以菜里别放", "我最爱听粤剧"],
    "Decisions": ["we've decided to sell the caravan", "we agreed on no screens at breakfast", "我们决定不养狗了"],
    "Routines": ["I row on the lake on Sunday mornings, so keep that free", "I do the accounts friday evening",
                 "每周三我去打太极", "睡前我要看半小时书"],
    "Other": ["the spare fuse lives behind the clock", "备用雨伞在门厅的柜子里"],
}  # fmt: skip


def test_each_fact_stands_under_its_section_without_what_leads_to_it_or_hangs_on_it(tmp_path: Path) -> None:
    home = days(tmp_path, facts_times=1)
    for texts in SECTIONS.values():
        for text in texts:
            home.say(text)
            home.pass_days(0.01)
    home.tend()
    parts = [part.split("\n", 1) for part in home.memory.split("\n## ")[1:]]
    assert [heading for heading, _ in parts] == [*SECTIONS]
    for heading, part in parts:
        assert [words(row) for row in part.splitlines() if row] == [plain(text) for text in SECTIONS[heading]]


def plain(text: str) -> str:
    """A sentence of `SECTIONS` without lead and request."""
    for lead in ("quick intro: ", "one more thing: "):
        text = text.removeprefix(lead)
    for request in (", so ", " so nothing", "，所以"):
        text = text.partition(request)[0]
    return text


def test_a_section_that_is_missing_is_put_in_its_place_and_no_heading_of_the_person_is_touched(tmp_path: Path) -> None:
    note = "# Long-term memory\n\n## Boats\n\n- The Ada leaks\n\n## User preferences\n\n## Workflow patterns\n\nmine\n"
    home = days(tmp_path, {"MEMORY.md": note}, facts_times=1)
    for text in ("I'm allergic to wasps", "I prefer rye bread", "We decided to sell the caravan", "每周三我去打太极"):
        home.say(text)
    home.tend()
    headings = [row for row in home.memory.splitlines() if row.startswith("#")]
    assert headings == ["# Long-term memory", "## Boats", "## Health", "## User preferences", "## Decisions",
                        "## Workflow patterns"]  # fmt: skip
    rows = list(filter(None, note.splitlines()))
    assert [row for row in home.memory.splitlines() if row in rows] == rows


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("我吃芒果会起疹子", "我一吃芒果就起疹子"),
        ("我最爱看汪曾祺的散文，翻两页心就静了", "我顶爱看汪曾祺的散文嘛"),
        ("I can't stand liquorice in anything", "I really can't stand liquorice"),
    ],
)
def test_a_fact_that_is_there_in_other_words_is_not_added_once_more(tmp_path: Path, first: str, again: str) -> None:
    home = days(tmp_path)
    home.say(first)
    home.tend()
    home.say(again)
    home.tend()
    assert first in home.memory and again not in home.memory


@pytest.mark.parametrize(
    ("first", "other"),
    [("我爱吃芒果", "我爱吃苹果"), ("I love rye bread", "I love rye whisky"), ("我不吃鱼", "我不吃鱼子")],
)
def test_another_word_is_another_fact(tmp_path: Path, first: str, other: str) -> None:
    home = days(tmp_path)
    home.say(first)
    home.say(other)
    home.tend()
    assert first in home.memory and other in home.memory


def test_the_kind_that_a_model_gave_decides_and_the_rules_for_the_rest(tmp_path: Path) -> None:
    home = days(tmp_path, facts_times=1)
    fact = replace(home.entry("The Ada is moored at pier nine", EntryType.FACT), slots={"kind": "self"})
    home.keep(fact)
    home.keep(replace(home.entry("I love rye bread", EntryType.FACT), slots={"kind": "other", "outcome": "finished"}))
    home.tend()
    assert "## About you\n\n- The Ada is moored" in home.memory and "## Preferences\n\n- I love rye" in home.memory


def test_what_the_agent_asked_is_not_what_the_person_said(tmp_path: Path) -> None:
    asked = "I was not sure of this: “I live in Rome”. What is right?"
    now = days(tmp_path).vault.clock.now()
    entry = Entry("1", now, with_question("I live in Oslo.", asked), EntryType.FACT, source=ANSWER)
    stored = StoredEntry("entries/2026/11/a.md", entry.note(), entry)
    assert owner_words(stored) == "I live in Oslo."
    summary = day_summary(DayEntries((stored,), ()), (), "en")
    assert f"- I live in Oslo. ({asked}) [[a]]" in summary and summary.count("[[a]]") == 1


def test_what_a_person_took_out_does_not_come_back_when_it_was_taken_out_before(tmp_path: Path) -> None:
    home = days(tmp_path)
    first = home.entry("I live in Oslo.", EntryType.FACT)
    path = home.keep(first)
    home.tend()
    home.pass_days(1)
    home.keep(home.entry("I live in Bergen.", EntryType.FACT))
    note = home.root / path
    note.write_text(note.read_text("utf-8").replace("\n---\n", "\nsuperseded_by: '[[bergen]]'\n---\n", 1), "utf-8")
    home.tend()
    assert "Oslo" not in home.memory and "Bergen" in home.memory
    home.pass_days(1)
    home.keep(home.entry("I live in Oslo.", EntryType.USER_EXPLICIT))
    home.tend()
    assert "I live in Oslo." in home.memory, "the upkeep took it out, and it is said anew"
    note = home.root / "MEMORY.md"
    note.write_text("".join(row for row in home.memory.splitlines(keepends=True) if "Oslo" not in row), "utf-8")
    home.tend()
    assert "Oslo" not in home.memory, "the person took it out"
    home.vault.commit_human()
    home.pass_days(1)
    home.tend()
    assert "Oslo" not in home.memory
