"""Flag, environment, machine, vault, default: the nearest wins, and says where it stands."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config.load import Loaded, SettingOrigin, load_settings, variable
from agent.config.settings import OF_ONE_VAULT, TRAVELS, keys, setting_type
from agent.errors import ConfigError

KEY = "git.quiet_seconds"


class Places:
    """Two files and an environment to put settings into."""

    def __init__(self, root: Path) -> None:
        self.vault = root / "vault"
        self.vault.mkdir()
        self.machine_file = root / "home" / "config" / "config.yaml"
        self.machine_file.parent.mkdir(parents=True)
        self.environ = {"VAULT_AGENT_HOME": str(root / "home")}

    def machine(self, text: str) -> None:
        self.machine_file.write_text(text, "utf-8")

    def travels(self, text: str) -> None:
        (self.vault / "vault-agent.yaml").write_text(text, "utf-8")

    def load(self, **flags: str) -> Loaded:
        return load_settings(
            self.vault, environ=self.environ, flags={key.replace("__", "."): flags[key] for key in flags}
        )


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_without_any_file_everything_is_a_default(places: Places) -> None:
    loaded = load_settings(environ=places.environ)
    assert {loaded.origin(key) for key in keys()} == {SettingOrigin("default")}
    assert (loaded.settings.git.quiet_seconds, loaded.settings.git.durable, loaded.settings.brake.notes) == (
        30.0,
        True,
        20,
    )


def test_each_nearer_place_wins(places: Places) -> None:
    assert places.load().origin(KEY).layer == "default"
    places.travels(f"git:\n  quiet_seconds: 20 # {KEY}\n")
    assert (places.load().settings.git.quiet_seconds, str(places.load().origin(KEY))) == (
        20.0,
        f"vault {places.vault / 'vault-agent.yaml'}:2",
    )
    places.machine("# mine\ngit: {quiet_seconds: 30}\n")
    assert (places.load().settings.git.quiet_seconds, str(places.load().origin(KEY))) == (
        30.0,
        f"machine {places.machine_file}:2",
    )
    places.environ["VAULT_AGENT_GIT__QUIET_SECONDS"] = "40"
    assert (places.load().settings.git.quiet_seconds, str(places.load().origin(KEY))) == (
        40.0,
        "environment VAULT_AGENT_GIT__QUIET_SECONDS",
    )
    flagged = places.load(git__quiet_seconds="50")
    assert (flagged.settings.git.quiet_seconds, flagged.origin(KEY)) == (50.0, SettingOrigin("flag"))


def test_an_empty_variable_counts_as_not_set(places: Places) -> None:
    places.environ["VAULT_AGENT_GIT__QUIET_SECONDS"] = ""
    assert places.load().origin(KEY).layer == "default"


def test_variables_that_are_no_settings_are_left_alone(places: Places) -> None:
    places.environ |= {"VAULT_AGENT_VAULT": "/somewhere", "VAULT_AGENT_DEBUG": "1"}
    assert places.load().origin(KEY).layer == "default"


@pytest.mark.parametrize("key", [key for key in keys() if key not in OF_ONE_VAULT])
def test_every_setting_has_its_variable(places: Places, key: str) -> None:
    kind = setting_type(key)
    example = kind.form.words.rpartition(" ")[2] if kind.form else "words"
    text = str(places.load().values[key]).lower() or example
    places.environ[variable(key)] = text
    loaded = places.load()
    assert (loaded.values[key], str(loaded.origin(key))) == (
        setting_type(key).read(text),
        f"environment {variable(key)}",
    )


@pytest.mark.parametrize("place", ["machine", "environment", "flag"])
def test_a_setting_named_as_no_python_name_may_be_counts(places: Places, place: str) -> None:
    if place == "machine":
        places.machine("channels:\n  mail:\n    from: agent@example.org\n")
    elif place == "environment":
        places.environ["VAULT_AGENT_CHANNELS__MAIL__FROM"] = "agent@example.org"
    flags = {"channels.mail.from": "agent@example.org"} if place == "flag" else {}
    loaded = places.load(**flags)
    assert loaded.settings.channels.mail.sender == "agent@example.org"
    assert loaded.origin("channels.mail.sender").layer == place


def test_off_is_a_word_and_not_false(places: Places) -> None:
    places.machine("git:\n  human_commits: off\n")
    assert places.load().settings.git.human_commits == "off"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("git:\n  quiet_secs: 3\n", 2, "no such setting"),
        ("git:\n  quiet_seconds: soon\n", 2, "not a number from 0 to 86,400 seconds"),
        ("git:\n  quiet_seconds: .nan\n", 2, "not a number"),
        ("git:\n  quiet_seconds: nan\n", 2, "not a number"),
        ("brake:\n  share: 1.5\n", 2, "from 0 to 1"),
        ("brake:\n  notes: 2.5\n", 2, "a whole number"),
        ("git:\n  durable: maybe\n", 2, "true or false"),
        ("\nvault:\n  language: fr\n", 3, "en or zh"),
        ("git:\n  durable: [true]\n", 2, "not a list"),
        ("git: 5\n", 1, "a section"),
        ("- git\n", 1, "expected `section:`"),
        ("git:\n  durable: &a true\n", 2, "aliases"),
        ("git:\n  durable: !!bool true\n", 2, "tags"),
        ("git:\n  durable: true\n  durable: true\n", 3, "second time"),
        ("a: 1\n---\nb: 1\n", 2, "second document"),
        ("git:\n  durable: 'true\n", 3, "not YAML"),
        ("<<<<<<< ours\ngit:\n", 1, "expected `section:`"),
        ("? [a]\n: b\n", 1, "one word"),
        ("a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: 1}}}}}}}}}}\n", 1, "too deeply"),
    ],
)
def test_a_mistake_in_the_machine_settings_names_file_and_line(places: Places, text: str, line: int, says: str) -> None:
    places.machine(text)
    with pytest.raises(ConfigError) as caught:
        places.load()
    assert caught.value.message.startswith(f"{places.machine_file}:{line}: ")
    assert says in caught.value.message


def test_an_unknown_key_lists_near_matches(places: Places) -> None:
    places.environ["VAULT_AGENT_GIT__QUITE_SECONDS"] = "3"
    with pytest.raises(ConfigError) as caught:
        places.load()
    assert "VAULT_AGENT_GIT__QUITE_SECONDS" in caught.value.message
    assert "git.quiet_seconds" in caught.value.hint


def test_a_key_in_the_wrong_section_is_found_in_the_right_one(places: Places) -> None:
    places.machine("vault:\n  notes: 3\n")
    with pytest.raises(ConfigError) as caught:
        places.load()
    assert "brake.notes" in caught.value.hint


def test_a_vault_sets_only_the_keys_that_may_travel(places: Places) -> None:
    places.travels(
        "vault:\n  language: zh\ngit:\n  durable: false\n  human_commits: off\nbrake:\n  notes: 100000\n"
        "llm:\n  base_url: http://evil\ncommands: [rm, -rf]\n"
    )
    loaded = places.load()
    assert {key for key in keys() if loaded.origin(key).layer == "vault"} == {"vault.language", "git.human_commits"}
    assert (loaded.settings.git.durable, loaded.settings.brake.notes) == (True, 20)
    assert [warning.split(":")[1] for warning in loaded.warnings] == ["4", "7", "9", "10"]
    assert "vault-agent config set git.durable" in loaded.warnings[0]
    assert not any("http://evil" in warning for warning in loaded.warnings)


def test_what_may_travel_is_this_and_no_more() -> None:
    """A longer list is a decision about strangers' vaults: change this test together with the reason in `TRAVELS`."""
    assert sorted(TRAVELS) == [
        "git.human_commits",
        "git.quiet_seconds",
        "inbox.every_note",
        "sync.interval_seconds",
        "sync.quiet_seconds",
        "vault.folder",
        "vault.language",
        "vault.private",
    ]
    assert set(keys()) >= TRAVELS


