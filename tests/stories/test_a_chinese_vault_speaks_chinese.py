"""Everything that the program writes into the notes of a Chinese vault by itself, read as its owner reads it."""

import re
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.events.runs import Speaker
from agent.interfaces.cli.main import main
from agent.loop.records import RunRequest
from agent.markdown.note import Note
from agent.vault.waiting import commit_waiting
from tests.growth.reflections.desk import DAY, FEEDBACK, JUDGES, says
from tests.jobs.town import found, job
from tests.stories.agents import call, script, settings, ticked
from tests.vaults import git, write

KEYS = {"vault", "agent", "log", "undo", "status", "pending", "MEMORY", "AGENT", "SKILL"}
"""Words that a person types, and that name what they stand for in any language."""
_MARK = re.compile(r"^ *%%.*?%%$|^\|.*\|$", re.MULTILINE)
"""Lines for the program: comments, and the rows of a skill's history."""
_SIGNALS = re.compile(r"(?<= )\([0-9]\.[0-9]{2}, [^)\n]*\)$", re.MULTILINE)
"""What made a passage fit, by the names of the search's signals."""
_FOLDED = re.compile(r"^> ?(?:\[!quote\]- )?", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
_NO_WORDS = re.compile(
    r"vault-agent notices why \w+|\bjob-[0-9a-f]{6}\b|"
    r"\[\[[^\]]*?(?:\|([^\]]*))?\]\]|`[^`\n]*`|\b[\w./-]*[_/.][\w./-]*|\b[0-9A-Z]{26}\b"
)
_KEYED = "planned|started|took|missed|machine|outcome|delivery|session|cost|commits|attempt"
_FIELDS = re.compile(rf"\[(?:{_KEYED}):: [^\]\n]*\]+|\[reason:: ([^\]\n]*)\]")
"""The fields of a job's history: their names are for programs, and of their values only the reason is said."""
_AREA = re.compile(r"^[a-z-]+(?:\([\w, -]+\))?: ")
_WORD = re.compile(r"[A-Za-z]{3,}")
SKILL = """---
name: 泡茶
description: 泡一壶茶。
triggers: {intent_patterns: [泡茶]}
---
# 泡茶

烧水。
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in settings(tmp_path, tmp_path / "script.json").items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("VAULT_AGENT_MEMORY__LIFECYCLE")
    folder = tmp_path / "vault"
    assert main(["init", "--yes", str(folder), "--language", "zh", "--no-hooks"]) == 0
    git(folder, "config", "user.name", "Anna")
    git(folder, "config", "user.email", "anna@example.org")
    write(folder / "茶.md", "# 茶\n\n早上喝绿茶。\n")
    write(folder / "skills/泡茶/SKILL.md", SKILL)
    write(folder / "skills/learned/烧水/SKILL.md", SKILL.replace("泡茶", "烧水").replace("泡一壶茶", "烧一壶水"))
    monkeypatch.chdir(folder)
    return folder


def do(root: Path, *words: str, replies: tuple[object, ...] = (), code: int = 0) -> None:
    """A command as its owner types it, with what the model says meanwhile."""
    script(root.parent / "script.json", *replies)
    assert main([*words]) == code, words


def english(data: bytes) -> list[str]:
    """The English words that a reader of the note sees, without code, links, names of tools and keys."""
    body = _FOLDED.sub("", Note.parse(data).body)
    text = _NO_WORDS.sub(lambda found: found[1] or " ", _SIGNALS.sub("", _FENCE.sub("", _MARK.sub("", body))))
    return [word for word in _WORD.findall(text) if word not in KEYS]


def test_no_note_holds_english_of_the_programs_own(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    do(root, "skills", "review", "泡茶")
    do(root, "remember", "备用钥匙在小安那里")
    look, read = call("search_vault", query="绿茶"), call("vault_read", path="茶.md")
    for number in range(3):
        add = call("vault_append", path="预算.md", text=f"- 第{number}次旅行")
        do(root, "ask", f"算一下第{number}次旅行的预算", replies=(look, read, add, "写在预算里了。"))
    do(root, "ask", "帮我泡茶", replies=(call("vault_read", path="没有.md"), "没有这篇笔记。"))
    do(root, "ask", "以后都用敬语", replies=(call("vault_write", path="rules/敬语.md", content="用敬语。\n"), "好。"))
    do(root, "ask", "买哪种茶", replies=(call("human_ask", question="买哪种茶？", options=["绿茶", "红茶"]), "好。"))
    do(root, "config", "set", "run.steps", "2")
    do(root, "ask", "一直找下去", replies=tuple(call("search_vault", query=f"茶{n}") for n in range(9)), code=1)
    write(root / "inbox/问.md", "早上喝什么？\n")
    do(root, "run", "inbox/问.md", replies=("绿茶。",))
    write(root / "inbox/改.md", "改一下规则。\n")
    do(root, "run", "inbox/改.md", replies=(call("vault_write", path="rules/新.md", content="新\n"), "好。"))
    write(root / "inbox/多.md", "一直找。\n")
    do(root, "run", "inbox/多.md", replies=tuple(call("search_vault", query=f"水{n}") for n in range(9)), code=1)
    for _ in range(5):
        do(root, "skills", "feedback", "烧水", "not-helpful")
    do(root, "skills", "learn", replies=())
    do(root, "memory", "run")
    key = next(path.relative_to(root).as_posix() for path in (root / "entries").rglob("*备用钥匙*.md"))
    do(root, "forget", key, "--yes")
    made = [path for path in root.rglob("*.md") if path.read_bytes() != before.get(path)]
    folders = {path.relative_to(root).parts[0] for path in made}
    assert folders >= {"approvals", "questions", "sessions", "entries", "daily", "skills", "inbox", "archive"}
    said = {path.relative_to(root).as_posix(): english(path.read_bytes()) for path in made}
    assert {path: words for path, words in said.items() if words} == {}
    found_subjects = english_subjects(root)
    assert not found_subjects, "\n".join(found_subjects)


def english_subjects(root: Path, since: str = "") -> dict[str, list[str]]:
    """The English words in the subjects of commits, behind the area that programs read, such as `session: `."""
    subjects = git(root, "log", "--format=%s", *([f"{since}.."] if since else [])).splitlines()
    said = {each: _WORD.findall(_NO_WORDS.sub(" ", _AREA.sub("", each))) for each in subjects}
    return {each: left for each, words in said.items() if (left := [word for word in words if word not in KEYS])}


def is_over(root: Path) -> bool:
    """True once the evening's commit is made, and the reflection on the day is written, in whichever order."""
    looked_back = any("这一天整体" in path.read_text("utf-8") for path in (root / "reflections").rglob("*.md"))
    return looked_back and "\nevening: " in "\n" + git(root, "log", "--format=%s")


def test_a_day_with_the_daemon_is_chinese_in_notes_and_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    news = job(text="今天有什么新的？", title="新闻")
    town = found(tmp_path, monkeypatch.setenv)
    write(town.root / "vault-agent.yaml", "vault:\n  language: zh\n")
    town.write("jobs/新闻.md", news)
    town.write("jobs/浇花.md", job("{cron: '0 17 * * *'}", "提醒我浇花。", title="浇花", remind="true"))
    town.write("jobs/小时.md", job("{cron: '0 9-21 * * *'}", "看一下。", title="每小时", cooldown_seconds=40_000))
    town.write("jobs/问.md", job(text="收拾一下。", title="收拾", approval_required="true"))
    monkeypatch.setenv("VAULT_AGENT_REFLECTION__DEPTH", "all")
    words = '[{"part": "done", "text": "看了计划。", "from": ["K1"], "quote": "计划"}]'
    answer = """[{"part": "result", "text": "找到了。"}, {"part": "efficiency", "text": "多读了一次。"},
{"part": "error", "text": "笔记名不对。", "kind": "tool"},
{"part": "strategy", "text": "先搜再读。", "when": "找不到笔记", "effect": "少读错",
 "confidence": "high", "severity": "low"}]"""
    prompts = [says(each, answer) for each in (JUDGES, DAY, FEEDBACK)]
    town.says(*prompts, says("It is evening", words), says("You keep the memory", "[]"), after="在计划里。")
    made = git(town.root, "rev-parse", "HEAD").strip()
    before = {path: path.read_bytes() for path in town.root.rglob("*.md")}
    with town.daemon() as house:
        house.for_a_while(2)
        town.clock.pass_by(minutes=6)
        house.for_a_while(3)
        with opened_runs(town.workspace) as runs:
            runs.ask(RunRequest("看看计划", Speaker("cli")))
        write(town.root / "计划.md", "# 计划\n\n- 买茶\n")
        town.clock.pass_by(hours=8)
        house.for_a_while(3)
    town.clock.pass_by(hours=3)
    with town.daemon() as house:
        house.for_a_while(3)
        town.clock.pass_by(hours=2, minutes=30)
        house.until(lambda: is_over(town.root), "the evening is over, and the day is looked back at")
    commit_waiting(town.workspace.vault, apart=True)  # what was written after the evening's commit
    rows = "".join(path.read_text("utf-8") for path in (town.root / "jobs/history").glob("*.md"))
    assert "守护进程没有运行" in rows and "outcome:: skipped" in rows
    notes = [path for path in town.root.rglob("*.md") if path.read_bytes() != before.get(path)]
    said = {path: english(_FIELDS.sub(r"\1", path.read_text("utf-8")).encode()) for path in notes}
    assert {path: words for path, words in said.items() if words} == {}
    assert "- [ ] 批准\n- [ ] 拒绝\n" in next((town.root / "approvals").glob("*.md")).read_text("utf-8")
    assert "- 完成：看了计划。" in town.daily()
    assert english_subjects(town.root, made) == {}


def test_a_tick_in_a_chinese_note_is_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = call("vault_write", path="rules/敬语.md", content="用敬语。\n")
    do(root, "ask", "以后都用敬语", replies=(change, "好。"))
    (note,) = (root / "approvals").glob("*敬语*.md")
    note.write_text(ticked(note.read_text("utf-8"), "拒绝").replace("理由：", "理由：太客气了"), "utf-8")
    capsys.readouterr()
    do(root, "approvals", "show", note.relative_to(root).as_posix())
    said = capsys.readouterr().out
    assert "可以修改 rules/敬语.md 吗？" in said and "为什么要问：" in said and "+用敬语。" in said and "已拒绝" in said
