"""A text is recognised in other words and forms, in names, in JSON and where it was cut short; and nothing else is."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import NoteGone
from agent.loop.record_parse import parse_records
from agent.loop.session import load_session
from agent.memory.blame import DAILY
from agent.memory.forgetting.forget import carry_out, plan, plan_named, plan_text
from agent.memory.forgetting.forgotten_statements import phrase
from agent.memory.forgetting.places import record_without
from agent.vault.change import Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.memory.days import Days, days
from tests.vaults import git, write

KEY = "The spare key is under the stone frog in the garden"
NOON = "2026-11-21T12:00:00+00:00"
SESSION = "sessions/2026/11/2026-11-21-the-spare-key-is-under-the-stone-frog-in-the-5n7f9a.md"
TALK = f"""---
id: 01M83GY94Q0BW44RE7E85N7F9A
type: session
created: 2026-11-21T06:19:22+00:00
channel: cli
---
# {KEY}.

%% vault-agent: run {{"at": "{NOON}", "run": "R1", "task": "{KEY}.", "channel": "cli", "sender": ""}} %%
### 06:19 Run

`R1`

%% vault-agent: user {{"at": "2026-11-21T06:19:22+00:00", "sender": ""}} %%
### 06:19 You

{KEY}. And the bins go out on Monday.

%% vault-agent: agent {{"at": "2026-11-21T06:19:22+00:00"}} %%
### 06:19 Agent

%% vault-agent: call {{"at": "2026-11-21T06:19:22+00:00", "id": "1", "name": "memory_save", "problem": ""}} %%
### 06:19 memory_save

```json
{{
 "text": "{KEY}.\\nSaid \\"today\\".",
 "kind": "fact"
}}
```

%% vault-agent: end {{"at": "2026-11-21T06:19:22+00:00", "run": "R1", "outcome": "finished", "reason": ""}} %%
### 06:19 Run finished

`R1`

"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KEY, "I noted that your spare key is under the stone frog in the garden, as you said."),
        (KEY, "the SPARE key\nis under the stone frog in the garden"),
        (KEY, "## 06:19 - Remember that the spare key is under the stone…"),
        ("My sister Mara lives in Porto", "Your sister Mara lives in Porto."),
        ("The door code is 4712", "Type 4712 and push."),
        ("4712", "Type 4712 and push."),
        ("4712", "门的密码是4712"),
        ("备用钥匙在花园的石蛙下面", "好的，记住了：备用钥匙在花园的石蛙下面。"),
        ("备用钥匙在花园的石蛙下面", "我记得备用钥匙 在花园的 石蛙下面呢"),
    ],
)
def test_it_is_known_again(text: str, said: str) -> None:
    assert phrase(text).stands_in(said)
    assert "[forgotten]" in phrase(text).redacted(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KEY, "Where is the spare key?"),
        (KEY, "The spare key is not under the stone frog in the garden"),
        (KEY, "The spare key is with Ben."),
        ("My sister Mara lives in Porto", "My sister Mara lives in Lisbon."),
        ("The door code is 4712", "The door code is 9930 now."),
        ("4712", "Call 0147120."),
        ("I was born in 1984", "The house was built in 1984."),
        ("备用钥匙在花园的石蛙下面", "备用钥匙在哪里？"),
        ("我喜欢绿茶", "我妹妹不喜欢咖啡"),
    ],
)
def test_another_thing_stays(text: str, said: str) -> None:
    assert not phrase(text).stands_in(said)
    assert phrase(text).redacted(said) == said


@given(st.text(), st.text())
def test_what_does_not_say_it_stays_as_it_is(before: str, after: str) -> None:
    said = phrase("The velunta is behind the frog")
    text = f"{before} {after}"
    if not said.stands_in(text):
        assert said.redacted(text) == text


@given(
    st.lists(
        st.sampled_from(["Hi.", "The velunta is behind the frog", "你好。", "- ", "> ", '"', "\n", "x"]), max_size=9
    )
)
def test_what_was_redacted_once_says_it_no_more(parts: list[str]) -> None:
    said = phrase("The velunta is behind the frog")
    left = said.redacted(" ".join(parts))
    assert "velunta" not in left and said.redacted(left) == left


def test_the_name_of_a_note_in_a_link_stays_whole() -> None:
    said = replace(phrase("备用钥匙在石蛙下面"), names={"2026-11-21-备用钥匙在石蛙下面-pegmbh": ""})
    left = said.redacted("见 [[entries/2026-11-21-备用钥匙在石蛙下面-pegmbh]] 和 [[我的备用钥匙在石蛙下面]]")
    assert left == "见 [forgotten] 和 [[我的备用钥匙在石蛙下面]]"


