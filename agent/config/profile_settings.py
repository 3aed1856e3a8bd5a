"""The settings of the profile, the notes about the person. Part of `settings.Settings`."""

from typing import Literal

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """What the agent may write about its person by itself."""

    sensitive: Literal["ask", "yes", "no"]
    """Whether the agent may note what the person says of their health, of other people and of where they belong.
    Default `ask`: it asks once, in a note in `questions/`, and writes nothing of it before the answer."""
