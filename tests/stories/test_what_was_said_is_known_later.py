"""Twenty conversations in English and Chinese: each fact that was stated is given to the model of a later session,
also after its conversation was compacted, cut off, or killed in the middle."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.memory.entry import parse_entry
from agent.runs.crash_recovery import close_cut_off
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.runs.workflow_traces import SessionTraces
from agent.vault.store import Vault
from agent.workspace.search_index import open_index
from tests.stories.agents import call, command, document, environment, furnish, given_texts, script, settings, tell
from tests.vaults import git

CLI = Speaker("cli")
FACTS = (
    ("My sister Clara lives in Lisbon, near the river.", "Where does my sister live?"),
    ("我对花生过敏，做饭要小心。", "我对什么过敏？"),
    ("The boiler was serviced on 3 March by Mr Vance.", "Who serviced the boiler?"),
    ("我们的纪念日是六月十二日。", "我们的纪念日是哪天？"),
    ("I keep the cabin's spare key under the blue flowerpot.", "Where is the spare key of the cabin?"),
    ("老板叫陈立，办公室在八楼。", "老板的办公室在几楼？"),
    ("The reading group meets every second Tuesday at seven.", "When does the reading group meet?"),
    ("我女儿在学大提琴，老师姓郑。", "女儿的大提琴老师姓什么？"),
    ("Our archive runs on Postgres 16, decided in April.", "Which database does the archive use?"),
    ("项目代号是“白鹭”，预算三十万。", "项目的代号是什么？"),
    ("My bicycle is a red Koga with a broken bell.", "What bicycle do I have?"),
    ("车停在机场 P4 停车场，第 212 位。", "车停在机场哪个停车场？"),
    ("Doctor Amari wants a blood test before the operation.", "What does Doctor Amari want before the operation?"),
    ("周五晚上和 Ben 在老码头吃饭。", "周五晚上和 Ben 在哪里吃饭？"),
    (
        "The alarm code of the workshop changes on the first of each month.",
        "When does the workshop's alarm code change?",
    ),
    ("我妈妈喜欢百合花，不喜欢玫瑰。", "妈妈喜欢什么花？"),
    ("The translation of chapter nine is due on 30 November.", "When is the translation of chapter nine due?"),
    ("备份每天凌晨两点跑，盘在地下室。", "备份盘放在哪里？"),
    ("Grandfather's watch was repaired by Haas in Vienna.", "Who repaired grandfather's watch?"),
    ("我下个月搬到杭州，新地址还没有。", "我下个月搬到哪里？"),
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    said = script(tmp_path / "script.json", after="Understood, I have noted that.")
    return furnish(tmp_path, monkeypatch.setenv, said)


@pytest.fixture
def agent(root: Path) -> Iterator[RunService]:
    with opened(root) as made:
        yield made


def opened(root: Path) -> closing[RunService]:
    """The agent as a new process would have it, its index up to date."""
    workspace = open_workspace(root)
    index = open_index(workspace)
    index.refresh()
    return closing(build_runs(workspace, index))


def given(agent: RunService, session: str) -> str:
    """All that was put before the model of a session besides what was said; what the owner's block has comes once."""
    vault = agent.workspace.vault
    return "\n".join((load_session(vault, session).system, *given_texts(vault, session)))


def entries(vault: Vault) -> list[str]:
    return [path for path in vault.note_paths() if path.startswith("entries/")]


@pytest.mark.parametrize("count", [8, pytest.param(len(FACTS), marks=pytest.mark.chaos)])
def test_each_fact_is_known_in_a_new_session(root: Path, count: int) -> None:
    with opened(root) as talking:
        for number, (fact, _) in enumerate(FACTS[:count]):
            session = talking.ask(RunRequest(fact, CLI)).session
            talking.ask(RunRequest(f"And now something else, number {number}: how are you?", CLI), session)
            if number % 4 == 0:
                talking.ask(RunRequest("你好，今天天气怎么样？", CLI), session)
                talking.compact(session)
    with opened(root) as later:
        for fact, question in FACTS[:count]:
            ended = later.ask(RunRequest(question, CLI))
            assert fact in given(later, ended.session), question


def test_what_was_compacted_away_is_known_again_in_the_same_session(agent: RunService) -> None:
    fact, question = FACTS[0]
    session = agent.ask(RunRequest(fact, CLI)).session
    for number in range(8):
        agent.ask(RunRequest(f"Tell me about the number {number}.", CLI), session)
    agent.capturing.close()
    agent.recall.library.refresh()
    assert fact not in given(agent, session)
    agent.compact(session)
    agent.ask(RunRequest(question, CLI), session)
    assert any(fact in each for each in given_texts(agent.workspace.vault, session, "memories"))


