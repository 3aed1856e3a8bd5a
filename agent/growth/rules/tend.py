"""All the work on the rules of a vault, in its order: what the person did and answered, what the uses say, and what the
reflections say that is new. Each part is a commit or nothing, and may safely be done again."""

from agent.asking.answers import settle_proposals
from agent.growth.rules.answers import take_answers
from agent.growth.rules.book import load_book
from agent.growth.rules.by_hand import rows_by_hand
from agent.growth.rules.contradictions import take_contradictions
from agent.growth.rules.feedback import gather_opinions
from agent.growth.rules.judging import judge_rules
from agent.growth.rules.learning import learn_rules, rule_strategies, start_urgent_rules
from agent.growth.rules.method_proposals import propose_methods
from agent.growth.rules.rule_log import RuleRow
from agent.growth.rules.rule_work import RuleChanges, RuleWork
from agent.growth.rules.twins import merge_twins


def tend_rules(work: RuleWork) -> tuple[RuleRow, ...]:
    """Do all of the work; returns the new rows of the log. Nothing is done while changes wait for the repository."""
    if work.vault.queued:
        return ()
    rows = [*follow_rules(work)]
    said = rule_strategies(work)
    if not said:
        return tuple(rows)
    book = load_book(work.vault)
    if start_urgent_rules(work, book, said):
        book = load_book(work.vault)
    rows += learn_rules(work, book, said).rows
    return tuple(rows)


def follow_rules(work: RuleWork) -> tuple[RuleRow, ...]:
    """The part that needs no reflection and no model: what the person did, ticked and answered, and what the uses
    say."""
    gather_opinions(work)
    settle_proposals(work.vault)
    rows = [*take_answers(work).rows, *take_contradictions(work).rows]
    changes = RuleChanges([*rows_by_hand(work.vault, load_book(work.vault), work.now, work.language)])
    if changes.rows:
        changes.write(work, "rules(log): what you did by hand")
    rows += changes.rows
    rows += merge_twins(work, load_book(work.vault)).rows
    rows += propose_methods(work).rows
    return (*rows, *judge_rules(work, load_book(work.vault)).rows)
