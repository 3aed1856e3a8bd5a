"""Skills as documents for JSON, the same for every interface."""

from collections.abc import Iterable

from agent.skills.history.usage import Use
from agent.skills.learning.offer_records import SkillOffer
from agent.skills.learning.suggestion import Suggestion
from agent.skills.matching.selection import Match
from agent.skills.reading.skill import Skill, SkillProblem


def skill_document(skill: Skill) -> dict[str, object]:
    """A skill for JSON."""
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source.value,
        "path": skill.path,
        "reviewed": skill.reviewed,
        "triggers": skill.has_triggers,
    }


def problem_document(problem: SkillProblem) -> dict[str, object]:
    """A problem for JSON."""
    return {"path": problem.path, "line": problem.line, "reason": problem.reason}


def problems_document(errors: Iterable[SkillProblem], warnings: Iterable[SkillProblem]) -> dict[str, object]:
    """Why some skills cannot be used, and what is wrong in others, for JSON."""
    return {
        "problems": [problem_document(each) for each in errors],
        "warnings": [problem_document(each) for each in warnings],
    }


def offer_document(offer: SkillOffer) -> dict[str, object]:
    """A suggestion that the person was asked about, for JSON."""
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
    """A workflow that could be learned, for JSON."""
    return {
        "name": suggestion.name,
        "description": suggestion.description,
        "tools": list(suggestion.tools),
        "support": suggestion.support,
        "success_rate": suggestion.success_rate,
        "changes": suggestion.changes or None,
        "evidence": [each.path for each in suggestion.evidence],
    }


def match_document(each: Match) -> dict[str, object]:
    """A skill with a signal, for JSON."""
    return {
        "name": each.skill.name,
        "score": each.score,
        "signals": [
            {"type": signal.type, "detail": str(signal.detail), "weight": signal.weight} for signal in each.signals
        ],
        "base": each.base,
        "factor": each.factor,
        "threshold": each.threshold,
        "fate": each.status.value,
        "why": str(each.why),
        "tokens": each.tokens,
        "slots": dict(each.slots),
        "on_request": list(each.on_request),
        "path": each.skill.path,
    }


def use_document(use: Use) -> dict[str, object]:
    """One use of a skill, for JSON."""
    return {
        "run": use.run,
        "time": use.time.isoformat(),
        "activated": use.activated,
        "score": use.score,
        "outcome": use.outcome or None,
        "feedback": use.feedback or None,
        "session": use.session or None,
    }
