"""The tasks of a note: list items with a checkbox, in lists, quotes and callouts.

Every character in the box is a separate state, as in Obsidian's themes; callers give the states a meaning.
"""

import re

from agent.dataclass import dataclass
from agent.markdown.blocks import Body

_TASK = re.compile(
    r"^((?:[ ]{0,3}>[ ]?)*)[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[([^\n\r\0])\](?=[ \t\r\n]|\Z)([^\n]*)",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)$")


@dataclass(frozen=True, slots=True)
class TaskBox:
    """A checkbox. `state` is the character in it; `line` counts from 1 in the file.

    `quoted`: it is in a quote or a callout.
    """

    state: str
    text: str
    line: int
    block: str = ""
    quoted: bool = False

    @property
    def done(self) -> bool:
        return self.state in "xX"

    @property
    def is_open(self) -> bool:
        """True for one that is still to be done: to do, in progress or important. Any other state, such as cancelled,
        moved or a mere mark of a theme, is not."""
        return self.state in " /!"


def find_tasks(body: Body) -> tuple[TaskBox, ...]:
    """The tasks in the order of their lines; `text` does not include the block id, which is in `block`."""
    if "]" not in body.visible:
        return ()
    return tuple(_task(body, found) for found in _TASK.finditer(body.visible))


def _task(body: Body, found: re.Match[str]) -> TaskBox:
    text = body.text[found.start(3) : found.end(3)].strip()
    block = _BLOCK_ID.search(text[-200:])
    name = ""
    if block:
        name = block[1]
        text = text[: len(text) - len(name) - 1].rstrip()
    return TaskBox(found[2], text, body.line_at(found.start()), name, ">" in found[1])
