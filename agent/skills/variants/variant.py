"""The values of a variant: what it changes, how its trial is judged, and where it stands. Pure."""

import re
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

VariantKind: TypeAlias = Literal["parameter", "order", "step", "strategy"]
"""The change that a variant makes: of a number, the order of the steps, one step, or anything else."""
VariantStatus: TypeAlias = Literal["trial", "kept", "settled", "discarded", "inconclusive", "stopped", "rolled_back"]
"""`trial`: every second use takes it. `kept`: it is the skill now, and is watched; `settled`: the watch is over.
`discarded`: it was worse. `inconclusive`: the trial ended undecided. `stopped`: by the person, or because the
skill has changed. `rolled_back`: it was kept, and the skill became worse."""
Arm: TypeAlias = Literal["original", "variant", "kept"]
"""The version in a use: the skill as it is, its variant on trial, or the variant that has become the skill."""
OPEN: frozenset[VariantStatus] = frozenset(("trial", "kept"))
"""The statuses in which uses are counted."""
TRIAL_USES = 10
"""The uses of the skill, and of its variant, after which a trial ends; a kept variant is watched for as many."""
EARLY_USES = 5
"""The uses of each from which a variant that is worse is dropped before the end."""
_LABEL = re.compile(r"(\d{1,6}) (original|variant|kept)")
_ARMS: dict[str, Arm] = {"original": "original", "variant": "variant", "kept": "kept"}


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """How a variant is judged: the `gain` in the success rate for which it is kept, and the loss above `tolerance` for
    which its trial ends early."""

    gain: float
    tolerance: float


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of the skill named `skill`, the `number`th that is tried of it.

    `body` are the instructions that take the place of the skill's; its header stays. The words are those of whoever
    proposed it: what `change` it makes, the `reason`, the `risk`, the `verification`. `why` is the reason for the
    present status.
    """

    skill: str
    number: int
    kind: VariantKind
    body: str
    plan: TrialPlan
    change: str
    reason: str
    risk: str
    verification: str
    status: VariantStatus = "trial"
    started: datetime | None = None
    ended: datetime | None = None
    why: str = ""
    path: str = ""
    body_line: int = 1

    @property
    def digest(self) -> str:
        """The mark of its instructions."""
        return body_digest(self.body)

    @property
    def is_experimental(self) -> bool:
        """True if it does something else than the skill did, not only the same in another measure."""
        return self.kind != "parameter"


def body_digest(body: str) -> str:
    """The mark of instructions: the first 16 hexadecimal digits of the SHA-256 of their text."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trial_label(number: int, arm: Arm) -> str:
    """The words in the row of a use, in the skill's history, for the trial that it belongs to."""
    return f"{number} {arm}"


def parse_label(label: str) -> tuple[int, Arm] | None:
    """The number of the trial and the arm; None for a use outside of a trial."""
    found = _LABEL.fullmatch(label)
    return (int(found[1]), _ARMS[found[2]]) if found else None


def next_arm(uses: int) -> Arm:
    """The version for a use after so many uses of a trial: the odd ones take the skill, the even ones the variant."""
    return "original" if uses % 2 == 0 else "variant"
