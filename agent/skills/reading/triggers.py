"""Parser of a skill's key `triggers`: its patterns, tools, keywords and slots."""

from collections.abc import Mapping

from agent.config.near_words import meant
from agent.markdown.values import Value, is_list
from agent.skills.reading.header import HeaderFields
from agent.skills.reading.normalize import normalize
from agent.skills.reading.patterns import MOST, SIZE_TOGETHER, BadPattern, Intent, TaskPattern, compile_pattern
from agent.skills.reading.skill import THRESHOLD, Triggers

_KEY = "triggers"
_INTENTS, _ALL = "intent_patterns", "all"
_KNOWN = ("intent_patterns", "except_patterns", "tool_signals", "context_signals", "confidence_threshold")


def parse_triggers(fields: HeaderFields) -> Triggers | None:
    """The triggers; None without them. Errors are added to `fields`."""
    found = fields.mapping(_KEY)
    if found is None:
        return None
    for name in found:
        if name not in _KNOWN:
            near = meant(name, _KNOWN)
            help_ = f"did you mean {near}?" if near else f"known: {', '.join(_KNOWN)}"
            fields.add_remark(_KEY, f"triggers.{ascii(name)[1:-1]} is unknown and left unread; {help_}")
    signals = dict(fields.pairs(_KEY, "context_signals", found.get("context_signals")))
    threshold = found.get("confidence_threshold")
    patterns = _intents(fields, found.get("intent_patterns"))
    exceptions = _patterns(fields, "except_patterns", found.get("except_patterns"))
    triggers = Triggers(
        patterns,
        fields.texts(_KEY, found.get("tool_signals"), "tool_signals"),
        _keywords(fields, signals.get("keywords")),
        tuple(
            (name, fields.texts(_KEY, value, f"slots.{name}"))
            for name, value in fields.pairs(_KEY, "slots", signals.get("slots"))
        ),
        THRESHOLD if threshold is None else fields.in_range(_KEY, "confidence_threshold", threshold, 0, 1) or THRESHOLD,
        exceptions,
    )
    if sum(pattern.size for pattern in triggers.every) > SIZE_TOGETHER:
        fields.add_error(_KEY, "the patterns are too large together: use fewer, or smaller repeats")
    return triggers


def _keywords(fields: HeaderFields, value: Value) -> tuple[str, ...]:
    """The keywords in lower case and normalized, each once."""
    return tuple(dict.fromkeys(normalize(word.lower()) for word in fields.texts(_KEY, value, "keywords")))


def _intents(fields: HeaderFields, value: Value) -> tuple[Intent, ...]:
    """One intent for each pattern, and one for all the patterns in a list below `all`."""
    items = value if is_list(value) else () if value is None else (value,)
    found: list[Intent] = []
    for item in items:
        if isinstance(item, Mapping) and set(item) == {_ALL}:
            parts = _patterns(fields, f"{_INTENTS}: {_ALL}", item[_ALL])
            found += [Intent(parts)] if parts else []
            if not parts:
                fields.add_error(_KEY, f"{_INTENTS}: {_ALL} must hold patterns")
        else:
            found += [Intent((part,)) for part in _patterns(fields, _INTENTS, (item,))]
        if len(items) > MOST or sum(len(intent.parts) for intent in found) > MOST:
            fields.add_error(_KEY, f"{_INTENTS} has more than {MOST} patterns; at most {MOST} are allowed")
            return ()
    return tuple(found)


def _patterns(fields: HeaderFields, name: str, value: Value) -> tuple[TaskPattern, ...]:
    texts = fields.texts(_KEY, value, name)
    if len(texts) > MOST:
        fields.add_error(_KEY, f"{name} has {len(texts)} items; at most {MOST} are allowed")
        return ()
    if value is not None and not is_list(value) and not isinstance(value, str):
        fields.add_error(_KEY, f"{name} must be a list of patterns")
        return ()
    found = []
    for text in texts:
        try:
            found.append(compile_pattern(text))
        except BadPattern as error:
            fields.add_error(_KEY, str(error), text)
    return tuple(found)
