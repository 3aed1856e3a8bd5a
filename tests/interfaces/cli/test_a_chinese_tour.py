"""A tour of the commands in a Chinese vault: nothing that they print is an English sentence, and JSON stays English."""

import io
import json
import re
from pathlib import Path

import click
import pytest

from agent.interfaces.cli.commands import COMMANDS
from agent.interfaces.cli.language import speak
from agent.interfaces.cli.loading import load_command
from agent.interfaces.cli.main import main
from agent.texts import translated
from tests.growth.reflections.desk import JUDGES, says
from tests.remotes import make_remote
from tests.stories.agents import script, settings

KEY = "SHA256:" + "0" * 43
WELL: dict[str, list[list[str]]] = {
    "init": [["{v}", "--restore"], ["{new}", "--yes", "--language", "zh"]],
    "daemon": [],
    "serve": [["browsers"]],
    "search": [["图书馆"], ["zzzzzzzz"], ["图书馆", "--explain"]],
    "recall": [["图书馆"], ["zzzzzzzz", "--all"], ["今天做什么", "--explain"]],
    "ask": [["图书馆在哪里"], ["--note", "请求二"]],
    "channels": [[], ["add", "webhook", "url=http://127.0.0.1:9/"], ["list"], ["test", "daily"]],
    "chat": [],
    "run": [["请求.md"]],
    "approvals": [[]],
    "needs": [[]],
    "bench": [],
    "commit": [[], []],
    "ask-for-program": [],
    "program-session": [["end", "--as", "codex"]],
    "clone": [],
    "config": [["list"], ["get", "llm.model"], ["set", "log.level", "error"], ["unset", "log.level"]],
    "completion": [],
    "context": [["--explain", "今天做什么"]],
    "diff": [[], ["HEAD"]],
    "doctor": [[], ["--fix"]],
    "forget": [["今天.md", "--dry-run"], ["别处.md", "--yes"]],
    "get": [["今天.md"]],
    "help": [[]],
    "history": [["pack"], ["squash", "--older-than", "1y"], ["squash", "--older-than", "0d", "--dry-run"]],
    "hook": [["pre-commit"]],
    "records": [[]],
    "capture": [["买牛奶"], ["好店", "--today"]],
    "import": [["旧", "--dry-run", "--from", "older-layout"], ["memory", "report"]],
    "jobs": [
        [],
        *([each, "早"] for each in ("show", "next", "run", "pause", "resume", "history", "log")),
        ["add", "明天早上九点问好"],
        ["tasks", "types"],
    ],
    "index": [[]],
    "lessons": [[], ["learn"], ["beliefs"], ["reflect"]],
    "log": [
        [],
        ["-n", "1"],
        ["--until", "2001-01-01"],
        ["--pack"],
        ["--squash", "1y"],
        ["--squash", "0d", "--dry-run"],
    ],
    "acp": [],
    "obsidian": [["install", "--zip", "{merge}/插件.zip"], ["install", "--dry-run"], ["install", "--yes"], ["install"]],
    "mcp": [
        ["install", "--client", "cursor", "--dry-run"],
        *(["install", "--client", "codex", *more] for more in ([], [], ["--remove"], ["--remove"])),
    ],
    "memory": [["report"], ["run", "--dry-run"]],
    "merge-driver": [["{merge}/base.md", "{merge}/ours.md", "{merge}/theirs.md", "今天.md"]],
    "metrics": [[]],
    "node": [["--check"]],
    "notices": [["list"]],
    "notify": [["水在烧"], ["水在烧"], ["不急", "--priority", "0.2"], ["着火了", "--urgent"]],
    "profile": [
        [],
        ["init", "--language", "zh"],
        ["show"],
        ["show", "22"],
        ["layers"],
        ["search", "目标"],
        ["history"],
        ["status"],
    ],
    "browsers": [[]],
    "questions": [[]],
    "reindex": [["--all"]],
    "remember": [["小安喜欢绿茶"], ["小安喜欢绿茶"]],
    "skills": [["stats"], ["match", "计划今天", "--explain"], ["suggest"], ["learn"], ["review"], ["validate"]],
    "sleep": [],
    "status": [[], ["--notes"], ["--metrics"]],
    "sync": [
        *(["status"], ["pause"], ["resume"], ["doctor"]),
        *(["sign"], ["doctor"], ["sign", "--off"]),
        *(["setup", "{remote}", "--only-me"], ["status"], ["remove", "origin"]),
    ],
    "tasks": [
        [],
        ["types"],
        ["add", "explore_topic", "图书馆", "--due", "2h"],
        ["list"],
        ["show", "图书馆"],
        ["cancel", "图书馆", "--reason", "不用了"],
        ["run", "upkeep"],
        ["history"],
    ],
    "reflect": [[]],
    "research": [["图书馆"]],
    "rules": [["list"], ["learn"]],
    "trust": [[], ["--key", KEY], [], ["--forget-key", KEY]],
    "why": [],
    "wake": [],
    "undo": [
        ["HEAD", "--dry-run"],
        ["HEAD"],
        ["--since", "1d", "--dry-run"],
        ["--actor", "mcp:x", "--dry-run"],
        ["--last", "--dry-run"],
    ],
}
"""Harmless lines of each command; `{v}` is the vault, `{new}` a new folder with a file, `{merge}` three versions of a
note, `{remote}` an empty repository."""
WRONG = {
    "capture": ["--file", "没有.png"],
    "init": ["{v}", "--language", "xx"],
    "daemon": ["/nowhere"],
    "serve": ["--listen", "0.0.0.0"],
    "search": ["图", "--as-of", "someday"],
    "recall": [""],
    "reflect": ["--day", "someday"],
    "research": [" "],
    "rules": ["show", "没有"],
    "ask": ["--resume", "nothing"],
    "ask-for-program": ["mcp:x"],
    "program-session": ["begin"],
    "channels": ["test", "没有"],
    "chat": ["--resume", "nothing"],
    "run": ["没有.md"],
    "approvals": ["show", "zzzzzz"],
    "needs": ["answer", "zzzzzz", "好"],
    "bench": ["nothing"],
    "commit": ["--nothing"],
    "completion": ["tcsh"],
    "clone": ["没有", "{new}"],
    "config": ["set", "llm.preset", "nothing"],
    "context": ["--explain", " "],
    "diff": ["zzzz"],
    "doctor": ["--vault", "{new}", "too", "many"],
    "forget": ["没有.md"],
    "get": ["没有"],
    "history": ["squash", "--older-than", "someday"],
    "hook": ["nothing"],
    "records": ["too many"],
    "import": ["--nothing"],
    "index": ["too", "many"],
    "lessons": ["show", "没有"],
    "help": ["没有"],
    "jobs": ["show", "没有"],
    "log": ["--since", "someday"],
    "acp": ["没有"],
    "obsidian": ["install", "--zip", "没有/x.zip"],
    "mcp": ["--tools", "没有"],
    "memory": ["nothing"],
    "merge-driver": ["nothing"],
    "metrics": ["--since", "someday"],
    "node": ["--port", "70000"],
    "notices": ["show", "zzzzzz"],
    "notify": ["好", "--channel", "没有"],
    "profile": ["show", "没有"],
    "questions": ["answer", "zzzzzz", "好"],
    "reindex": ["too", "many"],
    "remember": [" "],
    "skills": ["show", "nobody"],
    "sleep": [],
    "status": ["--nothing"],
    "sync": ["setup", "没有"],
    "tasks": ["add", "nothing", "没有"],
    "browsers": ["end", "没有"],
    "trust": ["没有.md"],
    "why": ["zzzzzz"],
    "wake": ["醒"],
    "undo": ["zzzz"],
}
LOOKED_BACK = """[{"part": "result", "text": "问的事有了回答。"}, {"part": "efficiency", "text": "多读了一次。"},
{"part": "error", "text": "笔记的名字不对。", "kind": "tool"},
{"part": "strategy", "text": "先搜索，再读笔记。", "when": "找不到笔记", "effect": "少读错",
 "confidence": "high", "severity": "low"}]"""
