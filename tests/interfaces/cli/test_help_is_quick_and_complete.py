"""Help names every command and its exit codes, and loads nothing that it does not need."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from agent.interfaces.cli.commands import COMMANDS, HEADINGS, usual
from agent.interfaces.cli.loading import load_command
from agent.interfaces.cli.main import cli, main
from agent.interfaces.cli.printing import columns
from agent.texts import Language
from tests.vaults import make_vault

WRITTEN = [name for name, lazy in COMMANDS.items() if find_spec(lazy.module, "agent.interfaces.cli")]
HEAVY = (
    "yaml git gitdb frontmatter markdown_it platformdirs ulid re2 agent.config.load agent.vault agent.markdown asyncio"
)


def printed(capsys: pytest.CaptureFixture[str], option: str) -> str:
    assert main([option]) == 0
    return capsys.readouterr().out


def test_help_lists_the_usual_commands_in_five_groups(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "-h")
    headings = [line.removesuffix(":") for line in out.splitlines() if line.removesuffix(":") in HEADINGS.values()]
    assert (headings, len(usual())) == ([*HEADINGS.values()], 31)
    text = " ".join(out.split())
    for name, lazy in COMMANDS.items():
        assert (f" {name} {lazy.help}" in text) is (name in usual())


def test_help_all_lists_the_others_and_what_old_names_are_called_now(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(printed(capsys, "--help-all").split())
    for name, lazy in COMMANDS.items():
        assert f"{name} {f'vault-agent {lazy.now}' if lazy.now else lazy.help}" in text


@pytest.mark.parametrize("name", [name for name, lazy in COMMANDS.items() if lazy.now])
def test_an_old_name_is_a_command_or_an_option_of_its_new_home(name: str) -> None:
    home, *rest = COMMANDS[name].now.split()
    command, context = load_command(home), click.Context(cli)
    assert home in usual()
    for word in rest:
        if word.startswith("--"):
            assert word in {option for parameter in command.params for option in parameter.opts}
        else:
            assert isinstance(command, click.Group)
            found = command.get_command(context, word)
            assert found is not None
            command = found


def test_a_word_that_is_no_command_below_is_still_the_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert main(["daemon", nowhere]) == 2
    assert nowhere in capsys.readouterr().err
    assert main(["import", str(tmp_path), "more"]) == 2
    assert "more" in capsys.readouterr().err
    root = str(make_vault(tmp_path, {}).place.root)
    assert main(["daemon", "--vault", root, "--json", "wake"]) == 2
    assert "no daemon runs here" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from agent.interfaces.cli.main import main; assert main(['--help']) == 0;"
        f"print([name for name in {HEAVY.split()!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_draws_on_a_terminal_is_loaded_for_a_terminal_only() -> None:
    code = (
        "import sys; from agent.interfaces.cli.loading import load_command;"
        f"[load_command(name) for name in {WRITTEN!r}];"
        "print([name for name in ('rich', 'prompt_toolkit', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", WRITTEN)
def test_every_help_ends_with_exit_codes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for path in commands_below([name], load_command(name)):
        assert main([*path, "--help"]) == 0
        closing = capsys.readouterr().out.partition("Exit codes:")[2].split("\n")
        assert [line.split()[0] for line in closing if line.strip()][-1] == "75"
        assert "0   done" in closing[1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_help_fits_a_narrow_terminal(
    language: Language, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8" if language == "zh" else "en_US.UTF-8")
    for name in WRITTEN:
        for path in commands_below([name], load_command(name)):
            assert main([*path, "--help"]) == 0
    wide = [line for line in capsys.readouterr().out.splitlines() if columns(line.rstrip()) > 40]
    whole = ("vault-agent completion", "claude-code|")  # a line to be copied, and a word
    assert [line for line in wide if not any(each in line for each in whole)] == []


def commands_below(path: list[str], command: click.Command) -> list[list[str]]:
    if not isinstance(command, click.Group):
        return [path]
    context = click.Context(command)
    children = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [path] + [each for name, child in children if child for each in commands_below([*path, name], child)]


def test_group_help_states_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.partition("Exit codes:\n")[2].splitlines()] == ["0", "1", "2", "70", "75"]


def test_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("vault-agent 0.")
    assert main(["--json", "--version"]) == 0
    assert '"version": "0.' in capsys.readouterr().out


def test_no_command_takes_a_shared_option_s_name_twice() -> None:
    for name in WRITTEN:
        options = [option for parameter in load_command(name).params for option in parameter.opts]
        assert len(options) == len(set(options))
    assert cli.list_commands(click.Context(cli))[0] == "ask"


@pytest.mark.parametrize("name", ["status", "remember", "changes", "notes"])
def test_everyday_commands_load_no_search_engine(name: str) -> None:
    heavy = "{'numpy', 'usearch', 'whoosh', 'tantivy', 'wordllama', 'model2vec', 'watchdog'}"
    code = f"import sys, agent.interfaces.cli.{name}; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


READING = (
    "git yaml hashlib tempfile shutil socket subprocess ctypes difflib agent.vault.write.writer agent.vault.change "
    "agent.index"
)
LOOKING = (
    "http email socket numpy whoosh ctypes tempfile difflib agent.events agent.tools agent.memory agent.skills "
    "agent.background.pool agent.llm.presets agent.runs.decisions agent.runs.machines agent.app.notice_ledger "
    "agent.vault.history agent.vault.write.writer agent.vault.write.journal agent.vault.message agent.vault.secrets"
)
FINDING = "yaml agent.events agent.loop agent.llm agent.tools agent.vault.write.writer agent.vault.provenance"


@pytest.mark.parametrize(
    ("words", "most", "dataclasses", "unwanted"),
    [
        (["get", "tea.md"], 195, 2, READING),
        (["status"], 350, 2, LOOKING),
        (["search", "green tea"], 500, 10, FINDING),
    ],
    ids=["get", "status", "search"],
)
def test_a_command_loads_what_it_needs(
    tmp_path: Path, words: list[str], most: int, dataclasses: int, unwanted: str
) -> None:
    """A module takes a third of a millisecond to load, and a dataclass one to make; of both there are thousands. What
    may be needed is loaded when it is."""
    root = make_vault(tmp_path, {"tea.md": "---\nid: tea\ntype: note\n---\n# Green tea\n"}).place.root
    code = (
        "import atexit, dataclasses, sys; make, made = dataclasses._process_class, []\n"
        "def counted(cls, *rest, **more): made.append(cls); return make(cls, *rest, **more)\n"
        "dataclasses._process_class = counted\n"
        "atexit.register(lambda: print('\\n', len(sys.modules), len(made), *sys.modules))\n"
        "from agent.interfaces.cli.entry import run; run()"
    )
    command = [sys.executable, "-c", code, "--vault", str(root), *words]
    env = {**os.environ, "VAULT_AGENT_HOME": str(tmp_path / "home")}
    for _ in range(2):  # the first search builds the index
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    modules, classes, *names = done.stdout.splitlines()[-1].split()
    assert [each for each in unwanted.split() if each in names] == []
    assert (int(modules) <= most, int(classes) <= dataclasses) == (True, True), (modules, classes)


@pytest.mark.parametrize("words", ["jobs", "jobs tasks", "needs", "skills list", "rules list"])
def test_what_only_looks_does_not_load_the_agent(tmp_path: Path, words: str) -> None:
    root = make_vault(tmp_path, {"tea.md": "# Green tea\n"}).place.root
    heavy = "{'agent.app.agent', 'agent.runs.service', 'agent.loop.run', 'agent.growth.task_work'}"
    code = (
        f"import atexit, sys; atexit.register(lambda: print(*({heavy} & set(sys.modules)), 'end'))\n"
        "from agent.interfaces.cli.entry import run; run()"
    )
    command = [sys.executable, "-c", code, "--vault", str(root), *words.split()]
    env = {**os.environ, "VAULT_AGENT_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.splitlines()[-1] == "end"
