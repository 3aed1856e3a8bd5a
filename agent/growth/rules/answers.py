"""What the person has answered about rules that were proposed, taken into the log and the rules' notes.

A yes has written the proposed note already (`asking.answers`); here follows what it means for the rule.
"""

from agent.asking.answers import answered_proposals, mark_taken
from agent.asking.proposal import Proposal
from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.rule_log import RuleEvent, RuleRow, log_row
from agent.growth.rules.rule_note import load_rule, with_status
from agent.growth.rules.rule_work import RuleChanges, RuleWork
from agent.texts import text

_AFTER_YES: dict[str, RuleEvent] = {
    "new": "probation", "change": "changed", "again": "probation", "end": "deprecated", "urgent": "probation",
    "method": "probation",
}  # fmt: skip


def take_answers(work: RuleWork) -> RuleChanges:
    """Take in the answers that nothing has followed from yet, in one commit; returns what was written."""
    changes, answered = RuleChanges(), answered_proposals(work.vault, "rule")
    for proposal in answered:
        _take(work, proposal, changes)
    changes.write(work, "rules(answers): what you have decided")
    for proposal in answered:
        mark_taken(work.vault, proposal)
    return changes


def _take(work: RuleWork, proposal: Proposal, changes: RuleChanges) -> None:
    asks, path = proposal.facts.get("asks", ""), proposal.facts.get("rule", "")
    why = f"[[{proposal.path.removesuffix('.md')}]]"
    why = f"{proposal.reason} {why}" if proposal.reason and proposal.status == "rejected" else why
    if asks == "skill" and proposal.status == "approved":
        changes.rows.append(RuleRow(work.now, path, proposal.facts.get("words", ""), "supported", "person", why))
        work.trust_skill(path)
        return
    rule = load_rule(work.vault, path)
    match proposal.status:
        case "approved" if rule is not None and asks in _AFTER_YES:
            changes.rows.append(log_row(rule, work.now, _AFTER_YES[asks], "person", why))
        case "rejected" if asks == "end" and rule is not None:
            changes.rows.append(
                log_row(rule, work.now, "active", "person", f"{text('rules.kept', work.language)} {why}")
            )
        case "rejected" if asks == "urgent" and rule is not None:
            _refuse(work, rule, why, changes)
        case "rejected" if asks != "end":
            changes.rows.append(RuleRow(work.now, "", proposal.facts.get("words", ""), "refused", "person", why))


def _refuse(work: RuleWork, rule: LearnedRule, why: str, changes: RuleChanges) -> None:
    """Set a rule aside that took effect at once, and that the person does not want."""
    data = work.vault.read(rule.path)
    if data is not None and data == rule.data:
        changes.edit(rule.path, data, with_status(rule, "deprecated"))
    changes.rows.append(log_row(rule, work.now, "deprecated", "person", why))
    changes.rows.append(RuleRow(work.now, "", rule.sentence, "refused", "person", why))
