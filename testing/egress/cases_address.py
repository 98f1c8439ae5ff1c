"""Addresses: the forms in which one is written, and names that resolve to those that no sandbox may reach."""

from live import allow
from suite import NotRun, case

METADATA = "169.254.169.254"
# Each form of the metadata address that programs accept, as text for getaddrinfo.
FORMS = {
    "dotted": METADATA,
    "decimal": "2852039166",
    "hexadecimal": "0xa9fea9fe",
    "octal": "0251.0376.0251.0376",
    "short": "169.16689662",
    "mixed bases": "0xa9.254.0251.254",
    "leading zeros": "0251.254.0xa9.0376",
    "IPv4-mapped": "::ffff:169.254.169.254",
    "IPv4-mapped in hexadecimal": "::ffff:a9fe:a9fe",
}


def add_forms():
    for label, text in FORMS.items():

        @case("metadata address, " + label, quick=label in ("dotted", "decimal", "IPv4-mapped"))
        def form(c, text=text):
            c.box.rules(allow(METADATA), allow("*"), default="allow")
            got = c.box.value("http(%r, name='metadata')" % text)
            assert not c.net.reached(METADATA), got
            assert "latest" not in got["got"] and '"method"' not in got["got"], got
            control_by_address(c, METADATA, text)


def control_by_address(c, address, text=None):
    if not c.every_port:
        control_by_name(c, "tometadata.example", address)
        return
    c.open_box.rules(allow(address, 80))
    c.net.mark()
    got = c.open_box.value("http(%r, name='metadata')" % (text or address))
    c.control('"method"' in got["got"] and c.net.reached(address, 80), "reached where egress.allow_addresses opens it")


def control_by_name(c, name, address):
    c.open_box.rules(allow(name, 80))
    c.net.mark()
    got = c.open_box.value("http(%r)" % name)
    c.control('"method"' in got["got"] and c.net.reached(address, 80), "reached where egress.allow_addresses opens it")


add_forms()


def add_textual():
    for label, text in (("with a final dot", METADATA + "."), ("decimal with a final dot", "2852039166."),
                        ("percent-encoded", "169.254.169%2e254"), ("full-width digits", "１６９.254.169.254"),
                        ("as a name under a number", "169.254.169.254.0x0")):

        @case("metadata address, " + label)
        def textual(c, text=text):
            c.box.rules(allow(METADATA), allow("*"), default="allow")
            got = c.box.run(
                "import urllib.request\n"
                "try:\n  result['got'] = urllib.request.urlopen('http://' + %r + '/latest', timeout=5).read().decode()\n"
                "except Exception as e:\n  result['got'] = repr(e)\n"
                "try:\n  result['raw'] = http(%r)['got']\n"
                "except Exception as e:\n  result['raw'] = repr(e)" % (text, text)
            )
            assert not c.net.reached(METADATA) and '"method"' not in got["got"] + got["raw"], got
            control_by_address(c, METADATA)


add_textual()

DIRECT = {
    "Alibaba's metadata": "100.100.100.200",
    "Azure's metadata": "168.63.129.16",
    "Oracle's metadata": "192.0.0.192",
    "10/8": "10.0.0.5",
    "172.16/12": "172.16.0.5",
    "192.168/16": "192.168.1.1",
    "the bridge's block": "198.19.7.7",
}


def add_direct():
    for label, address in DIRECT.items():

        @case("address in %s" % label, quick=label.startswith("10"))
        def direct(c, address=address):
            c.box.rules(allow(address), default="allow")
            got = c.box.value("http(%r)" % address)
            assert not c.net.reached(address) and '"method"' not in got["got"], got
            if not c.every_port:
                control_by_name(c, "toprivate.example", "10.0.0.5")
                return
            control_by_address(c, address)


add_direct()


@case("public address without a rule for it", quick=True)
def public_address(c):
    c.box.rules(allow("ok.example"), allow("*"), default="allow")
    got = c.box.value("http('203.0.113.10')")
    assert not c.net.reached("203.0.113.10") and '"method"' not in got["got"], got
    c.box.rules(allow("203.0.113.0/24", 80) if c.every_port else allow("ok.example", 80))
    got = c.box.value("http(%r)" % ("203.0.113.10" if c.every_port else "ok.example"))
    c.control('"method"' in got["got"], "reached with a rule for the block")


@case("public IPv6 address", quick=True)
def public_v6(c):
    c.box.rules(allow("2600:db8::/32"), allow("*"), default="allow")
    got = c.box.value("http('2600:db8::10')")
    assert not c.net.since("tcp") and '"method"' not in got["got"], got
    c.box.rules(allow("v6.example", 80))
    got = c.box.value("http('v6.example')")
    c.control('"method"' in got["got"] and c.net.reached("2600:db8::10"), "the same host by its name is reached")


