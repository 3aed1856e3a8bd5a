"""A reflection as a JSON document, for commands and other programs."""

from agent.growth.reflections.reflection import Reflection, Strategy


def reflection_document(reflection: Reflection) -> dict[str, object]:
    """The fields of a reflection; empty texts and lists are there, too."""
    return {
        "path": reflection.path,
        "heading": reflection.heading,
        "at": reflection.at.isoformat(),
        "trigger": reflection.trigger,
        "runs": list(reflection.runs),
        "sessions": list(reflection.sessions),
        "notes": list(reflection.notes),
        "result": reflection.result,
        "efficiency": reflection.efficiency,
        "error": reflection.error,
        "error_kind": reflection.error_kind,
        "strategies": [_strategy(each) for each in reflection.strategies],
        "gap": reflection.gap,
        "reactions": list(reflection.reactions),
        "strangers": list(reflection.strangers),
        "opinion": reflection.opinion,
    }


def _strategy(strategy: Strategy) -> dict[str, object]:
    return {
        "strategy": strategy.text,
        "when": strategy.when,
        "effect": strategy.effect,
        "confidence": strategy.confidence,
        "severity": strategy.severity,
        "restricts": strategy.restricts,
    }
