"""How `vault-agent skills` shows skills, what is wrong with them, and why they fit a task."""

from collections.abc import Iterator

from agent.skills.conflicts import Fate, Match
from agent.skills.library import Shelf
from agent.skills.matcher import Matched
from agent.skills.offered import Offer
from agent.skills.skill import Problem, Skill
from agent.skills.suggestion import Suggestion

_SUMMARY = 90


def document(skill: Skill) -> dict[str, object]:
    """A skill for `--json`."""
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source.value,
        "path": skill.path,
        "reviewed": skill.reviewed,
        "triggers": skill.has_triggers,
    }


def problem_document(problem: Problem) -> dict[str, object]:
    """A problem for `--json`."""
    return {"path": problem.path, "line": problem.line, "reason": problem.reason}


def problem_line(problem: Problem) -> str:
    """A problem for people."""
    return f"{problem.path}:{problem.line}: {problem.reason}"


def offer_document(offer: Offer) -> dict[str, object]:
    """A suggestion that the person was asked about, for `--json`."""
    return {
        "name": offer.name,
        "tools": list(offer.tools),
        "support": offer.support,
        "path": offer.path,
        "skill": offer.skill,
        "status": offer.status,
        "reason": offer.reason or None,
    }


def suggestion_document(suggestion: Suggestion) -> dict[str, object]:
    """A workflow that could be learned, for `--json`."""
    return {
        "name": suggestion.name,
        "description": suggestion.description,
        "tools": list(suggestion.tools),
        "support": suggestion.support,
        "success_rate": suggestion.success_rate,
        "changes": suggestion.changes or None,
        "evidence": [each.path for each in suggestion.evidence],
    }


def listed(shelf: Shelf) -> str:
    """All skills and problems."""
    width = max((len(skill.name) for skill in shelf.candidates), default=0)
    lines = []
    for skill in shelf.candidates:
        summary = skill.summary if len(skill.summary) <= _SUMMARY else skill.summary[: _SUMMARY - 1] + "…"
        marks = [] if skill.reviewed else ["unreviewed"]
        marks += [] if skill.has_triggers else ["catalogue only"]
        said = f" ({', '.join(marks)})" if marks else ""
        lines.append(f"{skill.name:<{width}}  {skill.source:<8} {summary}{said}")
    lines += ["", "left out or left unread:", *map(problem_line, shelf.problems)] if shelf.problems else []
    if any(not skill.reviewed for skill in shelf.candidates):
        lines += ["", "unreviewed skills are not used: vault-agent skills review NAME"]
    return "\n".join(lines) or "there are no skills; write one: skills/NAME/SKILL.md"


def whole(skill: Skill) -> str:
    """A skill in full: what it says of itself, its text, its files."""
    facts = [f"# {skill.name}", skill.summary, f"{skill.source}: {skill.path}"]
    triggers = skill.triggers
    if triggers is not None:
        facts += [f"wanted when the task has: {pattern.text}" for pattern in triggers.patterns]
        facts += [f"or the tools: {', '.join(triggers.tools)}"] if triggers.tools else []
        facts += [f"or the words: {', '.join(triggers.keywords)}"] if triggers.keywords else []
    facts += [f"wanted when: {condition}" for condition in skill.conditions]
    if skill.allowed_tools is not None:
        facts.append(f"tools it may use: {', '.join(skill.allowed_tools) or 'none'}")
    facts += [f"step {number}: {step.skill}" for number, step in enumerate(skill.chain, 1)]
    facts += [f"beside it: {path}" for path in skill.files]
    return "\n".join([*facts, "", skill.body])


def explained(matched: Matched, everything: bool) -> str:
    """The skills that fit, and with `everything` the others, each with its signals and what was decided."""
    shown = [each for each in matched.matches if everything or each.fate in {Fate.ACTIVE, Fate.UNREVIEWED}]
    blocks = ["\n".join(_lines(each, everything)) for each in shown]
    if everything and matched.catalogue:
        names = {each.skill.key for each in matched.matches}
        rest = [skill.name for skill in matched.catalogue if skill.key not in names]
        blocks += [f"nothing speaks for: {', '.join(rest)}"] if rest else []
    return "\n\n".join(blocks) or "no skill fits"


def _lines(each: Match, everything: bool) -> Iterator[str]:
    yield f"{each.skill.name}  {each.score:.2f}  {each.fate}{f': {each.why}' if each.why else ''}"
    if not everything:
        return
    for signal in each.signals:
        yield f"  {signal.weight:.2f}  {signal.type}: {signal.detail}"
    if each.factor != 1.0:
        yield f"  × {each.factor:.1f}  feedback"
    yield f"  = {each.score:.2f}, needed {each.threshold:.2f}; priority {each.skill.priority}" + (
        f"; group {each.skill.exclusive_group}" if each.skill.exclusive_group else ""
    )
    if each.fate is Fate.ACTIVE:
        left_out = f"; left out: {', '.join(each.left_out)}" if each.left_out else ""
        yield f"  {each.tokens} tokens{left_out}"