@case("IPv6 link-local address with a zone", quick=True)
def zone(c):
    c.box.rules(default="allow")
    for text in ("fe80::1%lo", "fe80::1%1", "fe80::a9fe:a9fe%lo"):
        c.box.value("http(%r, name='x')" % text)
    assert not c.net.since("tcp")
    c.box.rules(allow("v6.example", 80))
    c.control('"method"' in c.box.value("http('v6.example')")["got"], "a name with an IPv6 address is reached")


# Names whose answer is forbidden; the address is where the control server arrives, None if nothing answers there.
NAMES = {
    "tometadata": METADATA, "toalibaba": "100.100.100.200", "toazure": "168.63.129.16", "tooracle": "192.0.0.192",
    "toprivate": "10.0.0.5", "toprivate172": "172.16.0.5", "toprivate192": "192.168.1.1", "tobridge": "198.19.7.7",
    "toula": "fd00:ec2::254", "toula2": "fc00::5", "tosite": "fec0::5", "mapped": METADATA,
    "nat64": "64:ff9b::a9fe:a9fe", "sixtofour": "2002:a9fe:a9fe::1", "teredo": "2001:0:a9fe:a9fe::1",
    "compatible": "::169.254.169.254", "cname-private": "10.0.0.5",
    "tofake": None, "tobroadcast": None, "tomulticast": None, "tolink6": None, "tozero6": None,
}
QUICK_NAMES = {"tometadata", "toprivate", "mapped", "nat64", "toula", "cname-private"}


def add_names():
    for label, address in NAMES.items():

        @case("allowed name that resolves to a forbidden address: " + label, quick=label in QUICK_NAMES)
        def name(c, label=label, address=address):
            host = label + ".example"
            c.box.rules(allow(host, 80))
            got = c.box.value("http(%r)" % host)
            assert not c.net.since("tcp") and '"method"' not in got["got"], got
            denial = c.box.denial(host)
            assert denial and denial["denied"] and "never reach" in denial["reason"], denial
            assert host in c.net.names(), "an allowed name is looked up"
            if address is None:
                c.box.rules(allow("ok.example", 80))
                c.control('"method"' in c.box.value("http('ok.example')")["got"], "a name with a public address")
            else:
                control_by_name(c, host, address)


add_names()


LOCAL = []


def local_services(c):
    """Starts a listener on this machine, which answers with words that a sandbox must not see."""
    import socket
    import threading

    if hasattr(local_services, "listener"):
        return LOCAL
    listener = local_services.listener = socket.socket(socket.AF_INET6)
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind(("::", 7654))
    listener.listen(50)

    def serve():
        while True:
            s, _ = listener.accept()
            LOCAL.append(s.getsockname()[0])
            s.sendall(b"of the host")
            s.close()

    threading.Thread(target=serve, daemon=True).start()
    return LOCAL


HOST_NAMES = ("toloop", "toloop2", "tozero", "tohost", "toloop6", "tohost6", "mappedloop")


def add_host():
    for label in HOST_NAMES:

        @case("service of the machine by name: " + label, quick=label in ("toloop", "tohost"))
        def host_service(c, label=label):
            seen = local_services(c)
            seen.clear()
            host = label + ".example"
            c.box.rules(allow(host, 7654))
            got = c.box.value("tcp(%r, 7654, b'')" % host)
            assert not seen and got["got"] == "", (got, seen)
            c.open_box.rules(allow(host, 7654))
            got = c.open_box.value("tcp(%r, 7654, b'')" % host)
            c.control(seen and got["got"] == "of the host", "reached where egress.allow_addresses opens it")


add_host()


def add_host_addresses():
    for address in ("198.51.100.1", "127.0.0.1", "0.0.0.0", "::1", "2600:db8:1::1", "127.255.255.254"):

        @case("service of the machine by address: " + address, quick=address in ("198.51.100.1", "127.0.0.1"))
        def host_address(c, address=address):
            seen = local_services(c)
            seen.clear()
            c.box.rules(allow(address, 7654), default="allow")
            got = c.box.value("tcp(%r, 7654, b'')" % address)
            assert not seen and got["got"] == "", (got, seen)
            c.open_box.rules(allow("tohost.example", 7654))
            c.open_box.value("tcp('tohost.example', 7654, b'')")
            c.control(seen, "reached by a name where egress.allow_addresses opens it")


add_host_addresses()


