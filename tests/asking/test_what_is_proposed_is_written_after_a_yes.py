"""What the agent proposes is written after one yes, exactly as it was shown, and never otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.asking.answers import (
    answered_proposals,
    mark_taken,
    pending_proposals,
    propose,
    refused_facts,
    settle_proposals,
)
from agent.asking.proposal import Proposal, ProposalDraft, ProposalStatus, ProposedNote
from agent.asking.records import records_of
from agent.errors import SecretFound, UserError
from agent.markdown.checkbox_decision import APPROVE, REJECT
from agent.texts import Language
from agent.vault.history.find import commits
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.remotes import shared_with_mallory
from tests.stories.agents import ticked
from tests.vaults import git, make_vault, write

TEXT = "---\ntype: rule\n---\n# Tables\n\n```\nCompare in a table.\n```\n"
DRAFT = ProposalDraft(
    "rule",
    "Compare in a table",
    "May I try this rule: compare in a table?",
    "Three runs suggest it.",
    (ProposedNote("rules/tables.md", TEXT),),
    (("Where it comes from", "- [[reflections/one]]"),),
    ("[[reflections/one]]",),
    {"strategy": "Compare in a table."},
    "job:review",
)
OLD = "# Tea\n\nGreen.\n"
CHANGE = replace(DRAFT, notes=(ProposedNote("tea.md", OLD.replace("Green", "Black"), OLD),))


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {"tea.md": OLD}, clock=FakeClock())


def note_of(vault: Vault, proposal: Proposal) -> str:
    return (vault.read(proposal.path) or b"").decode()


def tick(vault: Vault, proposal: Proposal, box: str = APPROVE) -> None:
    """Tick a box as a person does in their editor."""
    write(vault.place.root / proposal.path, ticked(note_of(vault, proposal), box))


def decided(vault: Vault) -> list[ProposalStatus]:
    return [each.status for each in settle_proposals(vault)]


@pytest.mark.parametrize(
    ("language", "boxes"), [("en", "- [ ] approve\n- [ ] reject"), ("zh", "- [ ] 批准\n- [ ] 拒绝")]
)
def test_the_note_says_what_is_asked_and_shows_all_that_would_be_written(
    vault: Vault, language: Language, boxes: str
) -> None:
    proposal = propose(vault, DRAFT, language)
    said = note_of(vault, proposal)
    assert proposal.path == "approvals/2026-11-21-rule-compare-in-a-table.md"
    assert "# May I try this rule" in said and boxes in said
    assert f"````markdown\n{TEXT.rstrip()}\n````" in said and "strategy: Compare in a table." in said
    assert pending_proposals(vault) == (proposal,) and pending_proposals(vault, "mutation") == ()
    assert commits(vault, limit=1)[0].actor == "job:review"


def test_a_change_is_shown_as_a_difference_too(vault: Vault) -> None:
    said = note_of(vault, propose(vault, CHANGE, "en"))
    assert "-Green.\n+Black." in said and "```markdown\n# Tea\n\nBlack.\n```" in said
    assert "in force" not in said


def test_a_tick_writes_it_in_one_commit_of_who_proposed_it(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    assert decided(vault) == []
    tick(vault, proposal)
    assert pending_proposals(vault) == ()
    assert decided(vault) == ["approved"]
    assert vault.read("rules/tables.md") == TEXT.encode()
    assert "status: approved" in note_of(vault, proposal)
    commit = commits(vault, limit=1)[0]
    assert {each.path for each in commit.files} == {"rules/tables.md", proposal.path} and commit.actor == "job:review"
    assert decided(vault) == []


def test_a_no_writes_nothing_and_is_remembered(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    tick(vault, proposal, REJECT)
    assert decided(vault) == ["rejected"]
    assert vault.read("rules/tables.md") is None
    assert {each["strategy"] for each in refused_facts(vault, "rule")} == {"Compare in a table."}
    records_of(vault, "rule").drop(proposal.id)  # another clone has the note only
    assert {each["strategy"] for each in refused_facts(vault, "rule")} == {"Compare in a table."}


def test_a_deleted_note_is_a_no(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    Path(vault.place.root, proposal.path).unlink()
    assert decided(vault) == ["rejected"]
    assert len(list(refused_facts(vault, "rule"))) == 1


def test_a_changed_text_is_not_written(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    changed = note_of(vault, proposal).replace("Compare in a table.\n```", "Delete all.\n```")
    write(vault.place.root / proposal.path, ticked(changed, APPROVE))
    assert decided(vault) == ["outdated"]
    assert vault.read("rules/tables.md") is None


def test_a_note_that_the_person_changed_meanwhile_stays_and_is_not_asked_about_any_more(vault: Vault) -> None:
    proposal = propose(vault, CHANGE, "en")
    write(vault.place.root / "tea.md", OLD + "\nMine.\n")
    assert decided(vault) == ["outdated"]
    assert vault.read("tea.md") == (OLD + "\nMine.\n").encode() and "status: outdated" in note_of(vault, proposal)


def test_a_change_is_written_over_what_it_was_made_from(vault: Vault) -> None:
    tick(vault, propose(vault, CHANGE, "en"))
    assert decided(vault) == ["approved"]
    assert vault.read("tea.md") == b"# Tea\n\nBlack.\n"


def test_what_is_not_as_it_was_is_not_proposed(vault: Vault) -> None:
    write(vault.place.root / "tea.md", "else\n")
    with pytest.raises(UserError, match="tea.md has just changed"):
        propose(vault, CHANGE, "en")
    assert list(records_of(vault, "rule").all()) == []


def test_a_secret_is_not_proposed(vault: Vault) -> None:
    secret = replace(DRAFT, notes=(ProposedNote("rules/x.md", "ghp_" + "a1B2" * 9 + "\n"),))
    with pytest.raises(SecretFound):
        propose(vault, secret, "en")
    assert list(records_of(vault, "rule").all()) == [] and vault.note_paths("approvals/") == []


def test_a_crash_between_the_commit_and_the_record_is_an_answer_all_the_same(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    tick(vault, proposal)
    settle_proposals(vault)
    records_of(vault, "rule").put(proposal.id, proposal)  # as it was before the last step
    assert decided(vault) == ["approved"]


def test_a_crash_before_the_note_leaves_no_question(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    records_of(vault, "rule").put(proposal.id, replace(proposal, status="asking"))
    assert [each.id for each in pending_proposals(vault)] == [proposal.id]
    git(vault.place.root, "rm", "-q", proposal.path)
    assert pending_proposals(vault) == () and decided(vault) == []


def test_an_answer_is_taken_once_by_its_kind(vault: Vault) -> None:
    tick(vault, propose(vault, DRAFT, "en"))
    settle_proposals(vault)
    (answered,) = answered_proposals(vault, "rule")
    assert answered.status == "approved" and answered.notes[0].path == "rules/tables.md"
    assert answered_proposals(vault, "mutation") == ()
    mark_taken(vault, answered)
    assert answered_proposals(vault, "rule") == ()


def test_a_yes_to_nothing_that_is_written_is_an_answer(vault: Vault) -> None:
    tick(vault, propose(vault, replace(DRAFT, notes=()), "en"))
    assert decided(vault) == ["approved"]


def test_a_tick_that_arrived_decides_nothing(vault: Vault, tmp_path: Path) -> None:
    proposal = propose(vault, DRAFT, "en")
    vault.provenance.look()
    mallory = shared_with_mallory(vault.place.root, tmp_path)
    mallory.pushes({proposal.path: ticked(note_of(vault, proposal), APPROVE)})
    git(vault.place.root, "pull", "-q", "--no-rebase", "--no-edit")
    assert "- [x] approve" in note_of(vault, proposal)
    assert decided(vault) == [] and vault.read("rules/tables.md") is None


def test_a_note_without_a_record_here_decides_nothing(vault: Vault) -> None:
    proposal = propose(vault, DRAFT, "en")
    records_of(vault, "rule").drop(proposal.id)
    tick(vault, proposal)
    assert decided(vault) == [] and vault.read("rules/tables.md") is None


def test_the_texts_of_a_decided_proposal_are_kept_nowhere_outside_the_vault(vault: Vault) -> None:
    tick(vault, propose(vault, DRAFT, "en"), REJECT)
    settle_proposals(vault)
    kept = "".join(file.read_text() for file in (vault.private_folder / "asked/rule").iterdir())
    assert "# Tables" not in kept
