"""A model's answer about a run as the words of a reflection.

What is missing or unknown in it is named in `problems`, so that the model can be asked once more; what can be used is
used with the lowest grade where one is unknown. Asking is left to `reflecting`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.growth.lessons.model_answer import as_text, fields_in, named
from agent.growth.lessons.reflection import ErrorKind, Grade, Reflection, Strategy
from agent.growth.lessons.reflection_notes import MOST_STRATEGIES, STRATEGY, plain_text
from agent.markdown.yaml_write import Value

_DIMENSIONS = {
    "result": "result outcome resultevaluation resultassessment 结果 结果评估",
    "efficiency": "efficiency efficiencyanalysis 效率 效率分析",
    "error": "error errors errordiagnosis diagnosis problem 错误 错误诊断 问题",
    "strategies": "strategies strategysuggestions suggestions strategy 策略 策略建议 建议",
    "gap": "gap gaps capabilitygap capabilitygaps missing 能力缺口 缺口 欠缺",
    "kind": "errorkind errortype kind 错误类别 错误类型",
}
_ERROR = {
    "what": "what cause rootcause description text 原因 根本原因 描述 内容 问题",
    "kind": "kind type category class 类别 分类 类型",
}
_STRATEGY = {
    "text": "strategy text what 策略 具体策略 内容",
    "when": "when scenario applies applieswhen usewhen 适用场景 场景 何时",
    "effect": "effect expectedeffect expected 预期效果 效果",
    "confidence": "confidence 置信度 把握",
    "severity": "severity 严重程度 严重性",
    "restricts": "restricts restricting onlyrestricts 只作限制 仅限制 限制",
}
_GRADES: Mapping[str, Grade] = {
    **dict.fromkeys(("low", "低", "较低"), "low"),
    **dict.fromkeys(("medium", "mid", "moderate", "中", "中等"), "medium"),
    **dict.fromkeys(("high", "高", "较高", "critical"), "high"),
}
_KINDS: Mapping[str, ErrorKind] = {
    **dict.fromkeys(("a", "information", "信息不足"), "information"),
    **dict.fromkeys(("b", "strategy", "策略不当"), "strategy"),
    **dict.fromkeys(("c", "tool", "工具误用"), "tool"),
    **dict.fromkeys(("d", "model", "模型能力限制", "模型能力"), "model"),
}
_NONE = frozenset(("", "none", "null", "no", "n/a", "-", "无", "没有", "false"))
_ANY_CASE = frozenset((
    "always", "at all times", "any time", "every time", "all cases", "in all cases", "in any case", "all tasks",
    "any task", "总是", "始终", "一直", "永远", "任何时候", "任何情况", "任何情况下", "所有情况", "所有情况下",
    "每次", "所有任务",
))  # fmt: skip
_YES = frozenset(("true", "yes", "是", "对"))


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A reflection with what the model said (None: it cannot be read), and what is wrong with that, in sentences for
    the model."""

    answer: Reflection | None
    problems: tuple[str, ...] = ()


def parse_answer(reply: str, placed: Reflection) -> ParsedAnswer:
    """The answer in a model's reply, as the words of a reflection that has its place."""
    problems: list[str] = []
    found = fields_in(reply, _DIMENSIONS, problems)
    return _Reader().read(found, placed) if found else ParsedAnswer(None, tuple(problems) or ("it is empty",))


@dataclass(slots=True)
class _Reader:
    """Reads the values of one answer and gathers what is wrong with them."""

    problems: list[str] = field(default_factory=list)

    def read(self, found: Mapping[str, Value], placed: Reflection) -> ParsedAnswer:
        parts = _error_parts(found.get("error"))
        what = as_text(parts.get("what"))
        error = "" if what.strip().casefold() in _NONE else plain_text(what)
        kind = self.kind(parts.get("kind", found.get("kind"))) if error else None  # models fill the form to its end
        answer = replace(
            placed,
            result=plain_text(as_text(found.get("result"))),
            efficiency=plain_text(as_text(found.get("efficiency"))),
            error=error,
            error_kind=kind,
            strategies=tuple(self.strategies(found.get("strategies"))),
            gap=plain_text(as_text(found.get("gap"))),
        )
        return ParsedAnswer(answer, tuple(self.problems))

    def kind(self, value: Value) -> ErrorKind | None:
        said = as_text(value).strip()
        first = re.split(r"[\s.、:：)）(（,，|]", said, maxsplit=1)[0].casefold()
        if said.casefold() in _NONE or first in _NONE:
            return None
        found = _KINDS.get(said.casefold()) or _KINDS.get(first)
        if found is None:
            self.problems.append(f"error.kind is {said[:40]!r}: it is A, B, C or D")
        return found

    def strategies(self, value: Value) -> Iterator[Strategy]:
        listed = value if isinstance(value, tuple) else () if value is None else (value,)
        items = [each for each in listed if as_text(each).strip().casefold() not in _NONE]
        if len(items) > MOST_STRATEGIES:
            self.problems.append(f"there are {len(items)} strategies: give the {MOST_STRATEGIES} best")
        for number, each in enumerate(items[:MOST_STRATEGIES], 1):
            fields = named(each, _STRATEGY) if isinstance(each, Mapping) else {"text": each}
            said = plain_text(as_text(fields.get("text")), STRATEGY)
            if not said:
                self.problems.append(f"strategy {number} has no text")
                continue
            yield Strategy(
                said,
                _case(plain_text(as_text(fields.get("when")), STRATEGY)),
                plain_text(as_text(fields.get("effect")), STRATEGY),
                self.grade(fields.get("confidence"), f"strategy {number}: confidence"),
                self.grade(fields.get("severity", "low"), f"strategy {number}: severity"),
                as_text(fields.get("restricts")).strip().casefold() in _YES,
            )

    def grade(self, value: Value, name: str) -> Grade:
        said = as_text(value).strip().casefold()
        found = _GRADES.get(said) or _GRADES.get(re.split(r"[\s(（,，/|]", said, maxsplit=1)[0])
        if found is None:
            self.problems.append(f"{name} is {said[:40]!r}: it is HIGH, MEDIUM or LOW")
        return found or "low"


def _error_parts(value: Value) -> Mapping[str, Value]:
    """The cause and its kind, of an error that is one text or has parts."""
    parts = named(value, _ERROR) if isinstance(value, Mapping) else {}
    return parts or {"what": value}


def _case(when: str) -> str:
    """The case of a strategy; empty for the words of one that is for every case."""
    return "" if when.casefold().strip(" .。!！") in _ANY_CASE else when
