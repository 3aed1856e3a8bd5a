"""Ends the trials of skills that are decided, and begins those that the person has approved."""

from importlib import import_module

from agent.asking.proposals import answered_proposals
from agent.runs.skill_set import SkillSet
from agent.skills.variants.trial_records import open_trials


def settle_trials(skills: SkillSet) -> None:
    """Settle the trials of one vault; loads what that needs only if there is one. Raises what a transaction raises."""
    vault = skills.workspace.vault
    if any(open_trials(vault)) or any(answered_proposals(vault, "mutation")):
        import_module("agent.growth.mutations.mutations").Mutations(skills).settle()
