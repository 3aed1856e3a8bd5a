"""What the model is told of a skill when it proposes variants: how its uses went, in the program's counts. In English,
as all prompts; the tasks are quoted as data.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from agent.growth.lessons.lesson_log import load_log
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import load_reflections
from agent.growth.lessons.variant_candidates import SkillCandidate
from agent.memory.capture.facts import RunTrace
from agent.runs.run_course import run_trace
from agent.skills.history.stats import use_succeeded
from agent.skills.history.usage import Use
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
    """What uses have in common: the order of their tools, the tools that failed, and some of their tasks."""
    if not uses:
        return
    yield f"{len(uses)} uses, with {sum(use.tools for use in uses) / len(uses):.1f} tool calls each"
    orders = Counter(" → ".join(step.tool for step in traces[use.run].steps) for use in uses)
    for order, count in orders.most_common(3):
        yield f"{count} × the tools {order or _NONE}"
    failed = Counter(step.tool for use in uses for step in traces[use.run].steps if step.failed)
    for tool, count in failed.most_common(3):
        yield f"{tool} failed {count} times"
    ends = Counter(use.feedback or use.outcome for use in uses)
    yield "ends: " + ", ".join(f"{count} × {end}" for end, count in ends.most_common())
    for use in uses[-_EXAMPLES:]:
        said = next((each.text for each in traces[use.run].said if not each.is_earlier), "")
        if said:
            yield f"a task: {json.dumps(said[:_LONGEST], ensure_ascii=False)}"


def _reflected(vault: Vault, candidate: SkillCandidate) -> Iterator[str]:
    """What the agent has thought about these runs, without what strangers had a part in."""
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
        said = ", ".join(f"{count} × {opinion.replace('_', ' ')}" for opinion, count in opinions.most_common())
        yield f"{name} of {len(part)} uses: {said or 'no opinion'}"


def _tried(vault: Vault, skill: str) -> Iterator[str]:
    """What became of earlier variants."""
    rows = (row for row in load_log(vault).of(skill) if row.is_of_skill and row.event not in {"trial", "proposed"})
    return (f"{row.event}: {row.why}" for row in rows)


def _listed(lines: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or _NONE
