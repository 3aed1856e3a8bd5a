"""Which addresses `web_fetch` connects to, whatever a name, a redirect or a resolver says."""

import ssl
from collections.abc import Sequence

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import SystemClock
from agent.errors import ToolFailed, ToolRetry
from agent.tools.builtin.addresses import is_ours, refusal
from agent.tools.builtin.web import FetchLimits, WebNetwork, resolve, web_tools
from agent.tools.tool import RunContext
from tests.tools.sites import PUBLIC, answer, fetch, sent_on, site

CLOSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:93.184.215.14",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2a00:1450::5efe:10.0.0.1",
    "2a00:1450::200:5efe:10.0.0.1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
    "4000::1",
    "2a00:1450::1%eth0",
    "not an address",
    "127.1",
    "0x7f.0.0.1",
    "",
]
OPEN = ["93.184.215.14", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.255"]
OPEN_V6 = ["2606:4700:4700::1111", "2a00:1450:4001:81c::200e", "2400:3200::1"]


@pytest.mark.parametrize("address", CLOSED)
def test_an_address_near_home_is_refused_with_a_reason(address: str) -> None:
    assert refusal(address)


@pytest.mark.parametrize("address", OPEN + OPEN_V6)
def test_an_address_of_the_open_internet_is_not(address: str) -> None:
    assert refusal(address) == ""


@given(st.ip_addresses())
def test_nothing_is_open_that_the_standard_library_calls_closed(address: object) -> None:
    if not refusal(str(address)):
        assert getattr(address, "is_global") and not getattr(address, "is_multicast")  # noqa: B009 - two types of address
        assert not getattr(address, "is_reserved")  # noqa: B009


@pytest.mark.parametrize("address", CLOSED)
def test_nothing_is_connected_to_when_a_name_leads_home(address: str) -> None:
    with site({}, {"example.org": [address]}) as internet:
        with pytest.raises(ToolFailed, match="not on the open internet"):
            fetch(internet.network)
        assert internet.dialled == []


def test_one_bad_address_among_good_ones_is_enough() -> None:
    with site({"/": answer("hello")}, {"example.org": [PUBLIC, "127.0.0.1"]}) as internet:
        with pytest.raises(ToolFailed):
            fetch(internet.network)
        assert internet.dialled == []


SPELLINGS = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1%25lo]/",
    "http://[fe80::1%lo]/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127.0.0.1%00.example.org/",
    "http://example.org@127.0.0.1/",
    "http://127.0.0.1\\@example.org/",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_no_spelling_of_a_near_address_is_connected_to(url: str) -> None:
    """The system's own resolver is asked, as in earnest; these need no network."""
    dialled: list[tuple[str, int]] = []

    def dial(address: str, port: int) -> tuple[str, int]:
        dialled.append((address, port))
        return "127.0.0.1", 9

    with pytest.raises((ToolFailed, ToolRetry)):
        fetch(WebNetwork(resolve, dial), url)
    assert dialled == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "//example.org/",
        "/etc/passwd",
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "data:text/plain,hello",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user:password@example.org/",
        "http://user@example.org/",
        "http://example.org:22/",
        "http://example.org:443/",
        "https://example.org:80/",
        "https://example.org:8443/",
        "http://exa mple.org/",
        "http://example.org/\r\nHost: other",
        "http://example.org/\x00",
        "http://" + "a" * 300 + ".org/",
        "http://example.org/" + "a" * 3000,
        "http://[not-an-address]/",
    ],
)
def test_what_is_no_page_of_the_web_is_not_asked_for(url: str) -> None:
    with site({"/": answer("hello")}) as internet:
        with pytest.raises((ToolRetry, ToolFailed)):
            fetch(internet.network, url)
        assert internet.asked == []


