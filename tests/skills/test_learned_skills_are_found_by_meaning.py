"""The examples by which the similarity of the vectors that ship was put on the common scale."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.embedder import choose_embedder
from agent.skills.matching.matcher import SEMANTIC
from agent.skills.matching.similarity import CALIBRATIONS, OTHERWISE, Similarity, calibration
from tests.skills.shelves import skill

CONDITIONS = {
    "competitors": (
        "The user asks for an analysis of a competitor or rival product",
        "Several products or services are to be compared",
        "用户请求分析竞品或竞争对手",
        "需要对比多个产品或服务",
    ),
    "release": (
        "The user wants release notes written from the latest changes",
        "A changelog entry for a new version is needed",
        "用户要根据最近的改动写发布说明",
    ),
    "trip": ("The user plans a trip and needs an itinerary", "用户要规划一次旅行行程"),
    "invoice": ("An invoice has to be filed and its amount recorded", "用户要归档发票并记录金额"),
    "recipe": ("The user wants to save a recipe from a web page as a note", "把网页上的菜谱存成笔记"),
}
WANTED = {
    "analyse our main competitor's product": "competitors",
    "who are our competitors and what do their products do better?": "competitors",
    "帮我分析一下竞品的定价": "competitors",
    "对比这三款产品的优缺点": "competitors",
    "write the release notes for version 2.1": "release",
    "put together a changelog for the new version": "release",
    "写一份新版本的发布说明": "release",
    "plan a five day trip to Lisbon with an itinerary": "trip",
    "I need an itinerary for my trip to Japan": "trip",
    "帮我规划去云南的旅行行程": "trip",
    "file this invoice and note the amount": "invoice",
    "record the amount of the invoice from the plumber": "invoice",
    "把这张发票归档，记录金额": "invoice",
    "save this recipe from the web page into my notes": "recipe",
    "把这个网页的菜谱存到笔记里": "recipe",
}
NOTHING = (
    "what did I write about stoicism?",
    "translate this paragraph into French",
    "今天天气怎么样",
    "remind me to call the dentist tomorrow",
    "who is Anna?",
    "fix the spelling in my daily note",
    "写一首关于秋天的诗",
    "总结昨天的会议",
    "summarise yesterday's meeting",
    "list my open tasks",
    "明天提醒我交房租",
    "what did the trip cost us?",
    "how much was the last invoice",
    "翻译这段话成英文",
    "what is a good recipe for risotto",
)

DESCRIPTIONS = {
    "pdf": "Reads, splits, merges and makes PDF files, with their tables. Use when a PDF form has to be filled in, or "
    "text is wanted out of a PDF.",
    "xlsx": "Writes and checks spreadsheets with formulas. Use when a spreadsheet or an .xlsx file is to be made, "
    "read or recalculated, or a column added.",
    "pages": "Designs web pages and landing pages that look like no others. Use when a page is to be built.",
    "office-letters": "Texts for the people in a firm. Use for a status report, a newsletter for the team, an update "
    "for the leadership or an account of an incident.",
    "commits": "Writes the message of a commit from its changes. Use when a commit message is wanted.",
    "recipe": "把随手记下的做法整理成一份菜谱。当用户要写菜谱、整理食谱或换算份量时使用。",
    "rent": "Checks a rental contract clause by clause. Use for a lease, a deposit or a rent increase.",
    "invoice": "写发票和报价单。适用于开发票、做报价、催款。",
}
DESCRIBED = {
    "Fill in this PDF form for me": "pdf",
    "merge these two pdfs": "pdf",
    "extract the tables from report.pdf": "pdf",
    "make a spreadsheet of my expenses with a sum formula": "xlsx",
    "add a column to budget.xlsx": "xlsx",
    "build me a landing page for the bakery": "pages",
    "write the weekly status report for leadership": "office-letters",
    "draft a newsletter for the team": "office-letters",
    "write a commit message for the staged changes": "commits",
    "帮我把红烧肉的做法整理成菜谱": "recipe",
    "这份食谱换算成四人份": "recipe",
    "is the deposit in my lease too high?": "rent",
    "my landlord wants a rent increase, is that fair": "rent",
    "给客户开一张发票": "invoice",
    "做一份报价单": "invoice",
    "what did I do last week?": "",
    "buy milk": "",
    "when is Anna's birthday": "",
    "plan a trip to Porto": "",
    "我对什么过敏": "",
    "今天天气怎么样": "",
    "summarise my notes on gardening": "",
    "remind me to call Ben": "",
    "write a poem about autumn": "",
    "what is the capital of France": "",
    "整理一下我的笔记": "",
    "add a note about the meeting with Anna": "",
    "translate this paragraph to German": "",
    "create a task to water the plants": "",
}  # fmt: skip
"""Tasks with the skill above that they are for; empty for none."""


@pytest.fixture(scope="module")
def near() -> Similarity:
    embedder = choose_embedder("").embedder
    if embedder is None or not embedder.name.startswith(tuple(CALIBRATIONS)):
        pytest.skip("another model is installed")
    return Similarity(embedder)


def test_what_fits_is_mostly_offered_and_little_else(near: Similarity) -> None:
    learned = [
        skill(name, "trigger_conditions:\n" + "".join(f'  - "{text}"\n' for text in texts))
        for name, texts in CONDITIONS.items()
    ]
    offered = wrong = 0
    for task in (*WANTED, *NOTHING):
        found = near.near(task, learned)
        for each in learned:
            right = WANTED.get(task) == each.name
            offered += right and found[each.key] >= SEMANTIC
            wrong += not right and found[each.key] >= SEMANTIC
    assert offered >= 14 and wrong <= 3, "of 150 pairs"


LEARNED = {
    "handover": ("Write the handover note for the Kestrel project", "Handover note for the migration project, please"),
    "itinerary": ("Plan a five day trip to Lisbon", "Make an itinerary for our trip to Japan"),
    "minutes": ("Write the minutes of today's board meeting", "Minutes of the budget meeting"),
    "cooking": ("Save this recipe as a note", "Turn this web page into a recipe note"),
    "changes": ("Write the release notes for version 2.1", "Changelog for the new version"),
    "交接": ("写一份项目交接单", "整理某某项目的交接文档"),
    "归档": ("把这张发票归档，记录金额", "登记水管工的发票"),
    "纪要": ("写今天董事会的会议纪要", "预算会的纪要"),
    "菜谱": ("把这个菜谱存成笔记", "把网页上的做法整理成菜谱"),
    "发布": ("写 2.1 版的发布说明", "新版本的更新日志"),
}
"""Skills as they are learned: their conditions are tasks."""
IN_OTHER_WORDS = {
    "en": {
        "Put together a document so Ben can take over Kestrel": "handover",
        "Prepare the hand-over document of the data project for Anna": "handover",
        "Work out a week's trip in Portugal for us, day by day": "itinerary",
        "Plan our days in Rome": "itinerary",
        "Summarise what was decided in the team meeting": "minutes",
        "Write up the notes of this morning's meeting": "minutes",
        "Store the pancake recipe I found online": "cooking",
        "Draft the announcement of what is new in this version": "changes",
    },
    "zh": {
        "帮我准备一份材料，好让小王接手这个项目": "交接",
        "做个工作移交清单": "交接",
        "把电工的账单存档并记下多少钱": "归档",
        "这张收据记一下账": "归档",
        "整理一下今天会议定下的事": "纪要",
        "把周会的要点记成纪要": "纪要",
        "保存我在网上找到的蛋糕菜谱": "菜谱",
        "写一篇新版本上线公告": "发布",
    },
}
UNRELATED = {
    "en": ("what did I write about stoicism?", "translate this paragraph into French", "who is Anna?",
           "remind me to call the dentist tomorrow", "list my open tasks", "write a poem about autumn",
           "what is due this week?", "fix the spelling in my daily note"),
    "zh": ("今天天气怎么样", "明天提醒我交房租", "翻译这段话成英文", "我对什么过敏", "安娜是谁", "整理一下我的待办",
           "这周有什么到期", "写一首关于秋天的诗"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_task_in_other_words_is_known(near: Similarity, language: str) -> None:
    shelf = [
        skill(name, "trigger_conditions:\n" + "".join(f'  - "{text}"\n' for text in texts))
        for name, texts in LEARNED.items()
    ]
    keys = {each.name: each.key for each in shelf}
    known = [near.near(task, shelf)[keys[right]] >= SEMANTIC for task, right in IN_OTHER_WORDS[language].items()]
    wrong = [task for task in UNRELATED[language] if max(near.near(task, shelf).values()) >= SEMANTIC]
    assert sum(known) >= 6 and wrong == [], known


def test_other_models_are_taken_at_their_word() -> None:
    assert calibration("somebody/else@1", "latin") is OTHERWISE
    assert OTHERWISE.scaled(0.6) == pytest.approx(0.6) and OTHERWISE.scaled(0.8) == pytest.approx(0.8)


@given(st.floats(-1, 1.01), st.floats(-1, 1.01))
def test_nearer_is_never_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for scale in CALIBRATIONS["wordllama"].values():
        assert 0 <= scale.scaled(low) <= scale.scaled(high) <= 1


def test_a_skill_that_says_nothing_else_is_found_by_its_description(near: Similarity) -> None:
    shelf = [replace(skill(name), description=description) for name, description in DESCRIPTIONS.items()]
    offered = wrong = 0
    for task, right in DESCRIBED.items():
        found = {each.name for each in shelf if near.near(task, shelf)[each.key] >= SEMANTIC}
        offered += right in found
        wrong += not right and bool(found)
    assert offered >= 14 and wrong <= 1


def test_skills_with_triggers_cost_nothing(near: Similarity) -> None:
    assert near.near("anything", [skill("a", "triggers: {intent_patterns: [tea]}\n")]) == {}
