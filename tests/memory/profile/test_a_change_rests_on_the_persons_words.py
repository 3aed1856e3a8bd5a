"""The one door to a profile: what is written, what is refused, and what is asked."""

from pathlib import Path

import pytest

from agent.memory.entry import MODEL, EntryType
from agent.memory.profile.changes import ProfileChange
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.load import profile_figures
from agent.memory.profile.statements import settle_profile_questions
from agent.vault.change import Stamp
from tests.memory.profile.people import Home, home
from tests.vaults import git, write

TEA = "31-preferences.md"
BASIC = "00-basic-info.md"


def tea(evidence: Evidence, line: str = "Takes tea without sugar", note: str = TEA) -> ProfileChange:
    return ProfileChange(note, line, (evidence,))


def test_a_line_is_added_with_its_evidence_in_one_commit(tmp_path: Path) -> None:
    house = home(tmp_path)
    evidence = house.said("I prefer tea without sugar.")
    found = house.propose(tea(evidence))
    assert len(found.made) == 1
    assert f"## In your own words\n\n- Takes tea without sugar ({evidence.dated_link})\n" in house.text(TEA)
    file = house.file(TEA)
    assert file.evidence == (evidence,) and file.confidence == 0.7 and file.filled == 1
    log = house.text("_changelog.md").splitlines()[-1]
    assert "[[profile/31-preferences]] · added: Takes tea without sugar" in log
    assert evidence.written in log and log.endswith("job:task/update_profile")
    changed = git(house.vault.place.root, "show", "--name-only", "--format=", "HEAD").split()
    assert changed == ["profile/31-preferences.md", "profile/_changelog.md"]
    assert house.propose(tea(evidence)).requests == (), "nothing is written twice"


def test_a_field_is_filled_where_it_stands(tmp_path: Path) -> None:
    house = home(tmp_path)
    before = house.text(BASIC)
    evidence = house.said("I live in Oslo.")
    house.propose(ProfileChange(BASIC, "Oslo", (evidence,), field="home"))
    assert f"- **Home**: Oslo ({evidence.dated_link})\n" in house.text(BASIC)
    body = before.partition("---\n# ")[2].replace("- **Home**:\n", "")
    assert [row for row in body.splitlines()[1:] if row not in house.text(BASIC).splitlines()] == []
    assert house.file(BASIC).fields[4].value == "Oslo"
    assert profile_figures(house.vault).filled_fields == 1


@pytest.mark.parametrize(
    ("text", "quote", "more"),
    [
        ("I prefer tea.", "I prefer coffee.", {}),
        ("I prefer tea.", "", {}),
        ("The person prefers tea.", "The person prefers tea.", {"source": MODEL}),
        ("I prefer tea.", "I prefer tea.", {"sender_id": "guest"}),
        ("I prefer tea.", "I prefer tea.", {"untrusted": ("mail from eve@example.org",)}),
        ("Asked about tea.", "Asked about tea.", {"kind": EntryType.AUTO_CAPTURE}),
    ],
)
def test_what_is_not_the_persons_own_words_is_refused(
    tmp_path: Path, text: str, quote: str, more: dict[str, object]
) -> None:
    house = home(tmp_path)
    said = house.said(text, **more)
    found = house.propose(tea(Evidence(said.note, quote)))
    assert found.requests == () and len(found.refused) == 1


def test_without_evidence_or_with_a_note_that_is_not_there_nothing_is_written(tmp_path: Path) -> None:
    house = home(tmp_path)
    assert house.propose(ProfileChange(TEA, "Likes tea", ())).requests == ()
    assert house.propose(tea(Evidence("nowhere", "I like tea"))).requests == ()
    assert house.propose(tea(house.said("I like tea."), note="../AGENT.md")).requests == ()
    assert house.propose(tea(house.said("I like figs."), note="99-more.md")).requests == ()