@case("API of the server itself", quick=True)
def own_api(c):
    c.box.rules(allow("toloop.example", c.main.port), allow("127.0.0.1", c.main.port))
    got = c.box.run(
        "result['name'] = http('toloop.example', %d, '/readyz')['got']\n"
        "result['address'] = http('127.0.0.1', %d, '/readyz')['got']" % (c.main.port, c.main.port)
    )
    assert "200" not in got["name"] + got["address"], got
    c.control(c.main.request("GET", "/readyz")[0] == 200, "the machine itself reaches it")


@case("forbidden addresses by the resolver of the operating system")
def system_resolver(c):
    """The other cases run with egress.dns."""
    server = c.server("system").start().await_ready()
    box = server.create()
    try:
        seen = local_services(c)
        seen.clear()
        names = [label + ".example" for label in (*NAMES, *HOST_NAMES)]
        box.rules(*[allow(name) for name in names])
        for name in names:
            got = box.run("result['a'] = http(%r)['got']; result['b'] = tcp(%r, 7654, b'')['got']" % (name, name))
            assert '"method"' not in got["a"] and got["b"] == "", (name, got)
            reason = box.denial(name)["reason"]
            assert "never reach" in reason or "cannot be resolved" in reason, (name, reason)
        assert not c.net.since("tcp") and not seen
        assert "link-local" in box.denial("mapped.example")["reason"], box.denial("mapped.example")
        box.rules(allow("ok.example", 80))
        c.control('"method"' in box.value("http('ok.example')")["got"], "a name with a public address")
    finally:
        server.stop()


@case("name whose answer changes", quick=True)
def rebind(c):
    c.box.rules(allow("rebind.example", 80))
    got = c.box.run("result['all'] = [http('rebind.example')['got'][:12] for _ in range(30)]")["all"]
    assert not c.net.reached("10.0.0.5") and not c.net.reached(METADATA), c.net.since("tcp")
    assert any("200" in one for one in got), "the public answer is used: %s" % got
    answers = c.net.names().count("rebind.example")
    c.open_box.rules(allow("rebind.example", 80))
    c.open_box.run("for i in range(12): http('rebind.example')")
    c.control(c.net.reached("10.0.0.5"), "all answers are used where they are opened; %d lookups before" % answers)


@case("name with public and forbidden answers", quick=True)
def mixed(c):
    c.box.rules(allow("mixed.example", 80))
    got = c.box.value("http('mixed.example')")
    assert not c.net.reached("10.0.0.5") and not c.net.reached(METADATA)
    c.control('"method"' in got["got"] and c.net.reached("203.0.113.10"), "its public answer is reached")


@case("name with 81 answers")
def many(c):
    c.box.rules(allow("many.example", 80))
    got = c.box.value("http('many.example', timeout=60)")
    c.control('"method"' in got["got"], "reached")


@case("chain of names")
def chain(c):
    c.box.rules(allow("chain5.example", 80), allow("cname-loop.example", 80))
    loop = c.box.value("http('cname-loop.example', timeout=20)")
    assert '"method"' not in loop["got"]
    got = c.box.value("http('chain5.example')")
    c.control('"method"' in got["got"], "a chain of five names is reached")


@case("fake address that no name has", quick=True)
def unused_fake(c):
    c.box.rules(allow("*"), allow("198.18.0.0/16"), default="allow")
    got = c.box.run(
        "result['all'] = [http(a, timeout=3)['got'] for a in ('198.18.77.77', '198.18.255.255', '198.18.0.1')]"
    )["all"]
    assert not c.net.since("tcp") and not any('"method"' in one for one in got), got
    got = c.box.run("a = resolve('ok.example')[0]\nresult['got'] = http(a, name='ok.example')")["got"]
    c.control('"method"' in got["got"], "the address of a name that was looked up")


@case("address of a name after the table was reused")
def stale_fake(c):
    if c.provider == "gvisor":
        raise NotRun("40,000 lookups take minutes in gVisor")
    c.box.rules(allow("ok.example", 9999))
    got = c.box.run(
        """
old = resolve('ok.example')[0]
result['before'] = tcp(old, 9999)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.connect((server(), 53))
for i in range(17000):
    s.send(query('other%d.example' % i))
    s.recv(600)
result['after'] = tcp(old, 9999)
result['again'] = tcp('ok.example', 9999)
""", 300,
    )
    assert got["after"]["got"] != "hello", got
    denied = c.box.denial(port=9999)
    assert denied and denied["host"].startswith("other"), denied
    c.control(got["before"]["got"] == "hello" and got["again"]["got"] == "hello", "before, and after a new lookup")
