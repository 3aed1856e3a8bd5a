"""Loads the rules of a vault from its notes."""

from pathlib import Path, PurePosixPath

from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.rule_note import parse_rule
from agent.vault.folders import FOUND_METHODS, RULE_HISTORY, RULE_LOG, RULES, is_hidden, is_template
from agent.vault.store import Vault


def rule_paths(vault: Vault) -> tuple[str, ...]:
    """The paths of the notes that are there and may hold a rule, sorted."""
    home, folder = vault.home, vault.home.at(RULES)
    place = Path(vault.place.root, folder)
    found = (folder + file.relative_to(place).as_posix() for file in place.rglob("*.md")) if place.is_dir() else ()
    kept = (
        path for path in found if not (home.holds(path, RULE_HISTORY, RULE_LOG, FOUND_METHODS) or is_template(path))
    )
    return tuple(sorted(path for path in kept if not is_hidden(PurePosixPath(path).as_posix())))


def load_rule(vault: Vault, path: str) -> LearnedRule | None:
    """The rule at a path as far as it is the person's and the program's own: text that arrived, and that the person has
    not looked at yet, does not count. None without one."""
    data = vault.own_version(path)
    return parse_rule(path, data) if data is not None else None


def load_rules(vault: Vault) -> tuple[LearnedRule, ...]:
    """All rules, by path."""
    found = (load_rule(vault, path) for path in rule_paths(vault))
    return tuple(rule for rule in found if rule is not None)