def test_a_vault_full_of_unknown_keys_gives_few_and_harmless_warnings(places: Places) -> None:
    places.travels("".join(f'"\\e[2J{number}": x\n' for number in range(500)))
    warnings = places.load().warnings
    assert len(warnings) == 21
    assert all(warning.isprintable() and len(warning) < 200 for warning in warnings)


def test_a_wrong_value_for_a_key_that_travels_is_an_error_and_not_guessed_away(places: Places) -> None:
    places.travels("git:\n  human_commits: of\n")
    with pytest.raises(ConfigError, match=r"vault-agent\.yaml:2: git\.human_commits"):
        places.load()


def test_a_vault_cannot_point_its_settings_at_another_file(places: Places, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("vault:\n  language: zh\n", "utf-8")
    (places.vault / "vault-agent.yaml").symlink_to(tmp_path / "other.yaml")
    with pytest.raises(ConfigError, match="symbolic link"):
        places.load()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"#" * 20_000, "larger than 16 KB"),
        (b"vault:\n  language: \xff\n", r":2: not UTF-8"),
        (b"a: " + b"[" * 16_000, "not YAML"),
        (b"a: \x07\n", "not YAML"),
    ],
)
def test_a_hostile_settings_file_is_refused(places: Places, data: bytes, says: str) -> None:
    (places.vault / "vault-agent.yaml").write_bytes(data)
    with pytest.raises(ConfigError, match=says):
        places.load()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_settings_file_that_is_no_file_is_refused_at_once(places: Places, make: Callable[[Path], None]) -> None:
    make(places.vault / "vault-agent.yaml")
    with pytest.raises(ConfigError, match="is not a file"):
        places.load()


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "git:\nvault: # nothing yet\n", "\ufeffgit:\n  durable: yes\n"]
)
def test_a_file_that_says_little_is_fine(places: Places, text: str) -> None:
    places.machine(text)
    assert places.load().settings.git.durable is True


