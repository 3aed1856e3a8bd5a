"""The key `triggers` of a skill: patterns, tools, words and slots that tell when it is wanted."""

from agent.markdown.values import Value, is_list
from agent.skills.fields import Fields
from agent.skills.folded import folded
from agent.skills.patterns import MOST, SIZE_TOGETHER, BadPattern, Pattern, compile_pattern
from agent.skills.skill import THRESHOLD, Triggers

_KEY = "triggers"
_KNOWN = ("intent_patterns", "except_patterns", "tool_signals", "context_signals", "confidence_threshold")


def read_triggers(fields: Fields) -> Triggers | None:
    """The triggers; None where there are none. Mistakes are kept in `fields`."""
    found = fields.mapping(_KEY)
    if found is None:
        return None
    for name in found:
        if name not in _KNOWN:
            fields.odd(_KEY, f"triggers.{ascii(name)[1:-1]} is unknown and left unread; known: {', '.join(_KNOWN)}")
    signals = dict(fields.pairs(_KEY, "context_signals", found.get("context_signals")))
    threshold = found.get("confidence_threshold")
    patterns = _patterns(fields, "intent_patterns", found.get("intent_patterns"))
    exceptions = _patterns(fields, "except_patterns", found.get("except_patterns"))
    if sum(pattern.size for pattern in (*patterns, *exceptions)) > SIZE_TOGETHER:
        fields.bad(_KEY, "the patterns are too large together: use fewer, or smaller repeats")
    return Triggers(
        patterns,
        fields.texts(_KEY, found.get("tool_signals"), "tool_signals"),
        _keywords(fields, signals.get("keywords")),
        tuple(
            (name, fields.texts(_KEY, value, f"slots.{name}"))
            for name, value in fields.pairs(_KEY, "slots", signals.get("slots"))
        ),
        THRESHOLD if threshold is None else fields.within(_KEY, "confidence_threshold", threshold, 0, 1) or THRESHOLD,
        exceptions,
    )


def _keywords(fields: Fields, value: Value) -> tuple[str, ...]:
    """The words in small letters and one way of writing, each once."""
    return tuple(dict.fromkeys(folded(word.lower()) for word in fields.texts(_KEY, value, "keywords")))


def _patterns(fields: Fields, name: str, value: Value) -> tuple[Pattern, ...]:
    texts = fields.texts(_KEY, value, name)
    if len(texts) > MOST:
        fields.bad(_KEY, f"{name} has {len(texts)} items; at most {MOST} are allowed")
        return ()
    if value is not None and not is_list(value) and not isinstance(value, str):
        fields.bad(_KEY, f"{name} must be a list of patterns")
        return ()
    found = []
    for text in texts:
        try:
            found.append(compile_pattern(text))
        except BadPattern as error:
            fields.bad(_KEY, str(error), text)
    return tuple(found)
