import gzip
import ipaddress
import socket
import ssl
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.support.errors import ConfigError
from clew_web import Answer, Kind, Reach, WebRequest, WebToolError, reach_of_environment
from clew_web.access_policy import retry_after, status_failure
from clew_web.addresses import public
from tests.web.site import Site, SiteAnswer, Was, as_json, moved, page

pytestmark = pytest.mark.both_loops


def near(site: Site, **settings: Any) -> Reach:
    """A way out to a site of a test, and to no other private address."""
    return Reach(allow=(site.host,), **settings)


async def fails(reach: Reach, url: str, kind: Kind, says: str | None = None, **more: Any) -> None:
    with pytest.raises(WebToolError, match=says) as caught:
        await reach.ask(WebRequest(url, types=(), **more))
    assert caught.value.kind == kind
    assert str(caught.value).startswith(f"{kind}: ")


# ---------------------------------------------------------------- what is asked and read


async def test_a_page_is_asked_for_politely_and_read() -> None:
    with Site({"/a": page("<p>Hello.</p>")}) as site:
        reach = near(site, contact="crawl@example.org")
        answer = await reach.ask(
            WebRequest(f"{site.url}/a?x=1#part", {"y": "2 3"}, types=("text/",))
        )
    assert (answer.status, answer.type, answer.body) == (200, "text/html", b"<p>Hello.</p>")
    assert answer.url == f"{site.url}/a?x=1&y=2+3"
    (was,) = site.asked
    assert (was.method, was.query) == ("GET", {"x": "1", "y": "2 3"})
    assert was.headers["user-agent"] == "clew (crawl@example.org)"
    assert was.headers["host"] == site.host
    assert was.headers["accept"] == "text/, */*;q=0.1"
    assert "cookie" not in was.headers


async def test_json_is_posted() -> None:
    with Site({"/a": as_json({"b": 1})}) as site:
        answer = await near(site, agent="Mine/1").ask(
            WebRequest(f"{site.url}/a", headers={"X-API-KEY": "k"}, json={"q": "ä"})
        )
    assert answer.json() == {"b": 1}
    (was,) = site.asked
    assert (was.method, was.json) == ("POST", {"q": "ä"})
    assert was.headers["content-type"] == "application/json"
    assert (was.headers["x-api-key"], was.headers["user-agent"]) == ("k", "Mine/1")


def test_who_gives_no_contact_says_so_and_odd_signs_are_refused() -> None:
    assert "no contact set" in Reach().user_agent
    with pytest.raises(ConfigError, match="CLEW_WEB_CONTACT"):
        Reach(contact="a\r\nb: c")
    with pytest.raises(ConfigError, match="tries"):
        Reach(tries=0)


def test_the_environment_allows_hosts_and_gives_a_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reach_of_environment() == Reach()
    monkeypatch.setenv("CLEW_WEB_HOSTS", "wiki.intranet, 10.0.0.1:8080")
    monkeypatch.setenv("CLEW_WEB_CONTACT", "me@example.org")
    assert reach_of_environment() == Reach(
        allow=("wiki.intranet", "10.0.0.1:8080"), contact="me@example.org"
    )


# ---------------------------------------------------------------- where nobody is let in


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1",
        "::1", "::", "fe80::1", "fe80::1%eth0", "fec0::1", "fd00::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2002:7f00:1::", "2002:c0a8:1::", "2606:4700::1%eth0",
    ],
)  # fmt: skip
def test_no_private_address_is_public(address: str) -> None:
    assert not public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses_are(address: str) -> None:
    assert public(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_carried_in_another_is_judged_by_itself(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address((0xFFFF << 32) + int(address))
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) + int(address))
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) + (int(address) << 80))
    assert {public(mapped), public(nat64), public(sixtofour)} == {public(address)}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::1]",
             "[::ffff:127.0.0.1]", "169.254.169.254"],
)  # fmt: skip
async def test_private_hosts_are_not_asked_however_they_are_written(host: str) -> None:
    with Site({"/": page("secret")}) as site:
        await fails(Reach(), f"http://{host}:{site.port}/", "not_allowed")
    assert site.asked == []


async def test_only_the_port_that_is_allowed_is_asked() -> None:
    with Site({"/": page("yes")}) as site, Site({"/": page("no")}) as other:
        reach = near(site)
        assert (await reach.ask(WebRequest(site.url, types=()))).body == b"yes"
        await fails(reach, other.url, "not_allowed", "not at a public address")
        assert (
            await Reach(allow=("127.0.0.1",)).ask(WebRequest(other.url, types=()))
        ).body == b"no"


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "gopher://example.org", "example.org", "", "//a/b",
     "http://", "http://[::1", "http://x:99999/", "http://x:0/", "javascript:alert(1)",
     "http://example.org/" + "a" * 5_000, "http://me:secret@example.org/", "http://me@example.org"],
)  # fmt: skip
async def test_what_is_no_page_of_the_web_is_not_asked(url: str) -> None:
    await fails(Reach(), url, "not_allowed")