def put(home: Days, path: str, text: str) -> None:
    with home.vault.transaction("session: finished", Stamp("agent", session=path)) as change:
        change.create(path, text.encode())


def test_a_session_keeps_its_form_and_loses_the_words_and_its_name(tmp_path: Path) -> None:
    home = days(tmp_path)
    put(home, SESSION, TALK)
    write(home.root / "mine.md", f"See [[{SESSION.removesuffix('.md')}|that talk]].\n")
    git(home.root, "add", "-A")
    git(home.root, "commit", "-qm", "a link")
    found = plan_text(home.vault, KEY)
    carry_out(home.vault, found, home.language)
    new = "sessions/2026/11/2026-11-21-forgotten-5n7f9a"
    text = home.text(f"{new}.md")
    assert "frog" not in text and "And the bins go out on Monday." in text and '"kind": "fact"' in text
    assert '"text": "\\u005bforgotten]\\nSaid \\"today\\"."' in text
    assert len(parse_records(text)) == len(parse_records(TALK))
    assert load_session(home.vault, SESSION).path == f"{new}.md", "whoever still knows its old name finds it"
    assert home.text("mine.md") == f"See [[{new}|that talk]].\n"


def test_what_an_entry_of_the_text_says_goes_in_its_words_too(tmp_path: Path) -> None:
    home, more = days(tmp_path), "It is the one with the red tag"
    home.keep(home.entry(f"Where is the spare key of the boathouse? {more}."))
    put(home, SESSION, TALK.replace(KEY, more))
    carry_out(home.vault, plan_text(home.vault, f"Where is the spare key of the boathouse? {more}"), home.language)
    assert "red tag" not in home.text(SESSION)


def test_a_day_follows_a_session_that_gets_another_name(tmp_path: Path) -> None:
    home = days(tmp_path)
    put(home, SESSION, TALK)
    day = f"# 2026-11-21\n\n## 12:00 - {KEY}.\n\n- In [[{SESSION.removesuffix('.md')}]]\n"
    with home.vault.transaction("memory(daily): log", Stamp("agent", tool=DAILY)) as change:
        change.create("daily/2026-11-21.md", day.encode())
    found = plan_text(home.vault, KEY)
    assert [each.gone for each in found.changed if "daily" in each.path] == [(f"## 12:00 - {KEY}.",)]
    carry_out(home.vault, found, home.language)
    assert "- In [[sessions/2026/11/2026-11-21-forgotten-5n7f9a]]\n" in home.text("daily/2026-11-21.md")


def test_the_link_to_a_session_whose_name_begins_in_the_same_way_stays(tmp_path: Path) -> None:
    home = days(tmp_path)
    first, other = (
        "sessions/2026/11/2026-11-21 The stone frog key",
        "sessions/2026/11/2026-11-21 The stone frog key fits",
    )
    put(home, f"{first}.md", TALK.replace(KEY, "The stone frog key"))
    waits = TALK.replace('"outcome": "finished"', '"outcome": "needs_approval"')
    put(home, f"{other}.md", waits.replace(KEY, "What fits").replace("5N7F9A", "5N7F9B"))
    put(home, f"{first} 2.md", TALK.replace(KEY, "The stone frog key").replace("5N7F9A", "5N7F9C"))
    write(home.root / "mine.md", f"See [[{first}]], [[{first} 2]] and [[{other}|that]].\n")
    git(home.root, "add", "-A")
    git(home.root, "commit", "-qm", "links")
    carry_out(home.vault, plan_text(home.vault, "The stone frog key"), home.language)
    begin = "sessions/2026/11/2026-11-21 Forgotten"
    assert home.text("mine.md").startswith(f"See [[{begin} 5n7f9a]], [[{begin} 5n7f9c]] and [[")
    assert load_session(home.vault, f"{first} 2.md").path == f"{begin} 5n7f9c.md"
    assert f"[[{other}|that]]" in home.text("mine.md"), "its run is not over, so it keeps its name"


def test_a_run_that_is_not_over_keeps_its_name(tmp_path: Path) -> None:
    home = days(tmp_path)
    put(home, SESSION, TALK.replace('"outcome": "finished"', '"outcome": "needs_approval"'))
    carry_out(home.vault, plan_text(home.vault, KEY), home.language)
    assert "frog" not in home.text(SESSION)


