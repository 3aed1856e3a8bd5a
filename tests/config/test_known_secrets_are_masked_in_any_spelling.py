"""A known value is masked however it is spelled, and text that does not hold it stays as it is."""

import base64
import html
import json
import string
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.masking import KnownSecrets, count_secrets, keep_out_of_print, printable, printable_bytes, redact
from agent.config.secrets import Secret, known_secrets, not_looked_up, secrets_of
from agent.llm.redaction import RedactedStream
from agent.memory.entry import slug

ALPHABETS = (
    string.hexdigits.lower()[:16],
    string.digits,
    string.ascii_lowercase,
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "-_",
    string.ascii_letters + string.digits + "+/=",
    string.ascii_letters + string.digits + "!\"#$%&'()*,.:;<>?@[\\]^`{|}~",
    string.ascii_letters + "äöüßéñ密钥码",
)
SECRETS = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, min_size=12, max_size=80))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
KEY = "0f3c9a7b+e1d24c5f/8a6b7c8d-9e0f1a2b"


def spelled(secret: str) -> list[str]:
    """The secret as a program writes it into an address, a document or a page."""
    data = secret.encode()
    inside = base64.b64encode(b"key: " + data + b", keep it").decode()
    encoded = base64.b64encode(data).decode().rstrip("=")
    return [
        secret,
        secret.lower(),
        secret.upper() if secret.isascii() else secret,
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps({"key": secret}, ensure_ascii=False),
        html.escape(secret),
        data.hex(),
        data.hex().upper(),
        encoded,
        encoded.translate(str.maketrans("+/", "-_")),
        inside,
    ]


@given(SECRETS, TEXTS, TEXTS, st.integers(0, 12))
def test_no_spelling_of_a_secret_is_left(secret: str, before: str, after: str, which: int) -> None:
    shown = redact(f"{before} {spelled(secret)[which]} {after}", [secret])
    for form in spelled(secret)[:-1]:
        assert form == json.dumps({"key": secret}, ensure_ascii=False) or form not in shown
    assert secret.lower() not in shown.lower() and count_secrets(shown, [secret]) == 0


@given(SECRETS, st.sampled_from((" ", "-", "\n", "\n> ", "\\n", " - ", "_", "\u200b", "\r\n\t", "` `")), st.data())
def test_a_secret_in_pieces_is_masked(secret: str, between: str, data: st.DataObject) -> None:
    letters = "".join(letter for letter in secret if letter.isascii() and letter.isalnum())
    if len(letters) < 12:
        return
    cut = data.draw(st.integers(1, len(letters) - 1))
    told = letters[:cut] + between + letters[cut:]
    assert letters[:cut] + between not in redact(f"= {told} =", [letters])
    assert redact(" ".join(letters), [letters]) == "***"


@given(SECRETS, st.lists(st.integers(0, 200), max_size=12), TEXTS)
def test_a_secret_that_comes_in_pieces_is_never_handed_on(secret: str, cuts: list[int], around: str) -> None:
    told, handed = f"{around} {secret} {around}", list[str]()
    passed = RedactedStream(handed.append, (secret,))
    last = 0
    for cut in sorted(cuts):
        passed(told[last:cut])
        last = max(last, cut)
    passed(told[last:])
    passed.end()
    assert secret.lower() not in "".join(handed).lower()


@given(SECRETS, st.text("abc xyz,.\n\\密", max_size=80))
def test_other_text_stays_as_it_is(secret: str, text: str) -> None:
    known = KnownSecrets([secret + "0123456789"])
    assert known.mask(text) == text and known.count(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "my key is 0f3c9a7b+e1d24c5f/8a6b7c8d-9e0f1a2b.",
        "notes/0F3C9A7B-E1D24C5F-8A6B7C8D-9E0F1A2B.md",
        "0f3c9a7b+e1d2\n    > 4c5f/8a6b7c8d-9e0f1a2b",
        slug(f"my key is {KEY}"),
    ],
)
def test_what_becomes_of_a_key_in_names_and_quotes_is_known(text: str) -> None:
    assert count_secrets(text, [KEY]) == 1 and "9e0f1a2b" not in redact(text, [KEY]).lower()


def test_values_that_are_words_are_not_masked() -> None:
    known = KnownSecrets(["none", "ollama", "test", ""])
    assert known.values == () and known.mask("test of ollama, none left") == "test of ollama, none left"


def test_a_short_number_is_found_as_it_is_and_not_in_a_list_of_numbers() -> None:
    assert count_secrets("12345678", ["12345678"]) == 1
    assert count_secrets("1, 2, 3, 4, 5, 6, 7, 8", ["12345678"]) == 0


def test_what_is_left_on_both_sides_makes_no_other_secret() -> None:
    key = "mysecretkey-0123"
    assert count_secrets(redact(f"my{key}key-0123", [key], "[secret]"), [key]) == 0


def test_the_environment_and_the_settings_are_known_and_references_are_not() -> None:
    environ = {
        "VAULT_AGENT_LLM__API_KEY": "env:WORK",
        "VAULT_AGENT_CHANNEL__TOKEN": "channel-token-1",
        "OPENAI_API_KEY": "a-key-of-a-provider",
        "WORK": "a-key-of-the-settings",
        "VAULT_AGENT_VAULT": "/home/anna/notes",
        "GITHUB_TOKEN": "not-ours-to-know",
    }
    assert secrets_of(environ) == ("a-key-of-a-provider", "channel-token-1")
    assert "a-key-of-the-settings" in known_secrets([Secret("env:WORK")], environ)
    assert known_secrets([Secret("keyring:work")], {}, lambda name: f"{name}-in-keyring") == ("work-in-keyring",)
    assert known_secrets([Secret("keyring:work")], {}, not_looked_up) == ()


def test_what_is_printed_is_masked_and_other_bytes_stay() -> None:
    keep_out_of_print([KEY])
    try:
        assert printable(f"key {KEY}") == "key ***" and printable_bytes(f"key {KEY}".encode()) == b"key ***"
        assert printable_bytes(b"\xff\xfe\x00") == b"\xff\xfe\x00"
    finally:
        keep_out_of_print(())
    assert printable(KEY) == KEY
