"""Two notes with the same rule, which two machines have let in at once: one of them stays, with what both rest on.

Only notes that the agent wrote and nobody has changed. Which one stays follows from their names, so that two machines
come to the same.
"""

from dataclasses import replace

from agent.growth.rules.book import RuleBook
from agent.growth.rules.rule import IN_FORCE, LearnedRule
from agent.growth.rules.rule_log import By, log_row
from agent.growth.rules.rule_note import parse_rule, with_evidence_of, with_status
from agent.growth.rules.rule_work import RuleChanges, RuleWork
from agent.texts import text
from agent.vault.change import Delete


def merge_twins(work: RuleWork, book: RuleBook) -> RuleChanges:
    """Make one note of those with the same rule, in one commit; returns what was written."""
    changes = RuleChanges()
    by_words: dict[str, list[LearnedRule]] = {}
    for rule in book.rules:
        if rule.status in IN_FORCE and not rule.is_persons and work.vault.read(rule.path) == rule.data:
            by_words.setdefault(rule.words, []).append(rule)
    for same in by_words.values():
        kept, *others = sorted(same, key=lambda rule: (len(rule.path), rule.path))
        for twin in others:
            last = book.log.last_status(twin.path)
            _merge(work, kept, twin, last.by if last is not None else "agent", changes)
            kept = parse_rule(kept.path, changes.edits.get(kept.path, (kept.data, kept.data))[1]) or kept
    if changes.rows:
        changes.write(work, f"rules(merged): {changes.rows[0].path.rpartition('/')[2].removesuffix('.md')}")
    return changes


def _merge(work: RuleWork, kept: LearnedRule, twin: LearnedRule, by: By, changes: RuleChanges) -> None:
    """Take over the evidence of a twin, and its status if it has got further, with who (`by`) gave it that; its uses
    are those of the same words."""
    after = with_evidence_of(kept, twin, work.language)
    if twin.status == "active":
        after = with_status(replace(kept, data=after), "active")
    changes.edit(kept.path, kept.data, after)
    changes.more.append(Delete(twin.path, twin.data))
    why = text("rules.merged", work.language, link=kept.link)
    changes.rows.append(log_row(twin, work.now, "merged", "agent", why))
    if twin.status != kept.status and twin.status == "active":
        changes.rows.append(log_row(kept, work.now, "active", by, why))
