"""The settings of what the agent does to itself and learns by itself. Part of `settings.Settings`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """The one switch of all growth."""

    enabled: bool
    """Whether the agent reflects on its runs, proposes rules for itself, tries changes of its own skills, learns its
    person's preferences and asks by itself. What it has learned already stays in use. Default true: each of these ends
    in a note that can be read, refused and undone, and costs a model's time only within `spend`."""