def test_an_undo_brings_every_byte_back(tmp_path: Path) -> None:
    home = days(tmp_path)
    put(home, SESSION, TALK)
    home.keep(home.entry(KEY))
    home.keep(home.entry(f"{KEY}. The bins go out on Monday."))
    before = git(home.root, "rev-parse", "HEAD^{tree}")
    outcome = carry_out(home.vault, plan_text(home.vault, KEY), home.language)
    assert outcome.commit
    undo(home.vault, Selection((outcome.commit,)))
    assert git(home.root, "rev-parse", "HEAD^{tree}") == before


def test_what_stands_in_a_person_s_own_notes_only_is_named(tmp_path: Path) -> None:
    home = days(tmp_path, {"mine.md": f"# Mine\n\n{KEY}.\n"})
    with pytest.raises(NoteGone, match=r"mine\.md"):
        plan_text(home.vault, KEY)
    with pytest.raises(NoteGone, match="no note has the path or id samovar"):
        plan_named(home.vault, "samovar")


def test_what_was_replaced_goes_with_what_replaced_it(tmp_path: Path) -> None:
    home = days(tmp_path)
    older = home.entry("My sister lives in Porto")
    home.keep(older)
    newer = home.keep(replace(home.entry("My sister lives in Lisbon"), supersedes=older.link))
    found = plan(home.vault, newer)
    assert {path for path, _ in found.gone} == {older.path, newer}


def chain(home: Days, *texts: str) -> list[str]:
    """The paths of entries of which each replaces the one before."""
    entries = [home.entry(text) for text in texts]
    for at, entry in enumerate(entries):
        older, newer = entries[at - 1 : at], entries[at + 1 : at + 2]
        home.keep(
            replace(
                entry,
                supersedes="".join(each.link for each in older),
                superseded_by="".join(each.link for each in newer),
            )
        )
    return [entry.path for entry in entries]


@pytest.mark.parametrize("named", range(5))
def test_all_values_of_a_fact_that_was_corrected_go_with_any_of_them(tmp_path: Path, named: int) -> None:
    home = days(tmp_path)
    cities = ("Porto", "Lisbon", "Faro", "Braga", "Evora")
    paths = chain(home, *(f"My sister Mara lives in {city}" for city in cities))
    other = home.keep(home.entry("My brother Tom lives in Braga"))
    put(home, "sessions/2026/11/2026-11-21-a-talk-aaaaaa.md", TALK.replace(KEY, "My sister Mara lives in Faro"))
    found = plan(home.vault, paths[named])
    assert {path for path, _ in found.gone} == set(paths)
    carry_out(home.vault, found, "en")
    left = {path: home.text(path) for path in home.vault.note_paths() if not path.startswith("archive/forgotten/")}
    assert not [path for path, text in left.items() if "sister" in text] and other in left


def test_a_text_takes_only_the_value_that_it_says_along(tmp_path: Path) -> None:
    home = days(tmp_path)
    older, newer = chain(home, "My sister lives in Porto", "My sister lives in Lisbon")
    assert [path for path, _ in plan_text(home.vault, "My sister lives in Porto").gone] == [older]
    assert [path for path, _ in plan_text(home.vault, "My sister lives in Lisbon").gone] == [newer]


def test_a_later_value_about_something_else_stays(tmp_path: Path) -> None:
    home = days(tmp_path)
    older, newer = chain(home, "My sister lives in Porto", "The boat is called Selma")
    assert [path for path, _ in plan(home.vault, older).gone] == [older]
    assert {path for path, _ in plan(home.vault, newer).gone} == {older, newer}


def test_a_value_that_a_person_rewrote_is_named_and_left_alone(tmp_path: Path) -> None:
    home = days(tmp_path)
    older, newer = chain(home, "My sister lives in Porto", "My sister lives in Lisbon")
    write(home.root / newer, home.text(newer).replace("Lisbon", "Lisbon, near the river where we swam"))
    found = plan(home.vault, older)
    assert ([path for path, _ in found.gone], found.mentions) == ([older], (newer,))


def test_notes_that_cannot_be_read_are_passed_by_and_named(tmp_path: Path) -> None:
    home = days(tmp_path)
    home.keep(home.entry(KEY))
    (home.root / "link.md").symlink_to("/etc/hosts")
    found = plan_text(home.vault, KEY)
    assert len(found.gone) == 1 and set(found.unread) == {"link.md"}


def test_a_header_loses_the_words_too() -> None:
    note = b'---\ntype: question\nabout: "' + KEY.encode() + b'"\nkeywords: [frog, "' + KEY.encode() + b'"]\n---\nx\n'
    left = record_without(note, phrase(KEY))
    assert b"stone" not in left and b"frog" in left and b"type: question" in left
