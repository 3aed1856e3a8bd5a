"""Secrets are found by how they look; ordinary notes are not disturbed, and the search stays linear."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.secrets import find, masked

MIXED = "aZ3kQ9xT7bLm2NcV8sDf5GhJ6pRw4YeU1iOq0WtA"


def joined(*parts: str) -> str:
    """Put together here, so that no scanner takes this file for a leak."""
    return "".join(parts)


SECRETS = [
    ("AWS access key", joined("AKIA", "IOSFODNN7EXAMPLE")),
    ("GitHub token", joined("ghp_", MIXED[:36])),
    ("GitHub token", joined("github_pat_", MIXED[:22], "_", (MIXED * 2)[:59])),
    ("GitLab token", joined("glpat-", MIXED[:20])),
    ("Slack token", joined("xoxb-", "123456789012-", MIXED[:24])),
    ("Anthropic key", joined("sk-ant-", "api03-", MIXED)),
    ("OpenAI key", joined("sk-proj-", MIXED)),
    ("OpenAI key", joined("sk-", MIXED * 2)),
    ("Google API key", joined("AIza", MIXED[:35])),
    ("private key", joined("-----BEGIN OPENSSH ", "PRIVATE KEY-----")),
    ("private key", joined("-----BEGIN ", "PRIVATE KEY-----")),
    ("JSON Web Token", joined("eyJhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".", MIXED)),
    ("password or key", joined("password: ", "hunter2-Xk93!q")),
    ("password or key", joined("**API key**: `", MIXED[:24], "`")),
    ("password or key", joined("密码：", "s3cretPa55!word")),
    ("password or key", joined("DB_PASSWORD=", "t0p5ecret-9f8a")),
    ("password or key", joined("the portal wont let me in, password ", "Gr4nite!Elm77", ", what now")),
    ("password or key", joined("the api key is ", "sk-test-8Kd2Wx0pQm93", ".")),
    ("password or key", joined("家里wifi密码是 ", "xiangshan#4410Hull", "，给客人用")),
    ("password or key", joined("登不上，密码", "Qing2song_771", "，是不是被锁了")),
]

HARMLESS = [
    "password: env:VAULT_AGENT_KEY",
    "token: keyring:llm",
    "password: ••••••••••",
    "password: ask Ana about it",
    "My password manager is great: everything is in there.",
    "token: 2026-11-21T14:12:00+01:00",
    "secret: https://example.org/page1",
    "The secret: patience and love",
    "a commit 3f786850e387550fdab836ed7e6dc881de23001b and an id 01JD3Z9QWERTYUIOPASDFGHJKL",
    "api key: <your-key-here-1>",
    "AKIA is how such a key begins, sk- is another, eyJ too",
    "[[tokens|token]]: see [[About tokens 2]]",
    "password: ${DB_PASSWORD_1}",
    "the token TokenV2Handler of the parser",
    "the secret is chapter-12 of the book",
    "she forgot the password again, so ReadMe2026 it is",
    "密码是我生日，2026年再说",
]


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_a_secret_is_found_with_its_line(kind: str, text: str) -> None:
    found = find(f"# Note\n\nsomething\n- {text}\nafter\n")
    assert [(item.line, item.kind) for item in found] == [(4, kind)]
    assert text not in repr(found)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_people_write_about_secrets_is_no_secret(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("comment", ["<!-- vault-agent: allow-secret -->", "%% vault-agent: allow-secret %%"])
def test_a_line_can_be_excused_and_only_that_line(comment: str) -> None:
    text = SECRETS[0][1]
    assert find(f"{text} {comment}") == []
    assert [item.line for item in find(f"{text} {comment}\n{text}")] == [2]
    assert find(f"{text} vault-agent: allow-secret") != []


@given(st.text(max_size=400), st.sampled_from(SECRETS), st.text(max_size=400))
def test_a_secret_on_a_line_of_its_own_is_found_whatever_is_around_it(
    before: str, secret: tuple[str, str], after: str
) -> None:
    line = before.count("\n") + 2
    assert line in {item.line for item in find(f"{before}\n{secret[1]}\n{after}")}


def test_a_secret_deep_in_one_endless_line_is_found() -> None:
    assert find("x " * 300_000 + SECRETS[1][1] + " y" * 300_000)


@pytest.mark.parametrize(
    "pattern",
    ["eyJ" + "a" * 40, "password" + "_" * 30, "secret ", "token:", "-----BEGIN A ", "xoxb-1-", "sk-", "eyJa.eyJ"],
)
def test_hostile_text_is_read_to_its_end(pattern: str) -> None:
    """Ten times the longest line, which would keep a search that backtracks busy for ever."""
    text = pattern * (200_000 // len(pattern)) + f"\n{SECRETS[0][1]}"
    assert find(text)[-1].kind == SECRETS[0][0]


def test_random_text_is_no_secret() -> None:
    rng = random.Random(8)
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(20_000)]
    assert find(" ".join(words)) == []


@pytest.mark.parametrize("length", [32, 40, 93])
def test_a_masked_key_is_masked_to_its_end(length: int) -> None:
    key = "sk-ant-" + ("a1B2c3D4e5" * 10)[:length]
    assert masked(f"My key is {key}, keep it.") == "My key is [secret], keep it."


def test_of_a_told_password_the_words_around_it_stay() -> None:
    told = joined("云盘登不上，密码", "Qing2song_771", "，是不是被锁了")
    assert masked(told) == "云盘登不上，密码[secret]，是不是被锁了"
    assert find(masked(told)) == []


def test_a_masked_private_key_leaves_nothing_of_its_body() -> None:
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 5)
    text = f"Here:\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nThanks."
    covered = masked(text)
    assert "MIIE" not in covered and covered.startswith("Here:\n") and covered.endswith("\nThanks.")


def test_what_is_masked_is_found_no_more() -> None:
    text = "token: ghp_" + "a1B2" * 9 + "\npassword: correct-h0rse-battery\nplain words\n"
    covered = masked(text)
    assert find(covered) == [] and "plain words" in covered
