"""Counts what browsers report against the content policy: each report is a script or style that is not ours."""

import logging

from agent.dataclass import dataclass
from agent.escape import escape_line

_LONGEST = 500
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PolicyReports:
    """The reports since the start: how many, and the last one."""

    count: int = 0
    last: str = ""

    def add(self, body: bytes) -> None:
        """Take a report in; the first ones are logged."""
        self.count += 1
        self.last = escape_line(body.decode("utf-8", "replace"))[:_LONGEST]
        if self.count <= 10:
            logger.warning("a page met something that its content policy forbids: %s", self.last)
