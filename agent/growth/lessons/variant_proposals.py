"""The prompt for variants of a skill, with counts of the program and in English, as all
prompts are, with the tasks quoted as data; and its answer with one to three proposals, as typed values.

What is missing or cannot be used is named in `problems`, so that the model can be asked once more. How much a proposal
changes, is told by its text and not by what it says of itself. Asking is left to `variants`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from agent.escape import escape, escape_line
from agent.growth.lessons.lesson_log import load_log
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import load_reflections
from agent.growth.lessons.variant_candidates import SkillCandidate
from agent.growth.model_reply import ParsedReply
from agent.llm.messages import reply_items
from agent.markdown.title import clipped
from agent.memory.capture.facts import RunTrace
from agent.runs.run_course import run_trace
from agent.skills.history.stats import use_succeeded
from agent.skills.history.usage import Use
from agent.skills.variants.variant import TrialPlan, Variant, VariantKind
from agent.texts import Language, text
from agent.vault.store import Vault

_EXAMPLES = 5
_LONGEST = 300
_NONE = "none"


def prompt_values(vault: Vault, candidate: SkillCandidate, tools: Sequence[str], language: Language) -> dict[str, str]:
    """The variables of `prompts/mutation.md`."""
    traces = {use.run: run_trace(vault, use.session, use.run) for use in candidate.uses}
    good = [use for use in candidate.uses if use_succeeded(use)]
    bad = [use for use in candidate.uses if use_succeeded(use) is False]
    return {
        "skill": candidate.skill.name,
        "success_rate": f"{candidate.rate:.0%}",
        "current_skill": candidate.skill.body,
        "success_patterns": _listed(_patterns(good, traces)),
        "failure_patterns": _listed([*_patterns(bad, traces), *_reflected(vault, candidate)]),
        "feedback_trends": _listed(_trends(candidate.uses)),
        "tried": _listed(_tried(vault, candidate.skill.name)),
        "tools": ", ".join(tools) or _NONE,
        "language": text("prompt.language", language),
    }


def _patterns(uses: Sequence[Use], traces: dict[str, RunTrace]) -> Iterator[str]:
    """The common features of uses: the order of their tools, the tools that failed, and some of their tasks."""
    if not uses:
        return
    yield f"{len(uses)} uses, with {sum(use.tools for use in uses) / len(uses):.1f} tool calls each"
    orders = Counter(" → ".join(step.tool for step in traces[use.run].steps) for use in uses)
    yield from (f"{count} × the tools {order or _NONE}" for order, count in orders.most_common(3))
    failed = Counter(step.tool for use in uses for step in traces[use.run].steps if step.failed)
    yield from (f"{tool} failed {count} times" for tool, count in failed.most_common(3))
    ends = Counter(use.feedback or use.outcome for use in uses)
    yield "ends: " + ", ".join(f"{count} × {end}" for end, count in ends.most_common())
    tasks = filter(None, (_task_of(traces[use.run]) for use in uses[-_EXAMPLES:]))
    yield from (f"a task: {json.dumps(task[:_LONGEST], ensure_ascii=False)}" for task in tasks)


def _task_of(trace: RunTrace) -> str:
    return next((each.text for each in trace.utterances if not each.is_earlier), "")


def _reflected(vault: Vault, candidate: SkillCandidate) -> Iterator[str]:
    """The reflections on these runs, without those that strangers' text may have shaped."""
    runs = {use.run for use in candidate.uses}
    since = candidate.uses[0].time.date()
    about = [each for each in load_reflections(vault, since) if runs.intersection(each.runs) and not each.strangers]
    for each in about[-_EXAMPLES:]:
        yield from _of_reflection(each)


def _of_reflection(reflection: Reflection) -> Iterator[str]:
    if reflection.error:
        yield f"thought afterwards: {json.dumps(reflection.error[:_LONGEST], ensure_ascii=False)}"
    for strategy in reflection.strategies:
        yield f"an idea afterwards: {json.dumps(strategy.text[:_LONGEST], ensure_ascii=False)}"


def _trends(uses: Sequence[Use]) -> Iterator[str]:
    """The person's opinions in the older and in the newer half of the uses."""
    half = len(uses) // 2
    for name, part in (("older half", uses[:half]), ("newer half", uses[half:])):
        opinions = Counter(use.feedback for use in part if use.feedback)
        counts = ", ".join(f"{count} × {opinion.replace('_', ' ')}" for opinion, count in opinions.most_common())
        yield f"{name} of {len(part)} uses: {counts or 'no opinion'}"