COMMAND = re.compile(
    r"vault-agent(?: [a-z]+){0,2}(?![a-z])|`[^`]*`|\S*[/_.=-]\S*|eval \"[^\"]*\"|'[^']*'|(?:\b[a-z]+: )+|new file mode"
    r"|\w+\(\w+\): .*"
)
SENTENCE = re.compile(r"(?:\b[A-Za-z][a-z]+\b[ ,:;]+){2}\b[a-z]+\b")


def english(printed: str) -> list[str]:
    """The lines in which three English words follow each other that are no command, path, option, setting or
    subject of a commit."""
    return [line for line in printed.splitlines() if SENTENCE.search(COMMAND.sub("·", line))]


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Chinese vault with a few notes and a folder of memories of an older layout."""
    folder = tmp_path_factory.mktemp("tour")
    root = folder / "笔记"
    for path, text in {
        "今天.md": "# 今天\n\n去图书馆。\n",
        "别处.md": "别处的事。\n",
        "请求.md": "---\nagent: ask\n---\n图书馆在哪里？\n",
        "请求二.md": "---\nagent: ask\n---\n图书馆在哪里？\n",
        "旧/别的.txt": "别的\n",
        ".gitignore": "*.tmp\n",
        ".obsidian/app.json": "{}\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("VAULT_AGENT_HOME", str(folder / "home"))
        assert main(["init", str(root), "--yes", "--under", "/", "--language", "zh"]) == 0
    (root / "jobs").mkdir()
    for name, on in {"早": '{cron: "0 9 * * *"}', "变": "{change: 日记/**}", "错": "{cron: 每天}"}.items():
        (root / f"jobs/{name}.md").write_text(f"---\ntype: job\non: {on}\n---\n说你好。\n", "utf-8")
    (root / "新.md").write_text("新的。\n", "utf-8")
    (folder / "merge").mkdir()
    for name, text in {"base.md": "在家。\n", "ours.md": "去图书馆。\n", "theirs.md": "去公园玩。\n"}.items():
        (folder / "merge" / name).write_text(text, "utf-8")
    (folder / "new").mkdir()
    make_remote(folder / "remote.git")
    (folder / "new" / "图.bin").write_bytes(b"\0")
    return root


@pytest.fixture(autouse=True)
def home(chinese: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(chinese.parent / "home"))
    monkeypatch.setenv("CODEX_HOME", str(chinese.parent / "codex"))
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.chdir(chinese)


def placed(args: list[str], chinese: Path) -> list[str]:
    folder = chinese.parent
    places = {"v": chinese, "new": folder / "new", "merge": folder / "merge", "remote": folder / "remote.git"}
    return [each.format(**places) for each in args]


def test_the_tour_knows_every_command() -> None:
    assert WELL.keys() == WRONG.keys() == COMMANDS.keys()


def test_a_sentence_is_recognised() -> None:
    assert english("error: nothing was written") and english("没有：small talk brings nothing up")
    assert not english("vault-agent skills review NAME\n提示：vault-agent undo --yes\n  tea  程序自带\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_is_chinese(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert english(capsys.readouterr().out) == []


def test_the_help_of_every_option_has_a_translation() -> None:
    speak("en")
    assert [each for name in COMMANDS for each in helps(load_command(name)) if translated(each, "zh") == each] == []


def helps(command: click.Command) -> list[str]:
    """The help of a command's options, and of those of its commands; without what is a command line."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    options = [each.help for each in command.params if isinstance(each, click.Option) and each.help]
    return [*options, *(each for one in inner for each in helps(one))]


