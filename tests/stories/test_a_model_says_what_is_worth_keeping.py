"""A conversation that has ended is read once by the fast model: what rests on the person's words is kept, and changes
what is known; what it makes up is not."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import MemoryFlushed, Speaker
from agent.interfaces.cli.main import main
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.memory.entry import Entry, parse_entry
from agent.memory.recall.authorship import Asker
from agent.runs.waiting_statements import silent_conversations, waiting_conversations
from agent.workspace.search_index import open_index
from tests.attachments.files import docx
from tests.fakes import FakeClock
from tests.remotes import shared_with_mallory
from tests.stories.agents import call, document, furnish, given_texts, script, settings, tell
from tests.vaults import git

KEEPS = "You keep the memory of one person"
SISTER = "My sister Mara lives in Porto."
BROTHER = "My brother Nils works at the harbour."
MISSED = "You know, the Mahlers upstairs got a parrot, is that legal?"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def entries(root: Path) -> list[Entry]:
    vault = open_workspace(root).vault
    found = [parse_entry(vault.read(path) or b"") for path in vault.note_paths() if path.startswith("entries/")]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.id)


def ask(root: Path, folder: Path, task: str, said: object, **more: str) -> None:
    """Ask once: the model answers "Noted.", then says what is worth keeping."""
    answer = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    tell(
        root,
        {**settings(folder, script(folder / "script.json", "Noted.", {"text": answer, "when": KEEPS})), **more},
        "ask",
        task,
    )


def test_a_fact_is_a_sentence_that_rests_on_the_person_s_words(root: Path, tmp_path: Path) -> None:
    text, quote = "The family Mahler in the flat above mine has had a parrot since December 2026.", "got a parrot"
    ask(root, tmp_path, MISSED, [{"do": "add", "number": 1, "kind": "person", "quote": quote, "text": text}])
    (entry,) = entries(root)
    assert (entry.text, entry.source, entry.slots["kind"]) == (text, "conversation", "person")
    assert entry.slots["quote"] == quote
    note = (root / entry.session_id).read_text("utf-8").splitlines()
    assert MISSED in note[int(entry.slots["line"]) - 1]


def test_what_the_assistant_said_what_nobody_said_and_what_was_only_asked_is_not_kept(
    root: Path, tmp_path: Path
) -> None:
    said = [
        {"number": 2, "kind": "result", "quote": "Noted."},
        {"number": 1, "kind": "person", "quote": "the Mahlers have a dog"},
        {"number": 9, "kind": "person", "quote": "parrot"},
        {"number": 1, "kind": "person", "quote": "the Mahlers upstairs got a parrot"},
        {"do": "remove", "key": "K1", "number": 1, "quote": "a parrot"},
        {"do": "update", "key": "K7", "number": 1, "quote": "a parrot", "text": "Is it legal?"},
    ]
    ask(root, tmp_path, "Is it legal that the Mahlers upstairs got a parrot?", said)
    assert entries(root) == []


@pytest.mark.parametrize("said", ["Sure! Here are the facts.", "[", '{"number": 1}', ""])
def test_an_answer_that_is_not_usable_leaves_what_the_rules_found(root: Path, tmp_path: Path, said: str) -> None:
    ask(root, tmp_path, "My sister Mara lives in Porto.", said)
    assert [each.text for each in entries(root)] == ["My sister Mara lives in Porto."]


def test_a_part_of_what_another_fact_says_is_not_kept_once_more(root: Path, tmp_path: Path) -> None:
    said = "My sister Mara lives in Porto and her son Nils turned eight in March."
    nephew = {"quote": "her son Nils turned eight in March", "text": "Nils, Mara's son, turned eight in March 2026."}
    facts = [nephew, {"quote": said}, {"quote": "My sister Mara lives in Porto"}]
    ask(root, tmp_path, said, [{"number": 1, "kind": "person", **each} for each in facts])
    assert {each.text for each in entries(root)} == {said, nephew["text"]}


def test_a_fact_is_found_by_the_model_s_keywords_which_are_not_what_the_person_said(root: Path, tmp_path: Path) -> None:
    words = ["pet", "bird", "parrot", "[[tea]]", "<b>", "a bird that has always been loud at night", "bird", "12"]
    quote = "the Mahlers upstairs got a parrot"
    ask(root, tmp_path, MISSED, [{"number": 1, "kind": "person", "quote": quote, "keywords": words}])
    (entry,) = entries(root)
    assert (entry.text, entry.keywords) == (quote, ("pet", "bird"))
    own = settings(tmp_path, script(tmp_path / "script.json", "Parrots.", {"text": "[]", "when": KEEPS}))
    asked = document(root, own, "ask", "Do we have any bird or pet in our house?")
    given = given_texts(open_workspace(root).vault, asked["session"], "memories")
    assert any(quote in text for text in given) and not any("bird" in text for text in given)


def test_before_a_summary_takes_the_place_of_a_talk_it_is_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [{"number": 1, "kind": "person", "quote": "the Mahlers upstairs got a parrot"}]
    said = script(tmp_path / "script.json", {"text": json.dumps(found), "when": KEEPS}, after="Noted.")
    for key, value in {**settings(tmp_path, said), "VAULT_AGENT_CONTEXT__KEEP_TURNS": "1"}.items():
        monkeypatch.setenv(key, value)
    workspace = open_workspace(root)
    told: list[MemoryFlushed] = []
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as runs:
        runs.bus.subscribe(told.append, MemoryFlushed, name="test")
        session = runs.ask(RunRequest(MISSED, Speaker("cli"))).session
        for number in range(4):
            page = " ".join(f"Page {number}.{line} of the book is about tea." for line in range(60))
            runs.ask(RunRequest(page, Speaker("cli")), session)
        runs.capturing.settle()
        assert not [each for each in entries(root) if "parrot" in each.text]
        assert runs.compact(session) is not None
        assert [each.text for each in entries(root) if "parrot" in each.text] == ["the Mahlers upstairs got a parrot"]
        runs.bus.close()
    assert [(each.session, each.saved) for each in told] == [(session, 1)]


def test_no_keyword_is_a_secret_or_was_forgotten(root: Path, tmp_path: Path) -> None:
    tell(root, settings(tmp_path), "remember", "The boat is called Albatross.")
    tell(root, settings(tmp_path), "forget", "--last", "--yes")
    words = ["noise", "the boat is called Albatross", "sk-ant-" + "ab1" * 8]
    ask(root, tmp_path, MISSED, [{"number": 1, "kind": "person", "quote": "the Mahlers upstairs", "keywords": words}])
    (entry,) = entries(root)
    assert entry.keywords == ("noise",)


def test_it_is_asked_once_and_nothing_new_is_no_commit(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, "My sister Mara lives in Porto.", [])
    before = git(root, "rev-list", "--count", "HEAD")
    ask(root, tmp_path, "What is two plus two?", [])
    assert int(git(root, "rev-list", "--count", "HEAD")) - int(before) == 1
    assert list(waiting_conversations(open_workspace(root))) == []


@pytest.mark.parametrize("said", [[], [{"number": 1, "kind": "wish", "quote": "my name is Ida"}]])
def test_a_standing_wish_is_kept_whether_or_not_the_model_quotes_it(root: Path, tmp_path: Path, said: object) -> None:
    wish = "From now on short answers, no tables."
    ask(root, tmp_path, f"{wish} And my name is Ida.", said)
    asked = document(root, settings(tmp_path), "ask", "What is two plus two?")
    assert wish in load_session(open_workspace(root).vault, asked["session"]).system


def test_it_says_what_takes_the_place_of_a_known_fact(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, SISTER, [{"number": 1, "kind": "person", "quote": "My sister Mara lives in Porto"}])
    quote, text = "the whole family went over to Lisbon for good", "Mara moved from Porto to Lisbon in December 2026."
    said = [{"do": "update", "key": "K1", "number": 1, "kind": "person", "quote": quote, "text": text}]
    ask(root, tmp_path, f"You know what? {quote}, Mara included", said)
    first, last = entries(root)
    assert (first.superseded_by, last.supersedes, last.text) == (last.link, first.link, text)


def test_it_says_what_has_ended_and_the_entry_stays_with_the_reason(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, SISTER, [{"number": 1, "kind": "person", "quote": "My sister Mara lives in Porto"}])
    quote = "Mara does not live in Porto at all"
    ask(root, tmp_path, f"I was wrong, {quote}.", [{"do": "remove", "key": "K1", "number": 1, "quote": quote}])
    (entry,) = entries(root)
    assert entry.superseded_by.startswith("[[sessions/") and entry.slots["reason"] == quote
    own = settings(tmp_path, script(tmp_path / "script.json", "I do not know.", {"text": "[]", "when": KEEPS}))
    asked = document(root, own, "ask", "Where does my sister Mara live?")
    given = given_texts(open_workspace(root).vault, asked["session"], "memories")
    assert not any(SISTER[:-1] in each for each in given), given


@pytest.mark.parametrize("shown", ["Mara, my sister, lives in Porto.", "Nils is at work in the harbour."])
def test_the_reader_is_shown_what_was_kept_and_written_meanwhile(root: Path, tmp_path: Path, shown: str) -> None:
    """Else what the assistant has saved stands there twice, in other words."""
    save = call("memory_save", text="Mara, my sister, lives in Porto.")
    note = call("vault_write", path="family.md", content="Nils is at work in the harbour.")
    unread = json.dumps([{"number": 1, "kind": "person", "quote": "My sister Mara"}])
    said = script(tmp_path / "s.json", save, note, "Noted.", {"text": "[]", "when": f'"text": "{shown}"'}, after=unread)
    tell(root, settings(tmp_path, said), "ask", f"{SISTER} {BROTHER}")
    assert [each.text for each in entries(root)] == ["Mara, my sister, lives in Porto."]


def test_of_a_talk_with_a_stranger_s_text_the_reader_is_shown_the_person_s_lines_alone(
    root: Path, tmp_path: Path
) -> None:
    (root / "offer.docx").write_bytes(docx("<w:p><w:r><w:t>Mara owes us ninety pounds.</w:t></w:r></w:p>"))
    found = [{"number": 1, "kind": "person", "quote": "My sister Mara lives in Porto"}]
    strange = json.dumps([{"number": 1, "kind": "person", "quote": "My sister Mara", "text": "Mara owes ninety."}])
    told = (call("vault_read", path="offer.docx"), "It says that Mara owes ninety pounds.")
    reader = ({"text": strange, "when": "owes ninety"}, {"text": json.dumps(found), "when": KEEPS})
    tell(root, settings(tmp_path, script(tmp_path / "s.json", *told, *reader)), "ask", f"{SISTER} See offer.docx")
    assert [each.text for each in entries(root)] == ["My sister Mara lives in Porto"]


def test_what_goes_on_is_read_with_what_was_said_before(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "Noted.", {"text": "[]", "when": KEEPS}))
    asked = document(root, own, "ask", "Mara brings her dog on Sunday.")
    fact = {"number": 1, "kind": "event", "quote": "Saturday, I misread it", "text": "Mara brings her dog on Saturday."}
    before = {"text": json.dumps([fact]), "when": '"text": "Mara brings her dog on Sunday."'}
    said = script(tmp_path / "s.json", "Noted.", before, {"text": "[]", "when": KEEPS})
    tell(root, settings(tmp_path, said), "ask", "--session", asked["session"], "No, on Saturday, I misread it.")
    assert [each.text for each in entries(root)] == [fact["text"]]


@pytest.mark.parametrize(
    "said",
    [
        "Where does Mara live?",
        "Hello there!",
        "你好呀",
        "Morning",
        "谢谢你，辛苦了！",
        "Hi! Where does Mara live? Thanks.",
    ],
)
def test_a_talk_of_questions_and_greetings_alone_is_not_read(root: Path, tmp_path: Path, said: str) -> None:
    silent = {"error": "permanent", "times": 0, "when": KEEPS}
    own = settings(tmp_path, script(tmp_path / "s.json", "How can I help you today?", silent))
    asked = document(root, own, "ask", said)
    tell(root, own, "ask", "--session", asked["session"], "谢谢")  # an offer of help is no question that it answers
    assert list(waiting_conversations(open_workspace(root))) == [], "it waits for no model"


def test_a_word_that_answers_what_was_asked_is_read(root: Path, tmp_path: Path) -> None:
    first = script(tmp_path / "s.json", "Do you always take the early train?", {"text": "[]", "when": KEEPS})
    asked = document(root, settings(tmp_path, first), "ask", "Good morning!")
    fact = {"number": 1, "kind": "workflow", "quote": "yes", "text": "The person always takes the early train."}
    said = script(tmp_path / "s.json", "Noted.", {"text": json.dumps([fact]), "when": KEEPS})
    tell(root, settings(tmp_path, said), "ask", "--session", asked["session"], "yes please")
    assert [each.text for each in entries(root)] == [fact["text"]]


def test_a_wish_that_was_saved_or_written_in_other_words_is_not_kept_by_the_rules_too(
    root: Path, tmp_path: Path
) -> None:
    asked = "From now on you should know that I work Mondays to Thursdays, and look up what a skip costs."
    note = call("vault_write", path="work.md", content="- I work Mondays to Thursdays.")
    said = script(tmp_path / "s.json", note, "Noted.", {"text": "[]", "when": KEEPS})
    tell(root, settings(tmp_path, said), "ask", asked)
    assert entries(root) == []


def test_turned_off_it_is_not_asked(root: Path, tmp_path: Path) -> None:
    said = [{"number": 1, "kind": "other", "quote": "parrot"}]
    ask(root, tmp_path, MISSED, said, VAULT_AGENT_MEMORY__CAPTURE="off")
    assert [each.text for each in entries(root) if each.text == "parrot"] == []


def test_a_conversation_waits_until_it_is_silent_or_its_process_ends(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = script(
        tmp_path / "script.json",
        "Noted.",
        {"text": json.dumps([{"number": 1, "kind": "person", "quote": "the Mahlers upstairs"}]), "when": KEEPS},
    )
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with closing(open_index(workspace)) as index:
        with closing(build_runs(workspace, index)) as agent:
            session = agent.ask(RunRequest(MISSED, Speaker("chat"))).session
            agent.capturing.settle()
            assert silent_conversations(workspace) == ()
            clock.advance(121.0)
            assert silent_conversations(workspace) == (session,)
        assert silent_conversations(workspace) == (), "kept when its process ended"
    assert "the Mahlers upstairs" in [each.text for each in entries(root)]


def test_what_waits_is_found_in_another_conversation(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(root, settings(tmp_path), "remember", "My phone number is 5550100.")
    said = script(tmp_path / "script.json", {"text": "[]", "when": KEEPS}, after="Noted.")
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    workspace = open_workspace(root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        index.refresh()
        agent.ask(RunRequest("Actually, my phone number is 5550199.", Speaker("chat")))
        session = agent.ask(RunRequest(SISTER, Speaker("chat"))).session
        agent.capturing.settle()
        assert [(each.text, bool(each.superseded_by)) for each in entries(root)] == [
            ("My phone number is 5550100.", False)
        ], "what has changed, the model will say"
        question = "Where does my sister Mara live?"
        found = [each for each in agent.recall.recaller.recall(question, Asker(), 8).found if each.text == SISTER]
        line = (root / session).read_text("utf-8").splitlines()[found[0].lines[0] - 1]
        assert [each.path for each in found] == [session] and SISTER in line
        own = agent.recall.recaller.recall(question, Asker(session=session), 8).found
        assert SISTER not in [each.text for each in own], "its own conversation has it in sight"


@pytest.mark.parametrize("when", ["read", "waits"])
def test_what_was_said_in_a_run_that_is_undone_stays_said(root: Path, tmp_path: Path, when: str) -> None:
    facts = [{"number": 1, "kind": "person", "quote": SISTER[:-1]}]
    reply = {"text": json.dumps(facts), "when": KEEPS} if when == "read" else {"error": "permanent", "when": KEEPS}
    own = settings(tmp_path, script(tmp_path / "s.json", call("vault_write", path="a.md", content="x"), "Done.", reply))
    asked = document(root, own, "ask", SISTER)
    tell(root, own, "undo", "--run", asked["run"])
    assert not (root / "a.md").exists()
    vault = open_workspace(root)
    if when == "read":
        assert [each.text for each in entries(root)] == [SISTER[:-1]]
    else:
        assert [each.session for each in waiting_conversations(vault)] == [asked["session"]]


def test_a_model_that_cannot_be_asked_leaves_it_to_the_rules_in_the_end(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = script(tmp_path / "script.json", {"error": "permanent", "times": 0, "when": KEEPS}, after="Noted.")
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        agent.ask(RunRequest(SISTER, Speaker("chat")))
        kept = []
        for _ in range(3):
            agent.capturing.settle()
            clock.advance(121.0)
            agent.close_conversations()
            agent.capturing.settle()
            kept.append([each.text for each in entries(root)])
    assert kept == [[], [], [SISTER]]


def test_what_others_put_into_a_waiting_conversation_is_neither_found_nor_kept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = SISTER.replace("Porto", "Tallinn")
    quoted = json.dumps([{"number": 1, "kind": "person", "quote": "My sister Mara lives in Tallinn"}])
    said = script(tmp_path / "script.json", {"text": quoted, "when": KEEPS}, after="Noted.")
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    workspace = open_workspace(root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        session = agent.ask(RunRequest(SISTER, Speaker("chat"))).session
        agent.capturing.settle()
        mallory = shared_with_mallory(root, tmp_path)
        mallory.pulls()
        mallory.pushes({session: mallory.read(session).replace(SISTER, theirs)})
        git(root, "pull", "-q", "--no-rebase", "--no-edit")
        assert theirs in (root / session).read_text("utf-8")
        found = agent.recall.recaller.recall("Where does my sister Mara live?", Asker(), 8).found
        assert [each.text for each in found if each.text in (SISTER, theirs)] == []
    assert entries(root) == []


@pytest.mark.parametrize("purge", [(), ("--purge",)])
def test_what_is_forgotten_while_it_waits_is_not_kept_and_all_else_is(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purge: tuple[str, ...]
) -> None:
    secret = "The spare key is under the stone frog"
    quotes = [secret, "the stone frog", "the Mahlers upstairs got a parrot"]
    facts = json.dumps([{"number": 1 + 2 * (each in MISSED), "kind": "person", "quote": each} for each in quotes])
    said = script(tmp_path / "script.json", {"text": facts, "when": KEEPS}, after="Noted.")
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        session = agent.ask(RunRequest(f"{secret}.", Speaker("chat"))).session
        agent.capturing.settle()
        agent.ask(RunRequest(MISSED, Speaker("chat")), session)
        agent.capturing.settle()
        assert main(["--vault", str(root), "forget", secret, *purge, "--yes"]) == 0
        clock.advance(121.0)
        assert len(silent_conversations(workspace)) == 1 and session not in silent_conversations(workspace)
        agent.close_conversations()
        agent.capturing.settle()
    assert "frog" not in str([each.text for each in entries(root)])
    assert quotes[-1] in [each.text for each in entries(root)]
    assert [path for path in workspace.vault.private_folder.rglob("*frog*") if path.is_file()] == []
    assert "frog" not in str(workspace.vault.records.rows("SELECT key, value FROM record"))
