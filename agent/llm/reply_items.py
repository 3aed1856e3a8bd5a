"""The objects of a JSON list in a model's answer, which may have words around it."""

from collections.abc import Iterator, Mapping

from agent.json_value import parse_json


def reply_items(reply: str) -> Iterator[Mapping[str, str]]:
    """The objects of the JSON array in a reply, a list in them as lines; raises `ValueError` if there is none."""
    begin, end = reply.find("["), reply.rfind("]")
    if begin < 0 or end < begin:
        raise ValueError("no JSON array in the answer")
    for item in parse_json(reply[begin : end + 1]):
        if isinstance(item, dict):
            yield {str(key): _text(value) for key, value in item.items()}


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
