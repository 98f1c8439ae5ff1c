"""Other protocols, sockets with privileges, and other sandboxes."""

import subprocess

from cases_lookup import host_query
from live import allow
from suite import NotRun, case


def works(c):
    """The network of the sandbox still works after an attack."""
    c.box.rules(allow("ok.example", 9999))
    return c.box.value("tcp('ok.example', 9999)")["got"] == "hello"


def add_udp():
    for label, port in (("UDP", 9999), ("QUIC", 443), ("DNS over QUIC", 784), ("NTP", 123)):

        @case(label + " to an allowed name", quick=port == 443)
        def to_name(c, port=port):
            c.box.rules(allow("ok.example"), allow("203.0.113.10"), default="allow")
            got = c.box.run(
                "result['name'] = udp(resolve('ok.example')[0], %d)\n"
                "result['address'] = udp('203.0.113.10', %d)" % (port, port)
            )
            assert got["name"]["got"] == "" and got["address"]["got"] == "" and not c.net.since("udp"), got
            host_query(c, "udp('203.0.113.10', %d)" % port)
            c.control(c.net.since("udp"), "the same packet from the machine arrives")


add_udp()


PING = (
    "s = socket.socket(%s, socket.SOCK_DGRAM, %d); s.settimeout(1); s.sendto(bytes([%d]) + b'\\0' * 15, (%r, 0));"
    " s.recv(99)"
)


@case("ping", quick=True)
def ping(c):
    """The interface of the sandbox itself may answer for every address; then nothing left it."""
    c.box.rules(allow("*"), default="allow")
    before = icmp_packets()
    for attack in (PING % ("socket.AF_INET", 1, 8, "203.0.113.10"), PING % ("socket.AF_INET6", 58, 128, "2600:db8::10")):
        c.box.run("try:\n  %s\nexcept OSError as e:\n  result['error'] = str(e)" % attack)
    assert icmp_packets() == before, "packets left the machine"
    raw = (PING % ("socket.AF_INET", 1, 8, "203.0.113.10")).replace("SOCK_DGRAM", "SOCK_RAW").replace("bytes([8])", "b'\\x08\\0\\xf7\\xff'").replace("b'\\0' * 15", "b'\\0' * 4")
    subprocess.run(["python3", "-c", "import socket; " + raw], check=True, timeout=20)
    c.control(icmp_packets() > before, "a ping of the machine itself is counted")


def icmp_packets():
    """Messages that this machine sent, of IPv4 and IPv6 echo requests."""
    with open("/proc/net/snmp") as f:
        names, values = [line.split() for line in f if line.startswith("Icmp:")]
    total = int(values[names.index("OutEchos")])
    with open("/proc/net/snmp6") as f:
        return total + sum(int(line.split()[1]) for line in f if line.startswith("Icmp6OutEchos"))


def add_privileged():
    attacks = {
        "raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)"
        ".sendto(b'E\\0\\0 ' + b'\\0' * 28, ('203.0.113.10', 0))",
        "packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).sendto(b'x' * 60, ('lo', 0))",
        "raw ICMP socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b'\\x08\\0\\0\\0', ('203.0.113.10', 0))",
        "raw UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 17).sendto(b'\\0' * 12, ('203.0.113.10', 0))",
        "SCTP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132).connect(('203.0.113.10', 9999))",
        "vsock to the machine": "socket.socket(40, socket.SOCK_STREAM).connect((2, 1024))",
    }
    for label, attack in attacks.items():

        @case(label, quick=label == "raw socket")
        def privileged(c, attack=attack):
            c.box.rules(default="allow")
            c.box.run("try:\n  %s\n  result['done'] = True\nexcept OSError as e:\n  result['error'] = str(e)" % attack)
            assert not c.net.since("tcp") and not c.net.since("udp"), c.net.since()
            c.control(works(c), "a connection by name")


add_privileged()


@case("socket bound to an interface", quick=True)
def bound_device(c):
    c.box.rules(allow("203.0.113.10", 9998), default="allow")
    for device in ("lo", "eth0", "up0"):
        c.box.value("tcp('', 9999, device=%r, address=('203.0.113.10', 9999))" % device)
    assert not c.net.since("tcp")
    c.control(works(c), "a connection by name")


@case("socket bound to another source address")
def bound_source(c):
    for source in ("203.0.113.99", "198.51.100.1", "127.0.0.5", "198.18.0.9"):
        c.box.value("tcp('', 9999, bind=(%r, 0), address=('203.0.113.10', 9999))" % source)
    assert not c.net.since("tcp")
    c.box.rules(allow("ok.example", 9999))
    got = c.box.value("tcp('ok.example', 9999, bind=('127.0.0.5', 0))")
    arrived = c.net.reached(port=9999)
    c.control(got["got"] == "hello" and arrived[0]["source"] == "198.51.100.1", "allowed, under the machine's address")


