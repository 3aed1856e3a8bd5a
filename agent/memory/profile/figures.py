"""How far a profile is filled, in one value: for the command line, `status`, and the agent's own planning."""

from agent.dataclass import dataclass
from agent.memory.profile.load import load_profile, missing
from agent.memory.profile.questions import open_questions
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ProfileFigures:
    """The notes and fields of a profile, how many of them are filled, and the lines beside the fields. `missing` are
    those of the seventeen notes that are not there, `open_questions` the notes that ask the person about it."""

    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int
    missing: tuple[str, ...]
    open_questions: tuple[str, ...]


def profile_figures(vault: Vault) -> ProfileFigures:
    """The figures of a vault's profile."""
    files = load_profile(vault)
    fields = [field for each in files for field in each.fields]
    return ProfileFigures(
        len(files),
        sum(each.filled > 0 for each in files),
        len(fields),
        sum(bool(field.value) for field in fields),
        sum(len(each.statements) for each in files),
        missing(files),
        open_questions(vault),
    )