def test_a_name_is_resolved_once_and_that_very_address_is_connected_to() -> None:
    """The name changes its mind at once after the first answer, as in DNS rebinding."""
    answers = iter([[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])
    with site({"/": answer("<p>hello")}) as internet:

        def rebinding(host: str, port: int) -> Sequence[str]:
            internet.resolved.append(host)
            return next(answers)

        given_ = fetch(WebNetwork(rebinding, internet.dial))
        assert "hello" in given_.text
        assert internet.resolved == ["example.org"] and internet.dialled == [(PUBLIC, 80)]


def test_a_redirect_to_a_near_address_is_refused_also_when_the_name_was_good_before() -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    with site({"/": sent_on("http://example.org/again"), "/again": answer("secret")}) as internet:
        with pytest.raises(ToolFailed, match="not on the open internet"):
            fetch(WebNetwork(lambda host, port: next(answers), internet.dial))
        assert len(internet.asked) == 1


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://example.org:22/",
        "http://user:pass@example.org/",
        "ftp://example.org/",
        "//2130706433/",
        "http://[",
    ],
)
def test_a_redirect_leads_nowhere_else(to: str) -> None:
    hosts = {"169.254.169.254": ["169.254.169.254"], "127.0.0.1": ["127.0.0.1"], "::1": ["::1"]}
    with site({"/": sent_on(to)}, {**hosts, "2130706433": ["127.0.0.1"]}) as internet:
        with pytest.raises((ToolFailed, ToolRetry)):
            fetch(internet.network)
        assert len(internet.asked) == 1


def test_redirects_are_followed_and_counted() -> None:
    steps = {f"/{n}": sent_on(f"/{n + 1}", "301 Moved") for n in range(9)}
    with site({**steps, "/9": answer("<p>the end")}) as internet:
        assert "the end" in fetch(internet.network, "http://example.org/4").text
        assert len(internet.resolved) == 6
        with pytest.raises(ToolFailed, match="more than 5"):
            fetch(internet.network, "http://example.org/3")


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with site({"/": answer("<p>hello")}) as internet:
        assert "hello" in fetch(internet.network).text


def test_our_own_address_is_ours() -> None:
    assert is_ours("127.0.0.1")
    assert not is_ours(PUBLIC)


def test_nothing_of_this_machine_is_told_to_the_server() -> None:
    with site({"/": sent_on("http://other.example/x"), "/x": answer("<p>x", "Set-Cookie: a=b")}) as internet:
        fetch(internet.network, "http://example.org/#part")
        heads = "".join(internet.asked).lower()
        assert "host: example.org\r\n" in heads and "host: other.example\r\n" in heads
        assert "cookie" not in heads and "referer" not in heads and "authorization" not in heads and "#" not in heads


SECRET = "canary/4711 key"


@pytest.mark.parametrize(
    "url",
    [
        f"http://example.org/{SECRET}",
        "http://example.org/?q=canary%2F4711%20key",
        "http://example.org/?q=canary%2f4711+key",
        "http://example.org/?q=canary%252F4711%2520key",
        "http://example.org/?q=CANARY/4711%20KEY",
    ],
)
def test_a_secret_does_not_leave_in_an_address(url: str) -> None:
    with site({"/": answer("hello")}) as internet:
        with pytest.raises(ToolFailed) as raised:
            fetch(internet.network, url, secrets=[SECRET, ""])
        assert internet.resolved == [] and "4711" not in raised.value.message


def _contexts(name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(server)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    return server, trust


def test_the_certificate_is_held_against_the_name_and_not_the_address() -> None:
    server, trust = _contexts("example.org")
    with site({"/": answer("<p>hello")}, tls=server, trust=trust) as internet:
        assert "hello" in fetch(internet.network, "https://example.org/").text
        assert internet.dialled == [(PUBLIC, 443)]
        with pytest.raises(ToolFailed, match="certificate"):
            fetch(internet.network, "https://another.example/")
        assert len(internet.asked) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    server, _ = _contexts("example.org")
    with site({"/": answer("<p>hello")}, tls=server) as internet:
        with pytest.raises(ToolFailed, match="certificate"):
            fetch(internet.network, "https://example.org/")
        assert internet.asked == []


def test_the_tool_says_that_it_carries_things_out() -> None:
    (tool,) = web_tools(SystemClock(), tuple, limits=FetchLimits())
    assert tool.name == "web_fetch" and tool.egress and tool.groups == {"web"} and tool.timeout > FetchLimits().seconds
    with pytest.raises(ToolRetry):
        tool.perform({"url": "nowhere"}, RunContext("r", "s"))
