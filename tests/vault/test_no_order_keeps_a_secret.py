"""The vault's door: what a commit says is masked, the program's own words too, and anything else with a key refused."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config.masking import KnownSecrets
from agent.errors import AgentError, SecretFound
from agent.vault.change import Create, Edit, Move, Stamp
from agent.vault.message import compose
from agent.vault.options import Options
from agent.vault.store import Vault
from agent.vault.transaction import Transaction, masked_request, refuse_secrets
from tests.vaults import git, head, make_vault, write

KEY = "0f3c9a7be1d24c5f8a6b7c8d9e0f1a2b"
LOOKS = "sk-ant-api03-" + "a1B2c3D4e5" * 4
KNOWN = KnownSecrets([KEY])
AGENT = Stamp("agent", tool="vault_write")
IN_BASE64 = base64.b64encode(f"key {KEY}".encode())


def vault_at(folder: Path, notes: dict[str, str | bytes] | None = None) -> Vault:
    return make_vault(folder, notes, options=Options(durable=False, known=KnownSecrets([KEY])))


def everything(folder: Path) -> str:
    """All that git and the private files hold, without the notes."""
    root = folder / "vault"
    logs = [path.read_text("utf-8") for path in (root / ".git/logs").rglob("*") if path.is_file()]
    private = [path.read_text("utf-8", "replace") for path in (folder / "state").rglob("*") if path.is_file()]
    return "\n".join([git(root, "log", "--all", "--format=%B"), git(root, "reflog", "--all"), *logs, *private])


@pytest.mark.parametrize("key", [KEY, LOOKS])
def test_no_part_of_a_commit_says_the_key(tmp_path: Path, key: str) -> None:
    vault = vault_at(tmp_path)
    stamp = Stamp("agent", "01RUN", f"use {key}", f"sessions/{key}.md", key)
    with vault.transaction(f"note: {key}", stamp, body=f"Because of\n{key}.") as tx:
        tx.create("a.md", b"plain\n")
    assert tx.outcome.commit and key not in everything(tmp_path) and key[:10] not in everything(tmp_path)
    assert git(vault.place.root, "log", "-1", "--format=%B").count("[secret]") == 5


def test_what_waits_in_the_queue_says_no_key(tmp_path: Path) -> None:
    vault = vault_at(tmp_path, {"a.md": "one\n"})
    git(vault.place.root, "checkout", "-q", "--detach")
    with vault.transaction(f"note: {KEY}", AGENT, masked=True) as tx:
        tx.append("a.md", f"it is {KEY}".encode())
    assert tx.outcome.queued
    queued = "".join(path.read_text("utf-8") for path in (tmp_path / "state").rglob("queue/*.json"))
    assert "[secret]" in queued and KEY not in queued and base64.b64encode(KEY.encode())[:40].decode() not in queued
    git(vault.place.root, "checkout", "-q", "main")
    assert vault.settle() == 1
    assert (vault.place.root / "a.md").read_text("utf-8") == "one\nit is [secret]\n"


BAD: tuple[tuple[str, Callable[[Transaction], None]], ...] = (
    ("a new note", lambda tx: tx.create("b.md", f"{KEY}\n".encode())),
    ("in base64", lambda tx: tx.create("b.md", IN_BASE64)),
    ("a name", lambda tx: tx.create(f"{KEY}.md", b"")),
    ("a name in capitals", lambda tx: tx.create(f"notes/my {KEY.upper()}.md", b"")),
    ("a name that looks like a key", lambda tx: tx.append(f"{LOOKS}.md", b"x")),
    ("another name", lambda tx: tx.move("a.md", f"{KEY}.md")),
    ("added text", lambda tx: tx.append("a.md", f"on two\n> {KEY[:9]}\n> {KEY[9:]}".encode())),
    ("an edit", lambda tx: tx.edit("a.md", b"one\n", f"one {KEY}\n".encode())),
    ("once more", lambda tx: tx.edit("k.md", f"mine {KEY}\n".encode(), f"mine {KEY}\nand {KEY}\n".encode())),
)  # fmt: skip


@pytest.mark.parametrize("fill", [fill for _, fill in BAD], ids=[name for name, _ in BAD])
def test_a_tool_brings_no_key_in_and_nothing_is_changed_for_it(
    tmp_path: Path, fill: Callable[[Transaction], None]
) -> None:
    vault = vault_at(tmp_path, {"a.md": "one\n", "k.md": f"mine {KEY}\n"})
    before = head(vault.place.root)
    with pytest.raises(SecretFound) as caught, vault.transaction("x", AGENT) as tx:
        fill(tx)
    assert head(vault.place.root) == before and git(vault.place.root, "status", "--porcelain") == ""
    told = (caught.value.message + caught.value.hint).lower()
    assert KEY not in told and LOOKS.lower() not in told and KEY not in everything(tmp_path)


def test_a_key_that_a_person_has_written_stays_to_the_letter(tmp_path: Path) -> None:
    mine = f"- [ ] is {KEY} mine?\nlater\n"
    vault = vault_at(tmp_path, {f"{KEY}.md": mine})
    done = mine.replace("[ ]", "[x]") + "yes\n"
    with vault.transaction("x", AGENT) as tx:
        tx.edit(f"{KEY}.md", mine.encode(), done.encode())
    with vault.transaction("x", AGENT, masked=True) as tx:
        tx.append(f"{KEY}.md", b"more")
    assert (vault.place.root / f"{KEY}.md").read_text("utf-8") == done + "more\n"


def test_a_persons_file_is_committed_as_it_is_and_not_named(tmp_path: Path) -> None:
    vault = vault_at(tmp_path)
    write(vault.place.root / f"{KEY}.md", f"{KEY}\n")
    assert vault.commit_human().human
    assert KEY not in git(vault.place.root, "log", "--format=%B") + git(vault.place.root, "reflog")
    assert git(vault.place.root, "show", f"HEAD:{KEY}.md") == f"{KEY}\n"


def test_no_message_can_be_made_without_the_known_secrets() -> None:
    with pytest.raises(TypeError):
        compose("subject", Stamp("agent"))  # type: ignore[call-arg]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([KEY, LOOKS, KEY.upper(), IN_BASE64.decode()]))
def test_what_was_masked_is_not_refused(before: str, after: str, key: str) -> None:
    """Else the program's own words could be neither written nor mended."""
    data = f"{before}\n{key}\n{after}".encode("utf-8", "surrogatepass")
    refuse_secrets([masked_request(Create("a.md", data), KNOWN)], KNOWN, bool)
    with pytest.raises(AgentError):
        refuse_secrets([Create("a.md", data)], KNOWN, bool)
    refuse_secrets([Edit("a.md", data, data), Move("a.md", "b.md")], KNOWN, bool)
