"""Approvals and questions are decided on the page, and what follows from the decision happens."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES, call

CHANGE = {"task": "be longer", **call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")}
CHANGED = {"task": "be longer", "text": "As you like."}
QUESTION = {"task": "buy tea", **call("human_ask", question="Which tea?", options=["green", "black"])}
ANSWERED = {"task": "buy tea", "text": "I have noted it."}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path, NOTES, CHANGE, CHANGED, QUESTION, ANSWERED) as found:
        yield found


def test_a_call_is_approved_with_its_change_before_the_yes(browser: Browser, house: House) -> None:
    with signed_in(browser, house, 360) as seen:
        page = seen.page
        page.goto(house.url)
        page.get_by_label("What do you want to know").fill("be longer")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_text("It waits for your yes")).to_be_visible()
        asked = page.url
        talk = next((house.root / "sessions").rglob("*.md")).relative_to(house.root).as_posix()
        assert "waits for a yes in" not in house.fetch(f"/talk/{quote(talk)}"), "it is said in a person's words"
        page.locator("#answer").get_by_role("link", name="What needs me").click()
        expect(page.locator(".tabs .badge")).to_have_text("1")
        card = page.get_by_role("article").filter(has_text="May I change AGENT.md?")
        expect(card).not_to_contain_text("@@")
        expect(card.locator(".removed")).to_have_text("-Be brief.")
        expect(card.locator(".added")).to_have_text("+Be long.")
        card.get_by_role("button", name="Yes, do it").click()
        expect(page.locator(".message")).to_contain_text("You said yes")
        expect(page.get_by_text("Nothing needs you")).to_be_visible()
        expect(page.locator(".tabs .badge")).to_be_hidden()
        house.until(lambda: "Be long." in (house.root / "AGENT.md").read_text(), "the run has gone on")
        page.goto(asked)
        expect(page.locator("#answer")).to_contain_text("As you like.")
        expect(page.locator("#answer .tools .done")).to_contain_text("vault_edit")
        expect(page.get_by_text("It waits for your yes")).to_be_hidden()
        expect(page.get_by_role("button", name="Undo all of it")).to_be_visible()
        assert seen.problems == [] and house.reports() == 0


def test_a_question_is_answered_by_its_option_or_in_other_words(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url)
        page.get_by_label("What do you want to know").fill("buy tea")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_text("It has a question for you")).to_be_visible()
        open_beside = seen.context.new_page()
        open_beside.goto(page.url)
        expect(open_beside.get_by_text("It has a question for you")).to_be_visible()
        page.goto(house.url)
        page.get_by_role("link", name="Which tea?").click()
        expect(page.get_by_text("Which tea?")).to_be_visible()
        page.get_by_role("button", name="green").click()
        expect(page.locator(".message")).to_contain_text("Your answer is noted")
        expect(page.get_by_text("Nothing needs you")).to_be_visible()
        asked_in = next((house.root / "questions").glob("*.md"))
        assert "- [x] green" in asked_in.read_text()
        expect(open_beside.locator("#answer")).to_contain_text("I have noted it.")
        expect(open_beside.get_by_label("Go on with this conversation")).to_be_visible()


def test_what_somebody_has_typed_stays_while_the_page_is_made_anew(browser: Browser, house: House) -> None:
    house.ask("buy tea")
    with signed_in(browser, house, 390) as seen:
        page = seen.page
        page.goto(f"{house.url}/needs")
        page.get_by_placeholder("In your own words").fill("the one from Japan")
        page.get_by_role("heading", name="What needs me").click()
        with page.expect_response(lambda response: response.url == f"{house.url}/needs"):
            (house.root / "tea.md").write_text("# Tea\n\nGone.\n")
        expect(page.locator(".htmx-request")).to_have_count(0)
        expect(page.get_by_placeholder("In your own words")).to_have_value("the one from Japan")


def test_what_is_asked_again_in_one_conversation_shows_what_was_said_before(browser: Browser, house: House) -> None:
    with signed_in(browser, house, 390) as seen:
        page = seen.page
        page.goto(house.url)
        page.get_by_label("What do you want to know").fill("hello there")
        page.get_by_role("button", name="Ask").click()
        page.get_by_label("Go on with this conversation").fill("and again")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator(".asked")).to_have_text(["hello there", "and again"])
        assert seen.problems == []


def test_a_decision_about_what_has_changed_since_is_refused_and_says_so(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url)
        page.get_by_label("What do you want to know").fill("be longer")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_text("It waits for your yes")).to_be_visible()
        page.goto(f"{house.url}/needs")
        page.locator("main").evaluate("(main) => main.removeAttribute('data-live')")  # it would be made anew
        expect(page.locator(".htmx-request")).to_have_count(0)
        page.locator("input[name=shown]").evaluate("(field) => { field.value = 'something else' }")
        page.get_by_role("button", name="Yes, do it").click()
        expect(page.locator(".message.problem")).to_contain_text("has changed since you looked")
        assert "Be brief." in (house.root / "AGENT.md").read_text()


def test_the_page_of_an_error_says_how_much_waits_too(browser: Browser, house: House) -> None:
    house.ask("buy tea")
    with signed_in(browser, house) as seen:
        for address in ("/nothing-here", "/notes/nothing.md", "/today?day=never"):
            seen.page.goto(house.url + address)
            expect(seen.page.get_by_role("heading", name="That did not work")).to_be_visible()
            expect(seen.page.locator(".side .badge")).to_have_text("1")
