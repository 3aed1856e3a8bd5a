"""`--as NAME`: a guest asks, and sees what is theirs; nothing of the owner's, and of a group what it has heard."""

import random
from pathlib import Path

import pytest

from agent.interfaces.cli.guest import asking
from tests.interfaces.cli.conftest import Run
from tests.vaults import write

OWNERS = ("My sister Mara lives in Porto.", "The alarm code is 4711.", "I am allergic to penicillin.", "我妈住在泉州。")
WORDS = (
    "sister",
    "Mara",
    "alarm",
    "code",
    "allergic",
    "Porto",
    "我妈",
    "住在哪里",
    "where",
    "my",
    "the",
    "what is",
    "doctor",
)


def test_a_guest_is_given_their_own_and_the_owner_theirs(run: Run, root: Path) -> None:
    run("remember", OWNERS[0])
    run("ask", "--as", "ben", "My sister Ida lives in Oslo.")
    question = "Where does my sister live?"
    owner, ben, cara = (
        str([piece["text"] for piece in run("recall", *who, question)["pieces"]])  # type: ignore[attr-defined]
        for who in ((), ("--as", "ben"), ("--as", "cara"))
    )
    assert "Mara" in owner and "Ida" not in owner
    assert "Ida" in ben and "Mara" not in ben
    assert cara == "[]"
    receipts = run("context", "--as", "ben", "--explain", question)["receipts"]
    assert isinstance(receipts, list) and len(receipts) == 1


def test_a_guest_without_a_name_is_not_the_owner(run: Run) -> None:
    run("remember", OWNERS[1])
    for who in (("--as", ""), ("--as", "  "), ("--as", "ben", "--group", "")):
        for command in (("recall", "alarm code"), ("ask", "What is the alarm code?"), ("context", "--explain", "code")):
            assert "4711" not in str(run(*command, *who, code=2))


def test_what_a_group_has_heard_is_given_in_that_group_only(run: Run) -> None:
    run("ask", "--as", "ben", "--group", "room", "The coffee machine of our room takes tokens.")
    asked = "What does our coffee machine take?"
    for who, heard in (
        (("--as", "cara", "--group", "room"), True),
        (("--as", "cara", "--group", "hall"), False),
        (("--as", "cara"), False),
    ):
        assert ("tokens" in str(run("recall", *who, asked)["pieces"])) is heard, who


def test_nothing_of_the_owner_reaches_a_guest_in_any_of_200_situations(run: Run, root: Path) -> None:
    chance = random.Random(7)
    for text in OWNERS:
        run("remember", text)
    write(root / "MEMORY.md", "# Memory\n\n- The owner's locker is 9930 (said once)\n")
    write(root / "own.md", "# Mine\n\nThe doctor of my sister Mara.\n")
    secrets = ("Mara", "4711", "penicillin", "泉州", "9930")
    for _ in range(200):
        task = " ".join(chance.sample(WORDS, chance.randint(1, 5)))
        who = ["--as", chance.choice(("ben", "cara", "Owner", "cli"))]
        who += ["--group", "room"] if chance.random() < 0.4 else []
        who += ["--channel", chance.choice(("cli", "lark"))] if chance.random() < 0.4 else []
        given = [piece["text"] for piece in run("recall", *who, task)["pieces"]]  # type: ignore[attr-defined]
        assert given == [], (who, task)
        assert not any(secret in str(given) for secret in secrets)


@pytest.mark.parametrize(
    "words",
    [
        ("recall", "--group", "room", "tea"),
        ("ask", "--channel", "lark", "tea"),
        ("recall", "--as", "ben", "--all", "tea"),
        ("ask", "--as", "ben", "--resume", "sessions/a.md"),
    ],
)
def test_what_does_not_go_together_is_said(run: Run, words: tuple[str, ...]) -> None:
    error = run(*words, code=2)["error"]
    assert isinstance(error, dict) and error["hint"]


def test_a_group_is_a_channel_of_its_own() -> None:
    assert asking("", "", "").role == "owner"
    found = asking("ben", "room", "lark")
    assert (found.speaker.channel, found.speaker.sender, found.chat, found.role) == (
        "lark:room",
        "ben",
        "lark:room",
        "guest",
    )
