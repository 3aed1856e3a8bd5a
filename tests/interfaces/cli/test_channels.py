"""`vault-agent channels`, against local servers that speak the real protocols."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.events.notices import NoticeRaised
from agent.interfaces.cli.main import main
from agent.llm.messages import never
from tests.attention.mailbox import mailbox
from tests.attention.rigs.lark import APP, two_way_lark
from tests.attention.rigs.lark import SECRET as LARK_SECRET
from tests.attention.rigs.lark_socket import OWNER, STRANGER
from tests.attention.rigs.mail import PASSWORD, post_office
from tests.attention.rigs.telegram import TOKEN, telegram
from tests.attention.rigs.webhook import SECRET, Taker
from tests.attention.servers import Answered, local_service
from tests.interfaces.cli.terminal import terminal

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    assert main(["init", str(tmp_path / "vault"), "--yes"]) == 0
    monkeypatch.chdir(tmp_path / "vault")
    capsys.readouterr()
    return tmp_path / "vault"


def tell(capsys: Captured, *args: str, code: int = 0) -> dict[str, object]:
    assert main(["channels", *args, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def state(capsys: Captured, name: str) -> dict[str, object]:
    listed = tell(capsys, "list")["channels"]
    assert isinstance(listed, list)
    return dict(next(each for each in listed if each["name"] == name))


def test_the_daily_note_is_always_there(capsys: Captured, root: Path) -> None:
    assert state(capsys, "daily")["on"] is True
    proof = str(tell(capsys, "test", "daily")["proof"])
    path, commit = proof.split(" ")
    assert "A message to try this channel" in (root / path).read_text()
    assert len(commit) == 8


def test_the_list_says_when_a_channel_has_delivered_last(capsys: Captured, root: Path) -> None:
    assert state(capsys, "daily")["last"] is None
    outbox = open_outbox(open_workspace(root))
    outbox.take(NoticeRaised("parcel", 0.9, "the parcel has come", urgent=True))
    outbox.deliver(never)
    (receipt,) = outbox.ledger.all()
    assert receipt.delivered_at is not None
    assert state(capsys, "daily")["last"] == receipt.delivered_at.isoformat()
    assert main(["channels"]) == 0
    rows = [row for row in capsys.readouterr().out.splitlines() if "last delivered" in row]
    assert len(rows) == 1 and rows[0].startswith("daily")


def test_a_webhook_is_set_up_and_tried(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    assert state(capsys, "webhook")["missing"] == ["channels.webhook.url"]
    taker = Taker()
    with local_service(taker) as server:
        tell(capsys, "add", "webhook", f"url={server.url}/", "secret=env:HOOK_SECRET")
        assert state(capsys, "webhook")["on"] is True
        assert str(tell(capsys, "test", "webhook")["proof"]).startswith("204 ")
        taker.secret = "another-secret"
        error = tell(capsys, "test", "webhook", code=2)["error"]
    assert len(taker.taken) == 1
    assert isinstance(error, dict)
    assert "channels.webhook.secret" in str(error["hint"]) and SECRET not in str(error)


def test_mail_is_set_up_by_the_names_of_its_headers(capsys: Captured) -> None:
    with post_office(login=False) as (office, port):
        tell(
            capsys,
            *("add", "mail", "host=127.0.0.1", f"port={port}", "from=agent@example.org", "to=anna@example.org"),
        )
        assert str(tell(capsys, "test", "mail")["proof"]).startswith("250 ")
    [mail] = office.mails
    assert (mail["From"], mail["To"]) == ("agent@example.org", "anna@example.org")


def test_mail_that_is_read_says_what_a_new_mail_needs(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    with post_office() as (office, port), mailbox() as box:
        box.password = PASSWORD
        places = ("host=127.0.0.1", f"port={port}", "to=anna@example.org", "user=agent", "password=env:MAIL_PASSWORD")
        tell(capsys, "add", "mail", *places)
        assert "channels.mail.imap_host" in str(state(capsys, "mail")["advice"])
        assert tell(capsys, "test", "mail")["reads"] is False
        tell(capsys, "add", "mail", "imap_host=127.0.0.1", f"imap_port={box.port}")
        assert "channels.mail.verified_by" in str(state(capsys, "mail")["advice"])
        assert main(["channels", "test", "mail"]) == 0
        assert "channels.mail.verified_by" in capsys.readouterr().err
        tell(capsys, "add", "mail", "verified_by=mx.example.org")
        assert state(capsys, "mail")["advice"] == ""
        assert tell(capsys, "test", "mail")["reads"] is True
        box.password = "another"
        error = tell(capsys, "test", "mail", code=2)["error"]
    assert len(office.mails) == 4
    assert isinstance(error, dict) and "channels.mail.password" in str(error["hint"])


def test_a_channel_that_is_switched_off_can_be_tried(capsys: Captured) -> None:
    assert main(["config", "set", "channels.webhook.on", "false"]) == 0
    capsys.readouterr()
    with local_service(lambda called: Answered(200, {"id": "n-1"})) as server:
        assert main(["config", "set", "channels.webhook.url", server.url]) == 0
        capsys.readouterr()
        tried = tell(capsys, "test", "webhook")
    assert (tried["proof"], tried["on"]) == ("n-1", False)
    assert state(capsys, "webhook")["on"] is False


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["add", "pigeon"], "mail"),
        (["add", "webhook"], "url=…"),
        (["add", "mail", "host=x.org", "to=a@x.org", "from=nobody"], "config get channels.mail.from"),
        (["add", "mail", "host=x.org", "to=a@x.org", "verified_by=a b"], "config get channels.mail.verified_by"),
        (["add", "webhook", "uri=http://x.org"], "url"),
        (["add", "webhook", "url"], "url="),
        (["add", "webhook", "url=http://x.org", "secret=abcdefgh12345"], "env:NAME"),
        (["test", "mail"], "channels add mail"),
    ],
)
def test_what_is_wrong_says_what_to_do(capsys: Captured, args: list[str], hint: str) -> None:
    error = tell(capsys, *args, code=2)["error"]
    assert isinstance(error, dict)
    assert hint in str(error["hint"])
    assert "abcdefgh12345" not in str(error)
    for name in ("mail", "webhook"):
        missing = state(capsys, name)["missing"]
        assert missing == [f"channels.{name}.{each}" for each in (("host", "to") if name == "mail" else ("url",))]


def test_what_is_missing_is_asked_for_step_by_step(root: Path, tmp_path: Path, capsys: Captured) -> None:
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home")}
    with post_office() as (office, port):
        with terminal(root, own, "channels", "add", "mail", f"port={port}", "user=agent") as person:
            person.sees("smtp.example.org: ")
            person.type("127.0.0.1\n")
            person.sees("Your own address: ")
            person.type("anna@example.org\n")
            person.sees("(not shown): ")
            person.type(f"{PASSWORD}\n")
            person.sees("(IMAP); empty for none: ")
            person.type("\n")
            person.sees("mail is on.")
            assert person.ends() == 0
            assert PASSWORD not in person.seen
        assert str(tell(capsys, "test", "mail")["proof"]).startswith("250 ")
    assert len(office.mails) == 1
    settings = (tmp_path / "home/config/config.yaml").read_text()
    assert "password: " in settings and PASSWORD not in settings


def test_the_owner_of_a_bot_of_lark_writes_to_it_once(root: Path, tmp_path: Path, capsys: Captured) -> None:
    with two_way_lark() as (server, _, socket):
        own = {"VAULT_AGENT_HOME": str(tmp_path / "home")}
        given = (f"base_url={server.url}", f"app_id={APP}")
        with terminal(root, own, "channels", "add", "lark", *given) as person:
            person.sees("The secret of your app (not shown): ")
            person.type(f"{LARK_SECRET}\n")
            person.sees("from your own account: ")
            person.sees("\n")
            code = re.findall(r"account: (\w+)", person.seen)[0]
            assert ready(lambda: socket.open == 1)
            socket.write("hello", STRANGER)
            socket.write(f"it is {code}")
            person.sees("lark is on.")
            assert person.ends() == 0
    assert state(capsys, "lark")["on"] is True
    assert f"owner: {OWNER}" in (tmp_path / "home/config/config.yaml").read_text()


def test_nobody_writes_to_a_bot_and_what_was_set_stays(
    root: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.interfaces.cli.channels.is_terminal", lambda: True)
    monkeypatch.setattr("agent.interfaces.cli.channels._OWNER_SECONDS", 0.3)
    monkeypatch.setenv("BOT_TOKEN", TOKEN)
    with telegram() as (server, _):
        assert main(["channels", "add", "telegram", f"base_url={server.url}", "token=env:BOT_TOKEN"]) == 2
    assert "vault-agent channels add telegram waits again" in capsys.readouterr().err
    assert state(capsys, "telegram")["missing"] == ["channels.telegram.owner"]


def ready(holds: Callable[[], bool]) -> bool:
    """Wait until something is so."""
    pause = threading.Event()
    return any(holds() or pause.wait(0.05) for _ in range(200))
