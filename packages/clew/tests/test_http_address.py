"""Where a server listens: how an address is read, whom it lets in, and its socket."""

import socket

import pytest

from clew import ConfigError
from clew.support.http_address import HttpAddress


@pytest.mark.parametrize(
    ("written", "host", "port", "local", "in_url"),
    [
        ("127.0.0.1:80", "127.0.0.1", 80, True, "127.0.0.1"),
        (":81", "127.0.0.1", 81, True, "127.0.0.1"),
        ("localhost", "localhost", 8765, True, "localhost"),
        ("[::1]:82", "::1", 82, True, "[::1]"),
        ("[::1]", "::1", 8765, True, "[::1]"),
        ("0.0.0.0:83", "0.0.0.0", 83, False, "0.0.0.0"),
        ("clew.example:84", "clew.example", 84, False, "clew.example"),
    ],
)
def test_an_address_is_read(written: str, host: str, port: int, local: bool, in_url: str) -> None:
    address = HttpAddress.parse(written)
    assert address == HttpAddress(host, port)
    assert (address.is_local, address.in_url) == (local, in_url)


@pytest.mark.parametrize("written", ["host:x", "host:65536", "host:-1"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="is no address: write HOST:PORT"):
        HttpAddress.parse(written)


@pytest.mark.parametrize("port", [65_536, -1, True, "80"])
def test_a_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(ConfigError, match="port"):
        HttpAddress("localhost", port)


def test_what_is_accepted_sends_at_once() -> None:
    """Else a short response waits for the client's acknowledgement of its head: 40 ms each."""
    bound, there = HttpAddress("127.0.0.1", 0).bind()
    with (
        bound,
        socket.create_connection((there.host, there.port)),
        bound.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("host", ["192.0.2.1", "a" * 70, "no-such-host.invalid"])
def test_an_address_that_is_not_ours_is_one_line(host: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot listen at \S+:0: .*another port") as refusal:
        HttpAddress(host, 0).bind()
    assert "\n" not in str(refusal.value)


def test_a_port_in_use_is_one_line() -> None:
    bound, there = HttpAddress("127.0.0.1", 0).bind()
    with bound, pytest.raises(ConfigError, match=r"in use.*another port may be free"):
        there.bind()