async def test_a_host_that_is_not_there_is_told() -> None:
    await fails(Reach(), "http://no-such-host.invalid/", "unreachable", "no host no-such-host")


async def test_the_connection_goes_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that answers otherwise the second time gains nothing: nobody asks a second time."""
    lookups: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name != "rebind.example":
            return real(host, *args, **more)
        lookups.append(name)
        if len(lookups) > 1:
            raise AssertionError("looked up again")
        return real("127.0.0.1", *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with Site({"/": page("here")}) as site:
        reach = Reach(allow=("rebind.example",))
        answer = await reach.ask(WebRequest(f"http://rebind.example:{site.port}/", types=()))
    assert (answer.body, len(lookups)) == (b"here", 1)
    assert site.asked[0].headers["host"] == f"rebind.example:{site.port}"


async def test_one_private_address_among_public_ones_is_enough_to_stay_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo

    def both(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name == "both.example":
            return [*real("1.1.1.1", *args, **more), *real("127.0.0.1", *args, **more)]
        return real(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", both)
    await fails(Reach(), "http://both.example/", "not_allowed")


async def test_the_next_address_is_tried_where_one_takes_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo

    def two(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name == "two.example":
            return [*real("127.0.0.2", *args, **more), *real("127.0.0.1", *args, **more)]
        return real(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with Site({"/": page("second")}) as site:
        reach = Reach(allow=("two.example",))
        answer = await reach.ask(WebRequest(f"http://two.example:{site.port}/", types=()))
    assert answer.body == b"second"


# ---------------------------------------------------------------- redirects


async def test_redirects_are_followed_and_the_last_address_is_told() -> None:
    routes = {"/a": moved("/b", 301), "/b": moved("c?d=1", 307), "/c": page("end")}
    with Site(routes) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    assert (answer.url, answer.body) == (f"{site.url}/c?d=1", b"end")


@pytest.mark.parametrize(
    "where",
    ["http://127.0.0.1:1/", "http://localhost/", "http://169.254.169.254/latest/meta-data",
     "http://[::1]/", "//127.0.0.1:1/", "file:///etc/passwd", "http://me:pw@example.org/"],
)  # fmt: skip
async def test_every_hop_is_checked_again(where: str) -> None:
    with Site({"/a": moved("/b"), "/b": moved(where)}) as site:
        await fails(near(site), f"{site.url}/a", "not_allowed")
    assert [was.path for was in site.asked] == ["/a", "/b"]


async def test_who_sends_round_in_circles_is_left() -> None:
    with Site({"/a": moved("/b"), "/b": moved("/a")}) as site:
        await fails(near(site, hops=3), f"{site.url}/a", "not_allowed", "more than 3 times")
    assert len(site.asked) == 4


async def test_a_key_goes_to_the_first_server_only() -> None:
    with Site({"/b": page("other")}) as other:
        with Site({"/a": moved("/aa"), "/aa": moved(f"{other.url}/b")}) as site:
            reach = Reach(allow=(site.host, other.host))
            await reach.ask(WebRequest(f"{site.url}/a", headers={"X-Key": "secret"}, types=()))
    assert [was.headers.get("x-key") for was in (*site.asked, *other.asked)] == [
        "secret",
        "secret",
        None,
    ]


async def test_what_was_posted_is_not_sent_elsewhere() -> None:
    with Site({"/a": moved("/b", 307)}) as site:
        await fails(near(site), f"{site.url}/a", "bad_answer", "sends elsewhere", json={"q": 1})
    assert len(site.asked) == 1


async def test_a_redirect_to_nowhere_is_an_answer() -> None:
    with Site({"/a": SiteAnswer(status=304)}) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    trouble = status_failure(answer)
    assert trouble is not None
    assert (answer.status, trouble.kind) == (304, "bad_answer")


# ---------------------------------------------------------------- sizes and kinds


async def test_no_more_is_read_than_is_allowed() -> None:
    with Site({"/a": page("x" * 1_000)}) as site:
        assert len(
            (await near(site, max_bytes=1_000).ask(WebRequest(f"{site.url}/a", types=()))).body
        )
        await fails(near(site, max_bytes=999), f"{site.url}/a", "too_large", "more than 999 bytes")


async def test_a_body_in_many_pieces_is_left_when_it_is_too_long() -> None:
    pieces = {"transfer-encoding": "chunked"}
    body = b"1\r\nx\r\n" * 1_000 + b"0\r\n\r\n"
    with Site({"/a": SiteAnswer(body, headers=pieces)}) as site:
        assert len((await near(site).ask(WebRequest(f"{site.url}/a", types=()))).body) == 1_000
        await fails(near(site, max_bytes=10), f"{site.url}/a", "too_large")


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (zlib.compress, "deflate")])
async def test_what_is_packed_is_unpacked_within_the_limit(
    pack: Callable[[bytes], bytes], name: str
) -> None:
    small, bomb = pack(b"hello " * 10), pack(b"\0" * 5_000_000)
    assert len(bomb) < 10_000
    packed = {"content-encoding": name}
    with Site(
        {"/a": SiteAnswer(small, headers=packed), "/b": SiteAnswer(bomb, headers=packed)}
    ) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
        assert answer.body == b"hello " * 10
        await fails(near(site, max_bytes=10_000), f"{site.url}/b", "too_large")
    assert site.asked[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("body", "name", "says"),
    [(b"not packed", "gzip", "cannot be unpacked"), (b"x", "br", "packed as 'br'")],
)
async def test_what_cannot_be_unpacked_is_told(body: bytes, name: str, says: str) -> None:
    with Site({"/a": SiteAnswer(body, headers={"content-encoding": name})}) as site:
        await fails(near(site), f"{site.url}/a", "bad_answer", says)


@pytest.mark.parametrize(("kind", "says"), [("image/png", "image/png"), ("", "does not name")])
async def test_other_kinds_than_asked_for_are_not_read(kind: str, says: str) -> None:
    with Site({"/a": SiteAnswer(b"x" * 1_000, kind)}) as site:
        with pytest.raises(WebToolError, match=says) as caught:
            await near(site, max_bytes=10).ask(WebRequest(f"{site.url}/a", types=("text/",)))
    assert caught.value.kind == "not_readable"


async def test_refusals_are_read_in_part_whatever_their_kind() -> None:
    with Site({"/a": SiteAnswer(b"x" * 100_000, "image/png", 418)}) as site:
        answer = await near(site, max_bytes=10).ask(WebRequest(f"{site.url}/a"))
    assert (answer.status, len(answer.body)) == (418, 65_536)


def test_what_is_no_json_is_told() -> None:
    for body in (b"", b"<html>", b'{"a": ', b'{"a": "\xff"}'):
        with pytest.raises(WebToolError, match="no JSON"):
            Answer("http://a/", body).json()


# ---------------------------------------------------------------- busy, failing, slow


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_server_is_asked_again_after_the_wait_it_asks_for(status: int) -> None:
    busy = SiteAnswer(b"", status=status, headers={"retry-after": "0"})
    with Site({"/a": [busy, busy, page("at last")]}) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    assert (answer.body, len(site.asked)) == (b"at last", 3)


async def test_no_more_than_the_tries_are_made() -> None:
    busy = SiteAnswer(b"", status=503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
    with Site({"/a": busy}) as site:
        answer = await near(site, tries=2).ask(WebRequest(f"{site.url}/a", types=()))
    assert (answer.status, len(site.asked)) == (503, 2)


async def test_a_wait_beyond_the_time_there_is_is_not_begun() -> None:
    with Site({"/a": SiteAnswer(b"", status=429, headers={"retry-after": "3600"})}) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    trouble = status_failure(answer)
    assert trouble is not None
    assert (len(site.asked), trouble.kind) == (1, "busy")
    assert "wants a pause (3600)" in str(trouble)


async def test_a_server_that_does_not_say_how_long_is_asked_again_soon() -> None:
    with Site({"/a": [page("", 502), page("well")]}) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    assert answer.body == b"well"


async def test_a_silent_server_is_left_in_time() -> None:
    with Site({"/a": None}) as site:
        await fails(near(site, seconds=0.2), f"{site.url}/a", "timeout", "in 0.2 s")


async def test_a_lost_connection_is_tried_again_and_then_told() -> None:
    short = SiteAnswer(b"half", headers={"content-length": "100"})
    with Site({"/a": [short, page("whole")], "/b": short}) as site:
        answer = await near(site).ask(WebRequest(f"{site.url}/a", types=()))
        assert answer.body == b"whole"
        await fails(near(site, tries=2), f"{site.url}/b", "unreachable", "cannot be reached")
        assert len(site.asked) == 4
        await fails(near(site, seconds=0.3), f"{site.url}/b", "unreachable")
    assert len(site.asked) == 5


async def test_where_nobody_listens_it_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        await fails(Reach(allow=(host,), tries=1), f"http://{host}/", "unreachable")


async def test_who_waits_can_be_cancelled() -> None:
    with Site({"/a": None}) as site:
        with anyio.move_on_after(0.1) as scope:
            await near(site).ask(WebRequest(f"{site.url}/a", types=()))
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("text", "wait"),
    [("5", 5.0), (" 120 ", 120.0), ("", None), ("soon", None), ("-1", None), ("²", None),
     ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0), ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0)],
)  # fmt: skip
def test_waits_are_read_as_seconds_or_dates(text: str, wait: float | None) -> None:
    assert retry_after({"retry-after": text}, 10.0) == wait


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "refused"), (403, "refused"), (404, "not_found"), (410, "not_found"), (429, "busy"),
     (500, "unreachable"), (503, "unreachable"), (400, "bad_answer"), (418, "bad_answer")],
)  # fmt: skip
def test_statuses_have_their_kinds(status: int, kind: str) -> None:
    trouble = status_failure(Answer("https://a.example/x", status=status))
    assert trouble is not None
    assert (trouble.kind, "a.example" in str(trouble)) == (kind, True)
    assert status_failure(Answer("https://a.example/x", status=204)) is None


# ---------------------------------------------------------------- proxies and certificates


def through(was: Was) -> SiteAnswer:
    return page(f"by proxy to {was.headers['host']}")


async def test_a_proxy_is_used_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({"/": through}) as proxy, Site({"/": page("direct")}) as site:
        monkeypatch.setenv("http_proxy", proxy.url)
        reach = near(site)
        answer = await reach.ask(WebRequest("http://no-such-host.invalid/", types=()))
        assert answer.body == b"by proxy to no-such-host.invalid"
        # Public by its number: no name has to be looked up, and nothing leaves this machine.
        assert (await reach.ask(WebRequest("http://1.1.1.1/", types=()))).body.endswith(b"1.1.1.1")
        # One's own machines are asked directly, and those of others not at all.
        assert (await reach.ask(WebRequest(site.url, types=()))).body == b"direct"
        await fails(reach, proxy.url, "not_allowed")
        monkeypatch.setenv("no_proxy", "invalid")
        await fails(reach, "http://no-such-host.invalid/", "unreachable")
        monkeypatch.delenv("http_proxy")
        monkeypatch.setenv("all_proxy", proxy.url)
        monkeypatch.delenv("no_proxy")
        answer = await reach.ask(WebRequest("http://no-such-host.invalid/", types=()))
    assert answer.body.startswith(b"by proxy")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `localhost`, signed by itself."""
    folder = tmp_path_factory.mktemp("certificates")
    code = (
        "import datetime as dt, sys, pathlib\n"
        "from cryptography import x509\n"
        "from cryptography.hazmat.primitives import hashes, serialization as s\n"
        "from cryptography.hazmat.primitives.asymmetric import ec\n"
        "key = ec.generate_private_key(ec.SECP256R1())\n"
        "name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, 'test')])\n"
        "now = dt.datetime.now(dt.UTC)\n"
        "builder = (x509.CertificateBuilder().subject_name(name).issuer_name(name)\n"
        ".public_key(key.public_key()).serial_number(x509.random_serial_number())\n"
        ".not_valid_before(now - dt.timedelta(1)).not_valid_after(now + dt.timedelta(1))\n"
        ".add_extension(x509.SubjectAlternativeName([x509.DNSName('localhost')]), False)\n"
        ".add_extension(x509.BasicConstraints(True, None), True))\n"
        "cert = builder.sign(key, hashes.SHA256())\n"
        "pem = cert.public_bytes(s.Encoding.PEM)\n"
        "secret = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())\n"
        "pathlib.Path(sys.argv[1]).write_bytes(pem + secret)\n"
    )
    file = folder / "both.pem"
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)
    return file


@pytest.fixture
def secured(certificates: Path) -> Iterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates)
    with Site({"/": page("safe")}, context) as site:
        yield site


async def test_the_certificate_must_be_the_names_though_the_number_is_asked(
    secured: Site, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = Reach(allow=("localhost", "127.0.0.1"), tries=1)
    url = f"https://localhost:{secured.port}/"
    await fails(reach, url, "unreachable", "CERTIFICATE_VERIFY_FAILED")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates))
    assert (await reach.ask(WebRequest(url, types=()))).body == b"safe"
    await fails(reach, f"https://127.0.0.1:{secured.port}/", "unreachable", "CERTIFICATE")