@case("change of routes, addresses and firewall", quick=True)
def reconfigure(c):
    out = c.box.exec(
        "ip route add default dev lo 2>&1; ip route flush table local 2>&1; ip addr add 198.51.100.9/24 dev lo 2>&1;"
        " nft flush ruleset 2>&1; nft list ruleset 2>&1; iptables -t nat -F 2>&1; ip link add d0 type dummy 2>&1; true"
    )[1]
    got = c.box.value("tcp('203.0.113.10', 9999)")
    assert got["got"] == "" and not c.net.since("tcp"), (out, got)
    c.control(works(c), "the rules still apply, and a connection by name works")


@case("namespaces of its own", quick=True)
def own_namespaces(c):
    c.box.exec(
        "unshare -rn sh -c 'ip link set lo up; ip route add default dev lo; python3 /workspace/probe.py "
        "$(echo \"tcp(\\\"203.0.113.10\\\", 9999)\" | base64)' 2>&1; nsenter -t 1 -n true 2>&1; true"
    )
    assert not c.net.since("tcp")
    c.control(works(c), "a connection by name")


@case("sudo inside of the sandbox")
def with_sudo(c):
    c.box.exec("sudo -n ip route add default dev lo 2>&1; sudo -n nft flush ruleset 2>&1; true")
    got = c.box.value("tcp('denied.example', 9999)")
    assert got["got"] == "" and not c.net.since("tcp"), got
    c.control(works(c), "a connection by name")


@case("abstract unix socket of the machine", quick=True)
def abstract_socket(c):
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0isola-egress-test")
        listener.listen(5)
        code = (
            "s = socket.socket(socket.AF_UNIX)\ntry:\n  s.connect('\\0isola-egress-test'); result['open'] = True\n"
            "except OSError as e:\n  result['open'] = False"
        )
        assert not c.box.run(code)["open"]
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("\0isola-egress-test")
        c.control(True, "the machine itself connects")


@case("another sandbox", quick=True)
def other_sandbox(c):
    other = c.main.create([allow("ok.example")])
    try:
        other.start("python3 -m http.server --bind 0.0.0.0 7000")
        from live import wait_until

        wait_until(lambda: "200" in other.value("http('127.0.0.1', 7000)")["got"][:20], 20, "the service of the other")
        addresses = other.exec("ip -4 -o addr show 2>/dev/null | awk '{print $4}' | cut -d/ -f1; hostname -I")[1].split()
        c.box.rules(allow("198.18.0.0/15"), allow("127.0.0.0/8"), default="allow")
        for address in {*addresses, "127.0.0.1", "198.18.0.1", "198.19.0.1", other.id, other.id + ".local"}:
            got = c.box.value("http(%r, 7000, timeout=4)" % address)
            assert "200 OK" not in got["got"], (address, got)
        c.control("200" in other.value("http('127.0.0.1', 7000)")["got"][:20], "from inside of the other sandbox")
    finally:
        other.destroy()


@case("rules of one sandbox do not apply to another", quick=True)
def separate_rules(c):
    other = c.main.create([allow("denied.example", 9999)])
    try:
        c.box.rules(allow("ok.example", 9999))
        got = c.box.value("tcp('denied.example', 9999)")
        assert got["got"] == "" and not c.net.reached("203.0.113.11")
        c.control(other.value("tcp('denied.example', 9999)")["got"] == "hello", "the sandbox that has the rule")
    finally:
        other.destroy()


@case("connection to the listener of the agent")
def agent_listener(c):
    """The ports on which the agent listens lead nowhere without a destination."""
    got = c.box.run(
        """
ports = []
for line in open('/proc/net/tcp').read().splitlines()[1:]:
    fields = line.split()
    if fields[3] == '0A':
        ports.append(int(fields[1].split(':')[1], 16))
result['ports'] = ports
result['all'] = [tcp('127.0.0.1', p, b'GET / HTTP/1.1\\r\\nHost: denied.example\\r\\n\\r\\n', timeout=3)['got'] for p in ports]
"""
    )
    assert not c.net.since("tcp") and not any('"method"' in one for one in got["all"]), got
    c.control(works(c), "a connection by name (%d listeners)" % len(got["ports"]))


@case("network mode none has no names and no connections", quick=True)
def mode_none(c):
    if c.provider == "docker":
        raise NotRun("covered by the other providers")
    other = c.main.create(mode="none")
    try:
        got = other.run("result['a'] = tcp('ok.example', 9999); result['b'] = tcp('203.0.113.10', 9999)")
        assert got["a"]["got"] == got["b"]["got"] == "" and not c.net.since(), got
        c.control(works(c), "a sandbox with mode filtered")
    finally:
        other.destroy()