def _tried(vault: Vault, skill: str) -> Iterator[str]:
    """The ends of earlier variants."""
    rows = (row for row in load_log(vault).of(skill) if row.is_of_skill and row.event not in {"trial", "proposed"})
    return (f"{row.event}: {row.why}" for row in rows)


def _listed(lines: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or _NONE


RISKS: tuple[VariantKind, ...] = ("parameter", "order", "step", "strategy")
"""The kinds, the least risk first."""
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_MARKER = re.compile(r"^(?:\d+[.)、]|[-*+])\s+")
_TOOL = re.compile(r"`([a-z][a-z0-9_.]*)`")
_MORE_LINES = 1
"""The lines that may come with a replaced step."""


def kind_of_change(before: str, after: str) -> VariantKind | None:
    """The kind of a change of instructions; None if nothing changes.

    `parameter`: only numbers differ. `order`: the same lines in another order. `step`: one line is replaced, by at most
    two. `strategy`: anything else.
    """
    old, new = _lines(before), _lines(after)
    if old == new:
        return None
    if [_DIGITS.sub("0", line) for line in old] == [_DIGITS.sub("0", line) for line in new]:
        return "parameter"
    plain_old, plain_new = ([_MARKER.sub("", line) for line in lines] for lines in (old, new))
    if sorted(plain_old) == sorted(plain_new):
        return "order"
    return "step" if _is_one_step(plain_old, plain_new) else "strategy"


def _is_one_step(old: Sequence[str], new: Sequence[str]) -> bool:
    """True if one line is replaced, and only that."""
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changes = [(last - first, end - begin) for tag, first, last, begin, end in codes if tag != "equal"]
    return len(changes) == 1 and changes[0][0] == 1 and 1 <= changes[0][1] <= 1 + _MORE_LINES


def riskier(*kinds: VariantKind) -> VariantKind:
    """The kind with the most risk of these."""
    return max(kinds, key=RISKS.index)


def new_tools(before: str, after: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The tools that the new instructions name and the old ones do not."""
    known, before_names = frozenset(tools), frozenset(_TOOL.findall(before))
    return tuple(sorted(name for name in frozenset(_TOOL.findall(after)) & known if name not in before_names))


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


MOST = 3
LONGEST_BODY = 12_000
"""The most characters of instructions that a model may write."""
_LONGEST_WORDS = 600


def parse_proposals(reply: str, skill: str, plan: TrialPlan) -> ParsedReply[tuple[Variant, ...]]:
    """The usable proposals for a skill in a model's reply, without numbers and each of the kind that it claims to be;
    they are to be judged by the plan. Problems are named only where there is none."""
    problems: list[str] = []
    try:
        listed = [*reply_items(reply)][:MOST]
    except ValueError as error:
        return ParsedReply(None, (str(error),))
    found = [made for number, each in enumerate(listed, 1) for made in _proposal(number, each, problems, skill, plan)]
    return ParsedReply(tuple(found)) if found else ParsedReply(None, tuple(problems) or ("there is no proposal in it",))


def _proposal(
    number: int, item: Mapping[str, str], problems: list[str], skill: str, plan: TrialPlan
) -> Iterator[Variant]:
    kind = next((each for each in RISKS if each == item.get("kind", "").strip().casefold()), None)
    words = {name: _words(item.get(name, "")) for name in ("change", "reason", "risk", "verification")}
    text = item.get("instructions", "").strip("\n").rstrip()
    missing = ", ".join(name for name, value in words.items() if not value)
    wrong = [f"proposal {number} has no {missing}"] if missing else []
    if kind is None:
        wrong.append(f"proposal {number}: the kind is one of {', '.join(RISKS)}")
    if problem := _body_problem(text):
        wrong.append(f"proposal {number}: instructions {problem}")
    problems += wrong
    if kind is not None and not wrong:
        change, reason, risk, verification = words.values()
        yield Variant(skill, 0, kind, text, plan, change, reason, risk, verification)


def _body_problem(text: str) -> str:
    """Why a text cannot be the instructions of a skill; empty if it can."""
    if not text.strip():
        return "are missing: give the whole new text"
    if len(text) > LONGEST_BODY:
        return f"have {len(text):,} characters; at most {LONGEST_BODY:,} are allowed"
    if text.lstrip().startswith("---"):
        return "begin with a header; give only what stands below it"
    return "have control or invisible characters" if escape(text) != text else ""


def _words(value: str) -> str:
    """A text on one line without markup that acts."""
    return clipped(escape_line(" ".join(value.split())).replace("%%", "% %"), _LONGEST_WORDS)