def test_a_note_counts_where_the_person_wrote_it_and_not_where_the_agent_did(tmp_path: Path) -> None:
    house = home(tmp_path)
    root = house.vault.place.root
    write(root / "tea.md", "# Tea\n\nI drink it plain.\n\n> I drink it with rum, says Eve.\n")
    house.vault.commit_human()
    with house.vault.transaction("note(write): rum", Stamp("agent", run="r1", tool="vault_edit")) as change:
        change.edit("tea.md", (root / "tea.md").read_bytes(), (root / "tea.md").read_bytes() + b"\nI drink it hot.\n")
    assert house.propose(tea(Evidence("tea", "I drink it plain"))).made
    assert house.propose(tea(Evidence("tea", "I drink it with rum"), "Rum")).requests == ()
    assert house.propose(tea(Evidence("tea", "I drink it hot"), "Hot")).requests == ()


def test_a_line_of_the_person_that_says_otherwise_becomes_a_question(tmp_path: Path) -> None:
    house = home(tmp_path)
    house.edit(BASIC, "- **Home**:", "- **Home**: Bergen, near the harbour")
    before = house.text(BASIC)
    evidence = house.said("I live in Oslo.")
    change = ProfileChange(BASIC, "Oslo", (evidence,), field="Home")
    found = house.propose(change)
    assert house.text(BASIC) == before and len(found.asked) == 1
    question = (house.vault.place.root / found.asked[0]).read_text("utf-8")
    assert "- [ ] The line in the note: Home: Bergen, near the harbour" in question.replace("**", "")
    assert "- [ ] The newer one: Oslo" in question and "- [ ] Both" in question
    assert profile_figures(house.vault).open_questions == found.asked
    assert house.propose(change).requests == (), "it is asked once"


@pytest.mark.parametrize(("tick", "left"), [(0, ["Bergen"]), (1, ["Oslo"]), (2, ["Bergen", "Oslo"])])
def test_the_answer_is_carried_out(tmp_path: Path, tick: int, left: list[str]) -> None:
    house = home(tmp_path)
    house.edit(BASIC, "- **Home**:", "- **Home**: Bergen")
    asked = house.propose(ProfileChange(BASIC, "Oslo", (house.said("I live in Oslo."),), field="Home")).asked
    path = house.vault.place.root / asked[0]
    assert settle_profile_questions(house.writing).requests == ()
    parts = path.read_text("utf-8").split("- [ ]")
    marks = ["- [x]" if at == tick else "- [ ]" for at in range(3)]
    write(path, parts[0] + "".join(mark + part for mark, part in zip(marks, parts[1:], strict=True)))
    house.vault.commit_human()
    house.commit(settle_profile_questions(house.writing))
    assert [city for city in ("Bergen", "Oslo") if city in house.text(BASIC)] == left
    assert "status: answered" in path.read_text("utf-8")
    assert settle_profile_questions(house.writing).requests == ()


def test_the_agents_own_line_is_replaced_by_newer_words(tmp_path: Path) -> None:
    house = home(tmp_path)
    house.propose(ProfileChange(BASIC, "Oslo", (house.said("I live in Oslo."),), field="Home"))
    found = house.propose(ProfileChange(BASIC, "Bergen", (house.said("I live in Bergen."),), field="Home"))
    assert len(found.made) == 1 and "Oslo" not in house.text(BASIC).partition("\n# ")[2]
    assert "- **Home**: Bergen" in house.text(BASIC) and "replaced: Home: Bergen" in house.text("_changelog.md")


def test_what_the_person_removed_or_changed_stays_so(tmp_path: Path) -> None:
    house = home(tmp_path)
    evidence = house.said("I prefer tea without sugar.")
    house.propose(tea(evidence))
    house.edit(TEA, f"- Takes tea without sugar ({evidence.dated_link})\n", "")
    before = house.text(TEA)
    assert house.propose(tea(evidence)).requests == ()
    assert house.propose(tea(house.said("I like tea without sugar."))).requests == ()
    assert house.text(TEA) == before


