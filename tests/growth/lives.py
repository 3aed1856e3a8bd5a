"""Fortnights of a person, made by chance: what they ask, say and write, with patterns planted in them or without any.

Sentences are a request and a thing; the requests are the same for all things, as people's are, so that what repeats in
them is no subject. A fortnight is given as an `Activity`, what the detectors look at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from agent.growth.patterns.pattern import Activity, OpenBox, Remark, RemarkKind, ToolCallMade
from agent.texts import Language

NOW = datetime(2026, 12, 20, 21, 0, tzinfo=UTC)
THINGS: Mapping[Language, Sequence[str]] = {
    "en": (
        *("piano lesson", "garden fence", "tax return", "birthday cake", "ferry ticket", "roof repair", "bread oven"),
        *("chess club", "wedding speech", "dentist bill", "bicycle lock", "museum visit", "rental contract"),
        *("marathon training", "solar panel", "kitten food", "library card", "camping tent", "violin string"),
        *("honey jar", "winter coat", "sailing course", "election poster", "coffee grinder", "railway timetable"),
        *("school play", "pottery class", "vaccination record", "moving company", "insurance claim", "jazz concert"),
        *("orchid pot", "beehive paint", "fishing licence", "passport photo", "carpet sample", "chimney sweep"),
    ),
    "zh": (
        *("钢琴课", "花园围栏", "报税材料", "生日蛋糕", "渡轮船票", "屋顶维修", "面包烤箱", "象棋社", "婚礼致辞"),
        *(
            "牙医账单",
            "自行车锁",
            "博物馆参观",
            "租房合同",
            "马拉松训练",
            "太阳能板",
            "猫粮",
            "图书馆借书证",
            "露营帐篷",
        ),
        *("小提琴弦", "蜂蜜罐", "冬季大衣", "帆船课程", "竞选海报", "咖啡豆", "火车时刻表", "校园话剧", "陶艺班"),
        *("疫苗接种本", "搬家公司", "保险理赔", "爵士音乐会", "兰花盆栽", "蜂箱油漆", "钓鱼执照", "护照照片"),
        *("地毯样品", "烟囱清扫"),
    ),
}
REQUESTS: Mapping[Language, Sequence[str]] = {
    "en": (
        *("Write a short summary of the {0}", "Make a list for the {0}, please", "When is the {0} due?"),
        *("Remind me of the {0} tomorrow", "Can you check the {0} again?", "Find the note about the {0}"),
        *("What did I say about the {0}?", "Draft a mail about the {0}", "Put together a document on the {0}"),
        *("I have to think about the {0}", "The {0} was expensive", "Add the {0} to my list"),
        *("Help me with a plan for the {0}", "Show me everything on the {0}", "How much did the {0} cost?"),
        *("Update the file of the {0}", "Book the {0} for next week", "Translate this about the {0}"),
    ),
    "zh": (
        *("帮我写一份{0}的总结", "请整理一下{0}", "{0}什么时候到期？", "明天提醒我处理{0}", "再检查一次{0}"),
        *("找一下关于{0}的笔记", "我之前说过{0}什么？", "起草一封关于{0}的邮件", "做一份{0}的文档", "我得想想{0}的事"),
        *("{0}挺贵的", "把{0}加到清单里", "给我做一个{0}的计划", "看看{0}的情况", "{0}花了多少钱？"),
        *("更新{0}的文件", "下周预约{0}", "把这段{0}翻译一下", "列出所有{0}的内容", "今天的{0}怎么样了"),
    ),
}
QUESTIONS: Mapping[Language, Sequence[str]] = {
    "en": ("Where is the {0}?", "Where did I put the {0}?", "Do you know where the {0} is?", "Where's the {0} again?"),
    "zh": ("{0}在哪里？", "我把{0}放哪儿了？", "你知道{0}在哪吗？", "{0}放在哪里了？"),
}
BOXES: Mapping[Language, str] = {"en": "Order the {0}", "zh": "订购{0}"}
AHEAD: Mapping[Language, str] = {"en": "Pick up the {0} on 8 January", "zh": "1 月 8 日取{0}"}


@dataclass(frozen=True, slots=True)
class PlantedThing:
    """A pattern of this kind that is about this thing."""

    kind: str
    thing: str


@dataclass(frozen=True, slots=True)
class Life:
    """A fortnight and what was planted in it."""

    activity: Activity
    calls: tuple[ToolCallMade, ...]
    planted: tuple[PlantedThing, ...] = ()


def random_life(language: Language, seed: int, *, planted: bool) -> Life:
    """The fortnight with this seed; with one pattern of each kind, if they are `planted`."""
    random = Random(seed)
    things = random.sample(list(THINGS[language]), len(THINGS[language]))
    own, rest = things[:5], things[5:]
    remarks = [_remark(random, language, random.choice(rest)) for _ in range(random.randrange(60, 160))]
    boxes = [OpenBox(AHEAD[language].format(rest[0]), "[[Notes/ahead]]", NOW - timedelta(days=12))]
    calls = [ToolCallMade(_moment(random), "vault_read", "[[s]]") for _ in range(60)]
    if not planted:
        return _life(remarks, boxes, calls)
    asked, hourly, rising, box, weekly = own
    for number, day in enumerate(random.sample(range(13), 4)):
        at = _at(day, random.randrange(8, 22), random)
        remarks.append(Remark("asked", at, QUESTIONS[language][number].format(asked), f"[[q{number}]]"))
    hour = random.randrange(6, 22)
    for day in random.sample(range(13), 7):
        remarks.append(_remark(random, language, hourly, _at(day, hour, random)))
    for day in (*range(6), random.randrange(6)):
        remarks.append(_remark(random, language, rising, _at(day, random.randrange(8, 22), random)))
    boxes.append(OpenBox(BOXES[language].format(box), "[[Notes/plan]]", NOW - timedelta(days=random.randrange(8, 14))))
    reason = f"timed out after {weekly}"
    calls += [ToolCallMade(_at(day, 12, random), "web_fetch", "[[s]]", reason) for day in random.sample(range(13), 4)]
    kinds = (("repeated_question", asked), ("daily_rhythm", hourly), ("rising_topic", rising), ("abandoned_task", box))
    found = (*(PlantedThing(*each) for each in kinds), PlantedThing("tool_failure_pattern", "web_fetch"))
    return _life(remarks, boxes, calls, found)


def _life(
    remarks: list[Remark], boxes: list[OpenBox], calls: list[ToolCallMade], planted: tuple[PlantedThing, ...] = ()
) -> Life:
    in_order = tuple(sorted(remarks, key=lambda each: each.at))
    return Life(Activity(NOW, in_order, tuple(boxes)), tuple(sorted(calls, key=lambda each: each.at)), planted)


def _remark(random: Random, language: Language, thing: str, at: datetime | None = None) -> Remark:
    kind: RemarkKind = random.choice(("asked", "asked", "stated", "written")) if at is None else "asked"
    when = at or _moment(random)
    return Remark(
        kind, when, random.choice(REQUESTS[language]).format(thing), f"[[{when:%m-%d %H%M}]]", kind != "written"
    )


def _moment(random: Random) -> datetime:
    return _at(random.randrange(14), random.randrange(7, 23), random)


def _at(back: int, hour: int, random: Random) -> datetime:
    day = NOW - timedelta(days=back)
    return min(day.replace(hour=hour, minute=random.randrange(60)), NOW)
