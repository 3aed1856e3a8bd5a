"""What contradicts a rule: reported in the rule's own note, and asked about where it matters.

Three reflections that say the opposite are evidence against a rule, and stand in its note with how it did so far. Of a
rule on probation its uses decide, as always. One that is active, or the person's, or whose opposite may do harm if
nobody follows it, is a matter for them: a question in `questions/` with both sentences. Their answer is the yes to one
of them; it counts only with the record of the question on this machine, and for the words that the rule had then.
"""

from datetime import UTC, datetime, timedelta

from agent.asking.questions.law import ASKS, asking_body, may_ask_one
from agent.asking.questions.notes import AskedQuestion, QuestionDraft, asked_questions, close_question, format_question
from agent.dataclass import dataclass
from agent.growth.rules.candidates import RuleCandidate
from agent.growth.rules.known import KnownRules
from agent.growth.rules.rule import LearnedRule, rule_sentence
from agent.growth.rules.rule_log import RuleRow, log_row, logged_words
from agent.growth.rules.rule_note import RuleEvidence, load_rule, with_opposite, with_status, with_words
from agent.growth.rules.rule_work import TOOL, RuleChanges, RuleWork
from agent.markdown.inertness.active import inert_line
from agent.memory.entry import slug
from agent.texts import text
from agent.vault.change import Create, Stamp
from agent.vault.durable import RecordFolder
from agent.vault.folders import QUESTIONS
from agent.vault.store import Vault

PATIENCE = timedelta(days=14)
"""How long the question waits; then the rule stays, and its uses decide."""
_RULE = "rule"
"""The key of the question's header with a link to the rule."""
_KEEP, _TAKE, _NEITHER = range(3)


@dataclass(frozen=True, slots=True)
class AskedContradiction:
    """One question: the note `path` with the id `id` asks about the rule at `rule`, which had these `words` then. The
    opposite is `text` in the case `when`; `days`, `links` and `said` are the reflections that say it."""

    id: str
    path: str
    rule: str
    words: str
    text: str
    when: str
    days: tuple[str, ...]
    links: tuple[str, ...]
    said: tuple[str, ...]
    expires: datetime

    @property
    def evidence(self) -> tuple[RuleEvidence, ...]:
        """The reflections that say the opposite."""
        return tuple(RuleEvidence(*each) for each in zip(self.days, self.links, self.said, strict=True))

    @property
    def sentence(self) -> str:
        """The opposite in one line."""
        return rule_sentence(self.text, self.when)


def asked_contradictions(vault: Vault) -> RecordFolder[AskedContradiction]:
    """The questions about contradictions that wait on this machine."""
    return RecordFolder(vault.private_folder / "rule-questions", _parsed)


def report_contradiction(
    work: RuleWork, known: KnownRules, rule: LearnedRule, candidate: RuleCandidate
) -> RuleRow | None:
    """Report once, in one commit, that reflections say the opposite of a rule, with the question if it matters; returns
    the row of the log. None if it is reported already, or has to wait: for a look at what has arrived, or until fewer
    questions are open."""
    words, matters = logged_words(candidate.sentence), _matters(known, rule, candidate)
    told = [row.at for row in known.book.log.of(rule.path, "contradicted") if row.words == words]
    is_known = any(at >= _matters_since(known, rule) for at in told) if matters else bool(told)
    if is_known or work.vault.read(rule.path) != rule.data:
        return None
    if matters and not may_ask_one(asked_questions(work.vault)):
        return None
    uses = known.book.counted(rule)
    so_far = (len(uses), sum(use.is_success for use in uses))
    why = ", ".join(dict.fromkeys(each.link for each in candidate.evidence))
    row = RuleRow(work.now, rule.path, words, "contradicted", "agent", why)
    changes = RuleChanges([row])
    after = with_opposite(rule, candidate.sentence, candidate.evidence, so_far, work.now, work.language)
    changes.edit(rule.path, rule.data, after)
    if not matters:
        changes.write(work, f"rules(contradicted): {rule.name}")
        return row
    draft = _draft(work, rule, candidate, so_far)
    id = work.vault.clock.new_id()
    name = f"{QUESTIONS}{work.now:%Y-%m-%d}-{slug(rule.text) or 'rule'}-{id[-6:].lower()}.md"
    path = work.vault.home.at(name)
    rows = [(each.day, each.link, each.words) for each in candidate.evidence]
    days, links, said = (tuple(column) for column in zip(*rows, strict=True))
    record = AskedContradiction(id, path, rule.path, rule.words, inert_line(candidate.strategy.text),
                                inert_line(candidate.strategy.when), days, links, said, draft.expires)  # fmt: skip
    asked_contradictions(work.vault).put(id, record)  # before the note, which decides nothing without it
    changes.more.append(Create(path, format_question(draft, id, work.now, work.language)))
    body = asking_body(draft.question, draft.why)
    changes.write(work, f"{ASKS}{draft.question}", Stamp(work.actor, tool=TOOL), body)
    return row


