"""Addresses are shown without logins and keys, of services that are known and of those that are not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.addresses import keys_in, without_keys, without_login
from agent.config.masking import redact
from agent.config.secrets import known_secrets, secrets_of

SAFE = (
    "https://api.example.com/v1",
    "http://127.0.0.1:11434/v1",
    "https://generativelanguage.googleapis.com/v1beta/openai/",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "https://open.bigmodel.cn/api/paas/v4",
    "https://x.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-06-01",
    "https://api.telegram.org",
    "https://open.feishu.cn",
    "ssh://git@host/~/notes.git",
    "file:///media/disk/notes2024abc.git",
    "no address: a//b, c:d@e, https:/x",
)


@pytest.mark.parametrize("address", SAFE)
def test_an_address_without_a_key_is_shown_whole(address: str) -> None:
    assert without_keys(address) == address and list(keys_in(address)) == []


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:pass@host.example/v1", "https://***@host.example/v1"),
        ("https://ghp_abcdefgh12345@github.com/ann/notes.git", "https://***@github.com/ann/notes.git"),
        ("ssh://me:pw@host/x", "ssh://***@host/x"),
        ("smtp://ann:pw@mail.example:587", "smtp://***@mail.example:587"),
        ("socks5h://u:p@127.0.0.1:1080", "socks5h://***@127.0.0.1:1080"),
        ("http://u:p@w@proxy:3128", "http://***@proxy:3128"),
        ("http://u:p/w@proxy:3128/", "http://***@proxy:3128/"),
        ("https://hooks.slack.com/services/T0/B0/tok", "https://hooks.slack.com/services/***"),
        ("https://hooks.slack.com/workflows/a/b", "https://hooks.slack.com/workflows/***"),
        ("https://discord.com/api/webhooks/12/tok", "https://discord.com/api/webhooks/***"),
        ("https://canary.discord.com/api/webhooks/12/tok?wait=true", "https://canary.discord.com/api/webhooks/***?wait=true"),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/tok", "https://open.feishu.cn/open-apis/bot/v2/hook/***"),
        ("https://open.larksuite.com/open-apis/bot/v2/hook/tok", "https://open.larksuite.com/open-apis/bot/v2/hook/***"),
        ("https://api.telegram.org/bot12:tok/sendMessage", "https://api.telegram.org/***"),
        ("https://API.Telegram.org:443/bot12:tok/getMe", "https://API.Telegram.org:443/***"),
        ("https://oapi.dingtalk.com/robot/send?access_token=tok", "https://oapi.dingtalk.com/robot/send?access_token=***"),
        ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=tok", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=***"),
        ("https://acme.webhook.office.com/webhookb2/a@b/x/y", "https://acme.webhook.office.com/***"),
        ("https://ntfy.sh/my-topic", "https://ntfy.sh/***"),
        ("https://chat.example/hooks/xsd8k3jq9pbyzn6kd1q8e", "https://chat.example/hooks/***"),
        ("https://x.example/9f86d081-884c-4d63-a1b5-aa0f1f1f1f1f/in", "https://x.example/***/in"),
        ("https://x.example/a?unheard=of&tok", "https://x.example/a?unheard=***&***"),
        ("https://x.example/a#access_token=tok", "https://x.example/a#***"),
        ("tgram://12:tok/55", "tgram://***"),
        ("a https://u:p@a/ and http://v:q@b/", "a https://***@a/ and http://***@b/"),
    ],
)  # fmt: skip
def test_what_opens_a_door_is_masked(address: str, shown: str) -> None:
    assert without_keys(address) == shown
    assert without_keys(shown) == shown, "to mask it again changes nothing"


PASSWORD = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="\"'<>`"), min_size=6)


@given(st.sampled_from(["https", "http", "smtp", "socks5", "ssh", "ftp", "imap"]), PASSWORD)
def test_no_password_is_shown_whatever_is_in_it(scheme: str, password: str) -> None:
    shown = without_keys(f"see {scheme}://someone:x{password}@host.example/path")
    assert shown.replace("***", "").replace("see", "").count(password) <= "://@host.example/path".count(password)
    assert password not in without_login(f"{scheme}://someone:x{password}@zz.zz/") or password in "zz.zz/"


@pytest.mark.parametrize(
    ("name", "value", "leaked"),
    [
        ("HTTPS_PROXY", "http://ann:q7Zt-q7Zt-1@proxy:3128", "connect to proxy as ann with q7Zt-q7Zt-1 failed"),
        ("all_proxy", "socks5://ann:pw@proxy.example:1080", "cannot reach socks5://ann:pw@proxy.example:1080/"),
        ("ANY_URL", "https://api.telegram.org/bot12345678:AbC-dEf/x", "POST /bot12345678:AbC-dEf/getMe 404"),
        ("ANY_URL", "https://x.example/?access_token=Ab3dEf6h9", "the token Ab3dEf6h9 is wrong"),
        ("ANY_URL", "https://ann:p%40ss-W0rd-9@x.example/", "the password p@ss-W0rd-9 is wrong"),
    ],
)
def test_keys_in_the_environment_are_masked_wherever_they_stand(name: str, value: str, leaked: str) -> None:
    masked = redact(leaked, secrets_of({name: value}))
    assert "***" in masked
    assert not any(part in masked for part in ("q7Zt", ":pw@", "AbC-dEf", "Ab3dEf6h9", "W0rd"))


def test_keys_in_settings_are_masked_and_words_are_not() -> None:
    known = known_secrets((), {}, addresses=["https://ann:password@x.example/sendMessage", "https://ntfy.sh/holidays"])
    assert redact("at https://ann:password@x.example/ it failed", known) == "at https://***/ it failed"
    told = "the password of ann for our holidays: sendMessage"
    assert redact(told, known) == told, "a note that has such words is no secret"


def test_no_module_has_a_mask_of_its_own() -> None:
    agent = Path(__file__).parents[2] / "agent"
    found = [path.name for path in agent.rglob("*.py") if "(?<=://)" in path.read_text("utf-8")]
    assert found == ["addresses.py"]
