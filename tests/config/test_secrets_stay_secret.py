"""A secret is fetched by reference when it is used, and never shown."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.directories import VAULT_FILE
from agent.config.masking import redact
from agent.config.secrets import Secret, known_secrets, reveal, save_key, secrets_in
from agent.config.values import SettingType, build, setting_types
from agent.errors import MissingKey

PLAIN = "sk-12345"


@dataclass(frozen=True, slots=True)
class Service:
    api_key: Secret


@dataclass(frozen=True, slots=True)
class All:
    service: Service


def kept(name: str) -> str | None:
    return {"work": "from the keyring"}.get(name)


def test_a_reference_leads_to_its_value() -> None:
    assert reveal(Secret("env:KEY"), {"KEY": PLAIN}) == PLAIN
    assert reveal(Secret("keyring:work"), {}, kept) == "from the keyring"
    assert reveal(Secret(PLAIN), {}) == PLAIN


@pytest.mark.parametrize(
    ("reference", "hint"),
    [("env:KEY", "export KEY="), ("keyring:home", "keyring set vault-agent home"), ("", "env:NAME")],
)
def test_a_reference_that_leads_nowhere_says_what_to_do(reference: str, hint: str) -> None:
    with pytest.raises(MissingKey) as caught:
        reveal(Secret(reference), {}, kept)
    assert hint in caught.value.hint


def test_a_key_in_a_file_is_found_masked_and_kept_out_of_vaults(tmp_path: Path) -> None:
    kept_at = save_key(tmp_path / "keys", "work", f"{PLAIN}\n")
    assert reveal(Secret(f"file:{kept_at}")) == PLAIN
    assert known_secrets(secrets_in([All(Service(Secret(f"file:{kept_at}")))]), {}) == (PLAIN,)
    with pytest.raises(MissingKey, match="the file is missing or empty"):
        reveal(Secret(f"file:{tmp_path}/none"))
    with pytest.raises(MissingKey, match="no whole path"):
        reveal(Secret("file:keys/work"))
    with pytest.raises(MissingKey, match="no file with a key"):
        reveal(Secret(f"file:{tmp_path}"))
    (tmp_path / VAULT_FILE).write_text("")
    with pytest.raises(MissingKey, match="lies in the vault"):
        reveal(Secret(f"file:{kept_at}"))


def test_an_empty_variable_is_no_secret() -> None:
    with pytest.raises(MissingKey, match="env:KEY"):
        reveal(Secret("env:KEY"), {"KEY": ""})


def test_printing_a_secret_shows_at_most_its_reference() -> None:
    assert (str(Secret(PLAIN)), repr(Secret(PLAIN)), f"{Secret('env:KEY')}") == ("***", "Secret(***)", "env:KEY")
    assert PLAIN not in repr(All(Service(Secret(PLAIN))))


def test_a_setting_of_any_section_can_be_a_secret() -> None:
    assert setting_types(All)["service.api_key"] == SettingType(Secret)
    value = setting_types(All)["service.api_key"].read(" env:KEY ")
    assert build(All, {"service.api_key": value}) == All(Service(Secret("env:KEY")))


def test_redaction_finds_the_longer_secret_and_its_form_in_a_url() -> None:
    assert redact("a=abc&b=abcdef", ["abc", "abcdef", ""]) == "a=***&b=***"
    assert redact("?key=p%2F%3Fq", ["p/?q"]) == "?key=***"
    assert redact("nothing here", []) == "nothing here"


WORDS = st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(WORDS), st.lists(WORDS))
def test_no_secret_survives_redaction(secrets: list[str], text: list[str]) -> None:
    shown = redact("".join(part + secret for part, secret in zip(text, secrets, strict=False)), secrets)
    assert not any(secret in shown for secret in secrets)
