"""Parser of a skill's key `chain`, step by step. Checking the steps against each other is left to `chain`."""

from typing import cast, get_args

from agent.markdown.values import Value, is_list
from agent.skills.reading.header import HeaderFields
from agent.skills.reading.skill import ChainStep, OnFailure

MOST = 20
_KEY = "chain"
_KNOWN = ("skill", "input_from", "output_as", "params", "check", "on_failure")


def parse_steps(fields: HeaderFields) -> tuple[ChainStep, ...]:
    """The steps in order; empty without a chain. Errors are added to `fields`."""
    value = fields.value(_KEY)
    if value is None:
        return ()
    if not is_list(value):
        fields.add_remark(_KEY, "chain is not a list of steps, so it is left unread")
        return ()
    if not 1 <= len(value) <= MOST:
        fields.add_error(_KEY, f"chain must have between 1 and {MOST} steps")
        return ()
    return tuple(step for number, item in enumerate(value, 1) if (step := _step(fields, number, item)) is not None)


def _step(fields: HeaderFields, number: int, value: Value) -> ChainStep | None:
    name = f"step {number} of the chain"
    if isinstance(value, str):
        value = {"skill": value}
    found = dict(fields.pairs(_KEY, name, value))
    unknown = [key for key in found if key not in _KNOWN]
    if unknown:
        fields.add_error(
            _KEY, f"{name} has the unknown key {ascii(unknown[0])[1:-1]}; known: {', '.join(_KNOWN)}", unknown[0]
        )
    skill = _text(fields, name, "skill", found.get("skill"))
    if not skill:
        fields.add_error(_KEY, f"{name} names no skill")
        return None
    wish = _text(fields, name, "on_failure", found.get("on_failure")) or "stop"
    if wish not in get_args(OnFailure):
        fields.add_error(_KEY, f"on_failure of {name} must be one of {', '.join(get_args(OnFailure))}", wish)
    return ChainStep(
        skill,
        fields.texts(_KEY, found.get("input_from"), f"input_from of {name}"),
        _text(fields, name, "output_as", found.get("output_as")),
        tuple(
            (key, ", ".join(fields.texts(_KEY, item, f"params.{key} of {name}")))
            for key, item in fields.pairs(_KEY, f"params of {name}", found.get("params"))
        ),
        _text(fields, name, "check", found.get("check")),
        cast(OnFailure, wish),
    )


def _text(fields: HeaderFields, step: str, key: str, value: Value) -> str:
    texts = fields.texts(_KEY, value, f"{key} of {step}")
    if len(texts) > 1:
        fields.add_error(_KEY, f"{key} of {step} must be one text")
    return texts[0] if texts else ""