def test_what_each_command_prints_is_chinese(chinese: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    judges = settings(chinese.parent, script(chinese.parent / "script.json", says(JUDGES, LOOKED_BACK)))
    for name, args in ((name, args) for name, lines in WELL.items() for args in lines):
        with pytest.MonkeyPatch.context() as patched:
            for key, value in judges.items() if "reflect" in (name, *args) else ():  # nothing else needs a model
                patched.setenv(key, value)
            patched.setattr("sys.stdin", io.StringIO())
            code = main([name, *placed(args, chinese)])
        printed = capsys.readouterr()
        found += [(name, code, printed.err)] if code not in {0, 1} else []
        if name != "skills":  # the skills that come with the program are written in English
            found += [(name, code, line) for line in english(printed.out + printed.err)]
    assert found == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_chinese(name: str, chinese: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, *placed(WRONG[name], chinese)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("错误：") and english(printed.err) == []


@pytest.mark.parametrize("name", WRONG)
def test_json_stays_english(name: str, chinese: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", name, *placed(WRONG[name], chinese)]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    told = (error["message"] + error["hint"]).replace(str(chinese), "").replace("没有", "")
    assert not re.search(r"[\u4e00-\u9fff]", told)


def test_without_a_command_it_is_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert english(capsys.readouterr().out) == []
