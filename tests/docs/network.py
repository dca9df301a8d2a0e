"""A network of its own for a page: only loopback, so that every port that the page names is free."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, SIOCSIFADDR = 0x8914, 0x8916
IFF_UP, IFF_RUNNING = 0x1, 0x40


def _unshare(flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _become_root_inside(user, group):
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def enter(addresses=()):
    """Loopback is up there, and has `addresses` too. Raises OSError where that is not permitted."""
    user, group = os.getuid(), os.getgid()
    if user == 0:
        _unshare(CLONE_NEWNET)
    else:
        _unshare(CLONE_NEWUSER | CLONE_NEWNET)
        _become_root_inside(user, group)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP | IFF_RUNNING))
        for i, address in enumerate(addresses):
            sockaddr = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, SIOCSIFADDR, struct.pack("16s16s", f"lo:{i}".encode(), sockaddr))
