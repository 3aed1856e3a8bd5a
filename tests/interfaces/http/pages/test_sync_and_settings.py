"""A conflict is ended on the page of the sync; settings say where they come from and show no secret."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agent.config.secrets import Secret
from agent.config.settings import is_setting, keys, setting_type
from agent.config.values import format_value
from agent.deeds.settings import choose_model, may_set, present_settings, set_setting
from agent.errors import ConfigError, UserError
from tests.interfaces.http.pages.house import open_house, signed_in
from tests.llm.servers import answers, model_server
from tests.stories.agents import NOTES

COPY = "walls (conflict 2026-11-20 laptop).md"
TWO = {"walls.md": "# Walls\n\nWhite.\n", COPY: '---\nconflict_of: "[[walls]]"\n---\n# Walls\n\nGrey.\n'}


@pytest.mark.parametrize(
    ("button", "text"),
    [("Keep the note", "White."), ("Take the other version", "Grey."), ("Keep both in the note", "Grey.")],
)
def test_a_conflict_is_ended_by_a_choice(browser: Browser, tmp_path: Path, button: str, text: str) -> None:
    with open_house(tmp_path, {**NOTES, **TWO}) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/sync")
        card = page.get_by_role("article").filter(has_text="walls")
        expect(card.locator(".removed")).to_have_text(["-White."])
        expect(card.locator(".added")).to_have_text(["+Grey."])
        card.get_by_role("button", name=button).click()
        expect(page.locator(".message")).to_contain_text("It is one note again")
        house.until(lambda: not (house.root / COPY).exists(), "the copy is gone")
        assert text in (house.root / "walls.md").read_text()
        expect(page.get_by_text("There are none")).to_be_visible()
        assert seen.problems == []


def test_settings_say_where_they_come_from_and_show_no_secret(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__API_KEY", "sk-very-secret-words-1234")
    monkeypatch.setenv("VAULT_AGENT_CHANNELS__WEBHOOK__URL", "http://me:pw@127.0.0.1:1/")
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/settings")
        row = page.get_by_role("listitem").filter(has_text="llm.api_key")
        expect(row).to_contain_text("***")
        expect(row).to_contain_text("VAULT_AGENT_LLM__API_KEY")
        expect(page.get_by_role("listitem").filter(has_text="channels.webhook.url")).to_contain_text(
            "http://***@127.0.0.1:1/"
        )
        page.get_by_role("link", name="Show the defaults, too").click()
        expect(page.get_by_role("listitem").filter(has_text="vault.language")).to_contain_text("default")
        assert "sk-very-secret" not in page.content()
        assert seen.problems == []


def test_a_setting_is_changed_and_taken_back_and_what_could_harm_is_not_changed_here(
    browser: Browser, tmp_path: Path
) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/settings?all=yes")
        row = page.get_by_role("listitem").filter(has_text="attention.daily")
        row.get_by_role("textbox", name="attention.daily").fill("3")
        row.get_by_role("button", name="Save").click()
        expect(page.locator(".message").first).to_contain_text("attention.daily is 3")
        assert present_settings(house.workspace).values["attention.daily"] == 3
        page.reload()
        row.get_by_role("button", name="Default").click()
        expect(page.locator(".message").first).to_contain_text("attention.daily is")
        assert present_settings(house.workspace).origin("attention.daily").layer == "default"
        page.get_by_role("combobox", name="skills.auto").select_option("false")
        page.get_by_role("listitem").filter(has_text="skills.auto").get_by_role("button", name="Save").click()
        house.until(lambda: present_settings(house.workspace).values["skills.auto"] is False, "it is off")
    for key in ("llm.base_url", "tools.shell", "channels.webhook.url", "http.port", "sync.run_on", "brake.notes"):
        if is_setting(key):
            assert not may_set(key)
            with pytest.raises(UserError, match="not changed here"):
                set_setting(house.workspace, key, "1")
    assert not any(may_set(key) for key in keys() if setting_type(key).base is Secret)


def test_a_model_is_chosen_and_its_key_is_kept_in_a_file(tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, pytest.MonkeyPatch.context() as monkeypatch:
        workspace = house.workspace
        monkeypatch.delenv("VAULT_AGENT_LLM__WIRE")
        monkeypatch.delenv("VAULT_AGENT_LLM__SCRIPT")
        assert "No model yet" in house.fetch("/")
        with pytest.raises(ConfigError):
            choose_model(workspace, "nobody", "", "")
        house.post("/settings/model", preset="ollama", model="qwen3", key="sk-very-secret-words-1234")
        settings = present_settings(workspace)
        assert (settings.values["llm.preset"], settings.values["llm.model"]) == ("ollama", "qwen3")
        kept = Path(format_value(settings.values["llm.api_key"]).removeprefix("file:"))
        assert kept.read_text() == "sk-very-secret-words-1234\n" and kept.stat().st_mode & 0o077 == 0
        assert "qwen3" in house.fetch("/") and "No model yet" not in house.fetch("/")
        assert "sk-very-secret" not in house.fetch("/settings")
        assert "qwen3" in house.fetch("/status") and "notes are quoted" not in house.fetch("/status")
        with model_server(answers("200 OK", b'{"data": [{"id": "served:4b"}]}'), tells=True) as server:
            monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", server.url)
            assert "<option>served:4b</option>" in house.fetch("/settings/models?preset=ollama")
        monkeypatch.delenv("VAULT_AGENT_LLM__BASE_URL")
        choose_model(workspace, "llamacpp", "", "")
        assert "llm.api_key" not in present_settings(workspace).origins, "the key was another provider's"