def test_asking_where_an_unknown_setting_comes_from_is_an_error(places: Places) -> None:
    with pytest.raises(ConfigError, match="no such setting"):
        places.load().origin("git.nothing")


def test_a_setting_that_nothing_reads_any_more_is_said_and_a_former_name_counts() -> None:
    loaded = load_settings(
        environ={"VAULT_AGENT_MEMORY__ASK_FOR_WORDS": "true", "VAULT_AGENT_MEMORY__MAX_RECALLS": "3"}
    )
    assert loaded.settings.context.memories == 3
    assert ["memory.ask_for_words" in each for each in loaded.warnings] == [True]


def test_a_file_with_a_section_that_nothing_reads_any_more_is_read(places: Places) -> None:
    places.machine("growth:\n  gate:\n    tasks: 3\n    spend: 0.5\n  mutations:\n    uses: 200\n    pause_days: 3\n")
    loaded = places.load()
    assert loaded.settings.growth.mutations.pause_days == 3 and len(loaded.warnings) == 3


def test_a_value_that_a_setting_had_once_counts_as_its_nearest() -> None:
    assert load_settings(environ={"VAULT_AGENT_MEMORY__CAPTURE": "turns"}).settings.memory.capture == "facts"


@pytest.mark.parametrize("name", ["CONTEXT__TOOLS", "GROWTH__GATE__TASKS", "REFLECTION__ERROR_SECONDS"])
def test_each_setting_that_nothing_reads_any_more_stops_nothing(name: str) -> None:
    (said,) = load_settings(environ={f"VAULT_AGENT_{name}": "5"}).warnings
    assert f"VAULT_AGENT_{name}" in said and "does nothing any more" in said
