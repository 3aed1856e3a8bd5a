"""What the person decides about a rule by a command: set it aside, or bring it back."""

from agent.errors import UserError
from agent.growth.rules.rule import IN_FORCE, LearnedRule, RuleStatus
from agent.growth.rules.rule_log import log_row
from agent.growth.rules.rule_note import load_rule, with_status
from agent.growth.rules.rule_work import RuleChanges, RuleWork
from agent.texts import text
from agent.vault.change import Stamp


def deprecate_rule(work: RuleWork, rule: LearnedRule, why: str = "") -> LearnedRule:
    """Set a rule aside in the person's name, in one commit; raises `UserError` if it is set aside already."""
    if rule.status not in IN_FORCE:
        raise UserError("{rule} is set aside already", rule=rule.name)
    return _decide(work, rule, "deprecated", why)


def restore_rule(work: RuleWork, rule: LearnedRule, why: str = "") -> LearnedRule:
    """Make a rule active in the person's name, in one commit: one that was set aside, or one on probation. It is not
    set aside again without asking. Raises `UserError` if it is active already."""
    if rule.status == "active":
        raise UserError("{rule} is active already", rule=rule.name)
    return _decide(work, rule, "active", why)


def _decide(work: RuleWork, rule: LearnedRule, status: RuleStatus, why: str) -> LearnedRule:
    data = work.vault.read(rule.path)
    if data != rule.data:
        raise UserError(
            "{path} has text that arrived from elsewhere", hint="look at it first: vault-agent trust", path=rule.path
        )
    changes, said = RuleChanges(), work.vault.masked(" ".join(why.split()))
    changes.edit(rule.path, rule.data, with_status(rule, status))
    changes.rows.append(log_row(rule, work.now, status, "person", said or text("rules.by_command", work.language)))
    changes.write(work, f"rules({status}): {rule.name}", Stamp("human"))
    return load_rule(work.vault, rule.path) or rule
