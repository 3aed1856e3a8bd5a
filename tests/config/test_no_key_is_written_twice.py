"""A key that stands twice in a file of ours silently loses what the first one has."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / "configs").rglob("*.yaml"), *(ROOT / "agent/texts").glob("*.yaml")]


def twice(node: yaml.Node) -> Iterator[str]:
    """The keys that stand twice in one mapping."""
    if isinstance(node, yaml.MappingNode):
        yield from (key for key, count in Counter(str(key.value) for key, _ in node.value).items() if count > 1)
        for _, value in node.value:
            yield from twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from twice(each)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_key_is_written_twice(path: Path) -> None:
    node = yaml.compose(path.read_text("utf-8"), yaml.CSafeLoader)

    assert node is not None and [*twice(node)] == []
