"""Finds the workflows worth offering as skills: those that recur, succeed, and are not covered by a skill. Pure.

Separating workflows from chance is left to `sequences`, names and triggers to `written`, asking the person to `offers`.
Words that tasks of one kind share and other tasks lack tell what recurs from chance, and name nothing; English is
compared by words, Chinese by runs of two to six characters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from agent.dataclass import dataclass
from agent.index.analysis import CJK_STOP, CJK_STOP_CHARACTERS, STOP_WORDS
from agent.skills.learning.sequences import LEAST_STEPS, ToolSequence, Workflow, WorkflowTrace, contains, find_workflows
from agent.skills.learning.suggestion import Suggestion, WorkflowRun
from agent.skills.reading.patterns import searchable
from agent.skills.reading.skill import Skill, SkillSource

SHARE = 0.5
"""The least share of the tasks that have the word."""
STRANGE = 0.2
"""The largest share of other tasks that have it."""
MOST_WORDS = 8
_WORD = re.compile(r"[a-z][a-z'-]{2,}", re.ASCII)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SHORTEST, _LONGEST = 2, 6
_PLAIN = frozenset(
    ("please", "can", "you", "could", "would", "help", "want", "need", "make", "get", "let", "give", "tell", "show")
)
_POLITE = re.compile("请?帮我|请帮|一下|给我|我的|麻烦|一个|可以|能不能?")
"""Polite phrases and fillers between the words of a Chinese task."""


def common_words(tasks: Sequence[str], others: Sequence[str] = ()) -> tuple[str, ...]:
    """The words in at least half of the tasks and in few others, most frequent first."""
    counts = Counter(word for task in tasks for word in _words(task))
    strange = Counter(word for task in others for word in _words(task))
    common = [
        word
        for word, count in counts.items()
        if count >= max(2, SHARE * len(tasks)) and strange[word] <= STRANGE * len(others)
    ]
    whole = [word for word in common if not _is_part(word, common, counts)]
    first = {word: min(task.lower().find(word) for task in tasks if word in task.lower()) for word in whole}
    return tuple(sorted(whole, key=lambda word: (-counts[word], first[word], word))[:MOST_WORDS])


def is_one_kind(tasks: Sequence[str], words: Sequence[str], least: int) -> bool:
    """True if one of the words is in at least `least` of the tasks."""
    return any(sum(word in _words(task) for task in tasks) >= least for word in words)


def _words(task: str) -> frozenset[str]:
    plain = task.lower()
    english = {word.strip("'-") for word in _WORD.findall(plain)} - STOP_WORDS - _PLAIN
    return frozenset(word for word in english if len(word) > 2) | frozenset(_pieces(plain))


def _pieces(text: str) -> Iterable[str]:
    for run in (part for han in _HAN.findall(text) for part in _POLITE.split(han)):
        for size in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if CJK_STOP_CHARACTERS.isdisjoint((piece[0], piece[-1])) and piece not in CJK_STOP:
                    yield piece


def _is_part(word: str, others: Iterable[str], counts: Counter[str]) -> bool:
    """True if a Chinese word occurs only as part of a longer one."""
    return not word.isascii() and any(
        word != other and word in other and counts[other] >= counts[word] for other in others
    )


LEAST_RUNS = 3
SUCCESS = 0.7
"""The share of finished runs must be greater than this."""
AGAIN = 2
"""A refused workflow is offered again after this many times as many runs."""
_COVERED = 0.5
_ASIDE = 0.15
"""A step is dropped if the runs without it exceed this share of the runs with it."""
_CONDITIONS = 3


@dataclass(frozen=True, slots=True)
class RefusedWorkflow:
    """A workflow that the person refused, and the number of its runs at that time."""

    tools: ToolSequence
    support: int


def find_suggestions(
    traces: Sequence[WorkflowTrace],
    skills: Sequence[Skill],
    refused: Iterable[RefusedWorkflow] = (),
) -> tuple[Suggestion, ...]:
    """The workflows worth learning, most significant first; only one that extends a skill has a name.

    A workflow of runs whose tasks share no word must recur twice as often, as its tasks may have nothing in common.
    """
    unwanted = tuple(refused)
    learned = tuple(tools for skill in skills if (tools := sequence_of(skill)))
    found: list[Suggestion] = []
    for found_one in find_workflows([trace.tools for trace in traces], LEAST_RUNS):
        whole = tuple(number for number, trace in enumerate(traces) if contains(trace.tools, found_one.tools))
        workflow = _without_asides(Workflow(found_one.tools, whole), traces, learned)
        runs = [traces[number] for number in workflow.traces]
        if _is_worth(workflow, runs, unwanted):
            others = [trace.task for number, trace in enumerate(traces) if number not in set(workflow.traces)]
            made = _suggestion(workflow, runs, others, skills)
            found += [made] if made is not None else []
    return tuple(found)


def _without_asides(workflow: Workflow, traces: Sequence[WorkflowTrace], learned: Sequence[ToolSequence]) -> Workflow:
    """The workflow without a step that similar tasks were done without, and with their runs added.

    A step that a learned skill lacks is kept if at least as many runs have it as not, because the habit has changed.
    """
    words = common_words([traces[number].task for number in workflow.traces])
    if not words:
        return workflow
    best = workflow
    for place in range(len(workflow.tools)):
        shorter = workflow.tools[:place] + workflow.tools[place + 1 :]
        if len(set(shorter)) < LEAST_STEPS or any(one == other for one, other in pairwise(shorter)):
            continue
        more = [
            number
            for number, trace in enumerate(traces)
            if number not in workflow.traces and contains(trace.tools, shorter) and _is_alike(trace.task, words)
        ]
        share = 1.0 if any(contains(known, shorter) for known in learned) else _ASIDE
        if len(more) > share * len(workflow.traces) and len(workflow.traces) + len(more) > len(best.traces):
            best = Workflow(shorter, tuple(sorted([*workflow.traces, *more])))
    return best


def _is_alike(task: str, words: Sequence[str]) -> bool:
    """True if a task has most of these words."""
    return sum(word in task.lower() for word in words) > len(words) / 2


def _is_worth(workflow: Workflow, runs: Sequence[WorkflowTrace], refused: Sequence[RefusedWorkflow]) -> bool:
    """True if a workflow has several tools, mostly succeeded, and is not part of a refused one."""
    if len(set(workflow.tools)) < LEAST_STEPS or _success(runs) <= SUCCESS:
        return False
    return not any(contains(each.tools, workflow.tools) and len(runs) < AGAIN * each.support for each in refused)


def _suggestion(
    workflow: Workflow, runs: Sequence[WorkflowTrace], others: Sequence[str], skills: Sequence[Skill]
) -> Suggestion | None:
    """The workflow with its runs; None if a skill covers it or its tasks are not of one kind."""
    if any(_covers(skill, workflow.tools, runs) for skill in skills):
        return None
    tasks = [trace.task for trace in runs if trace.task]
    if not is_one_kind(tasks, common_words(tasks, others), LEAST_RUNS) and len(runs) < AGAIN * LEAST_RUNS:
        return None
    changes = next((skill.name for skill in skills if _is_part_of(skill, workflow.tools, runs)), "")
    return Suggestion(
        workflow.tools,
        tuple(_evidence(trace, workflow.tools) for trace in runs),
        _success(runs),
        sum(trace.seconds for trace in runs) / len(runs),
        tuple(sorted(dict.fromkeys(task[:200] for task in tasks), key=len)[:_CONDITIONS]),
        changes,
        changes,
    )


def sequence_of(skill: Skill) -> ToolSequence:
    """The workflow that a skill was learned from; empty for a skill that a person wrote."""
    return tuple(part for raw in skill.metadata.get("sequence", "").split(",") if (part := raw.strip()))


def _covers(skill: Skill, tools: ToolSequence, runs: Sequence[WorkflowTrace]) -> bool:
    """True if the skill was learned from this workflow or a longer one, or names its tools and fits its tasks."""
    learned = sequence_of(skill)
    if learned:
        return contains(learned, tools)
    return all(f"`{tool}`" in skill.body for tool in tools) and _is_for(skill, runs)


def _is_part_of(skill: Skill, tools: ToolSequence, runs: Sequence[WorkflowTrace]) -> bool:
    learned = sequence_of(skill)
    is_shorter = bool(learned) and skill.source is SkillSource.LEARNED and contains(tools, learned)
    return is_shorter and _is_for(skill, runs)


def _is_for(skill: Skill, runs: Sequence[WorkflowTrace]) -> bool:
    """True if one of the skill's patterns matches at least half of the tasks."""
    found = skill.triggers.patterns if skill.triggers else ()
    texts = [searchable(trace.task) for trace in runs]
    hits = sum(any(pattern.is_in(text) for pattern in found) for text in texts)
    return hits >= _COVERED * len(runs)


def _success(runs: Sequence[WorkflowTrace]) -> float:
    return sum(trace.succeeded for trace in runs) / len(runs)


def _evidence(trace: WorkflowTrace, tools: ToolSequence) -> WorkflowRun:
    """The run, with the subject of each tool of the workflow at its first use after the tool before."""
    abouts: list[str] = []
    place = 0
    worked = [step for step in trace.steps if not step.failed]
    for tool in tools:
        place = next((at for at in range(place, len(worked)) if worked[at].tool == tool), place)
        abouts.append(worked[place].about if place < len(worked) and worked[place].tool == tool else "")
        place += 1
    return WorkflowRun(trace.run, trace.path, trace.task, tuple(abouts))