def test_what_was_said_to_a_run_that_was_killed_is_no_fact(tmp_path: Path, root: Path) -> None:
    fact, question = FACTS[2]
    slow = settings(tmp_path, script(tmp_path / "slow.json", {"text": "Noted.", "seconds": 60}))
    run = subprocess.Popen(
        command(root, "ask", fact), env=environment(slow), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = SystemClock().monotonic() + 120
        while not (began := [path for path in (root / "sessions").rglob("*.md") if fact in path.read_text("utf-8")]):
            assert SystemClock().monotonic() < deadline and run.poll() is None
            SystemClock().sleep(0.05)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert len(began) == 1
    again = settings(tmp_path, script(tmp_path / "again.json", "Noted.", after="[]"))
    document(root, again, "ask", "What is two plus two?")
    assert entries(open_workspace(root).vault) == []


def test_a_run_s_memories_are_one_commit_and_go_with_it(tmp_path: Path, root: Path) -> None:
    own = settings(
        tmp_path,
        script(
            tmp_path / "tools.json",
            call("vault_list", path="."),
            call("vault_write", path="trip.md", content="# Trip\n"),
            "Done.",
        ),
    )
    asked = document(root, own, "ask", "Write a note for my trip to Lisbon")
    made = [line for line in git(root, "log", "--format=%s").splitlines() if line.startswith("session")]
    assert made == ["session: finished: Write a note for my trip to Lisbon"]
    vault = open_workspace(root).vault
    (trace,) = SessionTraces(vault).load()
    assert [step.tool for step in trace.steps] == ["vault_list", "vault_write"]
    tell(root, own, "undo", "--run", asked["run"])
    assert entries(vault) == []
    assert not (root / "trip.md").exists()


def test_what_a_model_saves_twice_is_one_note(tmp_path: Path, root: Path) -> None:
    save = call("memory_save", text="Clara lives in Lisbon.")
    again = call("memory_save", text="Clara lives in Lisbon!")
    own = settings(tmp_path, script(tmp_path / "saves.json", save, again, "Saved."))
    document(root, own, "ask", "Remember where Clara lives")
    vault = open_workspace(root).vault
    saved = [
        entry
        for path in entries(vault)
        if (entry := parse_entry(vault.read(path) or b"")) and entry.source == "memory_save"
    ]
    assert [entry.text for entry in saved] == ["Clara lives in Lisbon."]


def test_with_everything_switched_off_nothing_is_kept_and_nothing_recalled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for switch, value in (("AUTO_RECALL", "false"), ("AUTO_CAPTURE", "false"), ("CAPTURE", "off")):
        monkeypatch.setenv(f"VAULT_AGENT_MEMORY__{switch}", value)
    with opened(root) as agent:
        agent.ask(RunRequest(FACTS[0][0], CLI))
    with opened(root) as agent:
        ended = agent.ask(RunRequest(FACTS[0][1], CLI))
        assert FACTS[0][0] not in given(agent, ended.session)
    assert entries(open_workspace(root).vault) == []


def test_in_a_group_each_is_given_their_own_and_what_the_room_has_heard(root: Path) -> None:
    anna, ben = (Speaker("lark:room", name, group=True) for name in ("anna", "ben"))
    with opened(root) as agent:
        agent.ask(RunRequest("My locker number is 4417.", Speaker("lark:anna", "anna"), "guest"))
        agent.ask(RunRequest("The room's coffee machine takes tokens.", ben, "guest"))
    with opened(root) as agent:
        asked = agent.ask(RunRequest("What is the locker number, and what does the coffee machine take?", ben, "guest"))
        heard = given(agent, asked.session)
        assert "4417" not in heard
        assert "takes tokens" in heard
        asked = agent.ask(
            RunRequest("What is the locker number, and what does the coffee machine take?", anna, "guest")
        )
        heard = given(agent, asked.session)
        assert "4417" in heard
        assert "takes tokens" in heard
        assert "Green tea" not in heard, "a guest was given the owner's notes"


def test_a_run_stopped_by_its_person_leaves_no_fact(agent: RunService) -> None:
    agent.ask(RunRequest(FACTS[4][0], CLI), "", RunIO(cancelled=lambda: True))
    agent.capturing.close()
    close_cut_off(agent.workspace)
    assert entries(agent.workspace.vault) == []