@pytest.mark.parametrize("commit", [True, False])
def test_marked_lines_and_sections_are_left_alone(tmp_path: Path, commit: bool) -> None:
    house = home(tmp_path)
    house.edit(BASIC, "- **Home**:", "- **Home**: %% keep %%", commit=commit)
    house.edit(BASIC, "## Work and contact", "## Work and contact %% keep %%", commit=commit)
    before = house.text(BASIC)
    evidence = house.said("I work as a nurse and live in Oslo.")
    house.propose(
        ProfileChange(BASIC, "nurse", (evidence,), field="Work"),
        ProfileChange(BASIC, "Writes letters", (evidence,), heading="Work and contact"),
    )
    after = house.text(BASIC)
    kept = before[before.index("## Work and contact") :].rstrip("\n")
    assert "- **Home**: %% keep %%\n" in after and kept in after
    assert "Writes letters" not in after


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("32-health-wellness.md", "I run on Sundays."),
        ("40-relationships.md", "I run on Sundays."),
        ("42-social-context.md", "I run on Sundays."),
        ("31-preferences.md", "I am allergic to nuts."),
        ("50-key-memories.md", "My sister is called Ida."),
    ],
)
def test_health_and_other_people_need_consent_that_is_asked_once(tmp_path: Path, note: str, text: str) -> None:
    house = home(tmp_path, consent="ask")
    change = tea(house.said(text), f"“{text}”", note)
    found = house.propose(change)
    assert found.made == () and len(found.asked) == 1 and text not in house.text(note)
    assert house.propose(change).requests == (), "one question is enough"
    path = house.vault.place.root / found.asked[0]
    write(path, path.read_text("utf-8").replace("- [ ] Yes", "- [x] Yes"))
    assert len(house.propose(change).made) == 1
    house.consent = "no"
    assert house.propose(tea(house.said("I have asthma."), "Asthma", note)).requests == ()


def test_what_was_counted_needs_no_quotation_but_a_note_about_patterns(tmp_path: Path) -> None:
    house = home(tmp_path)
    write(house.vault.place.root / "daily/2026-11-21.md", "# 2026-11-21\n")
    house.vault.commit_human()
    rests = (Evidence("2026-11-21"),)
    change = ProfileChange("51-patterns-insights.md", "Plans at nine", rests, heading="2026-W47", is_counted=True)
    assert len(house.propose(change).made) == 1
    assert "## 2026-W47\n\n- Plans at nine ([[2026-11-21]])\n" in house.text("51-patterns-insights.md")
    assert house.propose(ProfileChange(BASIC, "Is late", rests, is_counted=True)).requests == ()


def test_a_topic_begins_with_its_first_line(tmp_path: Path) -> None:
    house = home(tmp_path)
    evidence = house.said("I started cello lessons.")
    house.propose(tea(evidence, "Has cello lessons", "topics/cello.md"))
    file = house.file("topics/cello.md")
    assert (file.layer, file.title, file.words) == (6, "Cello", ("Has cello lessons",))


def test_a_note_with_mixed_line_ends_is_left_alone(tmp_path: Path) -> None:
    """A note whose line ends differ is left as it is, rather than rewritten."""
    house = home(tmp_path)
    path = house.vault.place.root / "profile" / TEA
    write(path, path.read_bytes().replace(b"\n", b"\r\n", 12))
    house.vault.commit_human()
    before = path.read_bytes()
    assert house.propose(tea(house.said("I prefer tea."))).made == ()
    assert path.read_bytes() == before


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    house: Home = home(tmp_path)
    path = house.vault.place.root / "profile" / TEA
    write(path, path.read_bytes().replace(b"\n", b"\r\n"))
    house.vault.commit_human()
    assert house.propose(tea(house.said("I prefer tea."))).made
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
