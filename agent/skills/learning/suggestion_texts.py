"""What a suggestion, its note and the skill made of it say, in the languages of vaults."""

from collections.abc import Mapping

_EN = {
    "about": "What is done for tasks about {words}: {steps}.",
    "came back": "A workflow that came back: {steps}.",
    "steps": "Steps",
    "as before": ", as before on: {about}",
    "check": "Check",
    "checks": "- The task asks for the same kind of result; else say so and do what was asked.\n"
    "- Each step gave what the next one needs.",
    "comma": ", ",
    "semicolon": "; ",
    "learned": "learned from {support} runs",
    "more": "more steps, seen in {support} runs",
    "since": "Since version {number}",
    "lately": "The work has lately gone on like this:",
    "learn?": "May I learn this as the skill {name}?",
    "add?": "May I add to {name}?",
    "seen": "You had this done {support} times ({rate:.0%} of them finished{took}): {steps}.",
    "took": ", {seconds:.0f} s on average",
    "holds": "After a yes the text below is written to `{place}`, as it stands here, and is yours to edit there. "
    "After a no I will not ask about this again, unless it is done twice as often. Both ticked is a no.",
    "where": "Where I saw it",
    "a run": "a run",
    "skill": "The skill",
    "skill then": "The skill as it would be",
}
_ZH = {
    "about": "与{words}有关的任务的做法：{steps}。",
    "came back": "多次重复的做法：{steps}。",
    "steps": "步骤",
    "as before": "，以前用在：{about}",
    "check": "检查",
    "checks": "- 任务要的是同一类结果；不是的话就说明，并照任务的要求做。\n- 每一步都给出了下一步需要的东西。",
    "comma": "、",
    "semicolon": "；",
    "learned": "从 {support} 次运行中学到",
    "more": "增加了步骤，见于 {support} 次运行",
    "since": "第 {number} 版起",
    "lately": "最近这件事是这样接着做的：",
    "learn?": "可以把这个学成技能 {name} 吗？",
    "add?": "可以补充到技能 {name} 吗？",
    "seen": "你让我这样做过 {support} 次（其中 {rate:.0%} 完成{took}）：{steps}。",
    "took": "，平均 {seconds:.0f} 秒",
    "holds": "勾选 `approve`（批准）或 `reject`（拒绝）。批准后，下面的文字会原样写入 `{place}`，之后由你修改。"
    "拒绝后，除非这样做的次数翻倍，我不会再问。两个都勾选算拒绝。",
    "where": "我在哪里见到的",
    "a run": "一次运行",
    "skill": "技能",
    "skill then": "补充后的技能",
}
_SAID: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def said(language: str, what: str, **values: object) -> str:
    """One of the texts with these values in it."""
    return _SAID[language][what].format(**values)
