"""Which addresses may be connected to: those that everybody can reach, and no others."""

import ipaddress
import socket
from collections.abc import Collection
from typing import Final, TypeAlias

import anyio

from clew_web.errors import WebToolError

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_CARRIES: Final = (
    ipaddress.ip_network("64:ff9b::/96"),  # NAT64
    ipaddress.ip_network("2002::/16"),  # 6to4
)


def public(address: Address) -> bool:
    """Whether it is no private, loopback, link-local, multicast or reserved one.

    An IPv6 address that stands for an IPv4 one is as public as that.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if (inner := _carried(address)) is not None:
            return public(inner)
        if address.is_site_local or address.scope_id is not None:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to this one may end at."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    nat64, sixtofour = _CARRIES
    if address in nat64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour if address in sixtofour else None


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a host, in the order they should be tried. Raises `OSError`."""
    addresses = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(sockaddr[0]) for *_, sockaddr in addresses))


def check(host: str, port: int, addresses: Collection[Address], allow: Collection[str]) -> None:
    """Raise `WebToolError` where any address is not public, unless the host is allowed by name.

    `allow` holds hosts, or `host:port` where only that port may be asked.
    """
    if {host.lower(), f"{host.lower()}:{port}"} & {name.lower() for name in allow}:
        return
    for address in addresses:
        if not public(address):
            text = (
                f"{host} is not at a public address: only the public web is asked (a person can "
                "allow a host by its name)"
            )
            raise WebToolError("not_allowed", text)