def take_contradictions(work: RuleWork) -> RuleChanges:
    """Carry out what the person has answered, each in one commit; returns all of it."""
    every, records = RuleChanges(), asked_contradictions(work.vault)
    for record in tuple(records.all()):
        found = (each for each in asked_questions(work.vault, record.id.encode()) if each.note.id == record.id)
        asked = next(found, None)
        if asked is None or not asked.answer:
            if work.now >= record.expires:
                records.drop(record.id)
            continue
        changes = _answered(work, record, asked)
        changes.write(work, f"rules(answers): {record.sentence}")
        every.rows += changes.rows
        records.drop(record.id)
    return every


def _matters(known: KnownRules, rule: LearnedRule, candidate: RuleCandidate) -> bool:
    """True if the person decides: the rule is active or theirs, or a reflection calls the opposite grave."""
    is_grave = any(each.strategy.severity == "high" for each in candidate.said)
    return rule.status == "active" or known.book.is_settled_by_person(rule) or is_grave


def _matters_since(known: KnownRules, rule: LearnedRule) -> datetime:
    """The time since which a contradiction of a rule matters because the rule is active: what was only reported before
    is asked about then."""
    last = known.book.log.last_status(rule.path)
    return last.at if last is not None and last.event == "active" else datetime.min.replace(tzinfo=UTC)


def _draft(work: RuleWork, rule: LearnedRule, candidate: RuleCandidate, so_far: tuple[int, int]) -> QuestionDraft:
    language, old, new = work.language, inert_line(rule.sentence), inert_line(candidate.sentence)
    uses, successes = so_far
    rows = "\n".join(f"- {each.day} {each.link}: {inert_line(each.words)}" for each in candidate.evidence)
    return QuestionDraft(
        text("rules.ask_contradiction", language, rule=old),
        work.now + PATIENCE,
        text("rules.why_contradiction", language, count=len(candidate.said), rule=new),
        text("rules.contradiction_fallback", language),
        tuple(text(f"rules.contradiction_{key}", language, old=old, new=new) for key in ("keep", "take", "neither")),
        (
            text("rules.contradiction_so_far", language, link=rule.link, uses=uses, successes=successes),
            rows,
        ),
        more={_RULE: rule.link},
    )


def _answered(work: RuleWork, record: AskedContradiction, asked: AskedQuestion) -> RuleChanges:
    """What follows from an answer: the words of the rule, its status or nothing, and the end of the question."""
    changes, rule = RuleChanges(), load_rule(work.vault, record.rule)
    why = f"[[{record.path.removesuffix('.md')}]]"
    refused = RuleRow(work.now, "", logged_words(record.sentence), "refused", "person", why)
    ticked = asked.ticked
    if rule is None or rule.words != record.words or work.vault.read(rule.path) != rule.data:
        result = "outdated"
    elif len(ticked) != 1 or len(asked.options) != _NEITHER + 1:
        result = "unclear"
    elif ticked[0] == _KEEP:
        result = "kept"
        changes.rows.append(refused)
    elif ticked[0] == _TAKE:
        result = "taken"
        after = with_words(rule, record.text, record.when, record.evidence, work.now, work.language)
        changes.edit(rule.path, rule.data, after)
        changes.rows.append(RuleRow(work.now, rule.path, logged_words(record.sentence), "changed", "person", why))
    else:
        result = "dropped"
        changes.edit(rule.path, rule.data, with_status(rule, "deprecated"))
        changes.rows += [log_row(rule, work.now, "deprecated", "person", why), refused]
    said = text(f"rules.contradiction_{result}", work.language, at=work.now)
    if asked.is_open and (closed := close_question(work.vault, asked, "answered", said)) is not None:
        changes.more.append(closed)
    return changes


def _parsed(row: dict[str, object]) -> AskedContradiction:
    id, path, rule, words, said, when = (str(row[key]) for key in ("id", "path", "rule", "words", "text", "when"))
    columns = [row[key] for key in ("days", "links", "said")]
    if not all(isinstance(each, list) for each in columns):
        raise TypeError(row)
    days, links, quoted = (tuple(map(str, each)) for each in columns if isinstance(each, list))
    return AskedContradiction(
        id, path, rule, words, said, when, days, links, quoted, datetime.fromisoformat(str(row["expires"]))
    )
