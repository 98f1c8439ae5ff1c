"""Which rule applies to which name and port, who changes rules, and the operator's limits."""

from live import KEY, Failure, allow, deny, wait_until
from suite import case


def reaches(box, name, port=9999):
    return box.value("tcp(%r, %d)" % (name, port))["got"] == "hello"


@case("port that is not in the rule", quick=True)
def other_port(c):
    c.box.rules(allow("ok.example", 443, "6000-6400"))
    for port in (9999, 5432, 442, 444, 5999, 6401):
        assert not reaches(c.box, "ok.example", port), port
    assert not c.net.since("tcp") and not c.net.since("dns")
    c.control(reaches(c.box, "ok.example", 6379), "a port of the range")


SUFFIX = {
    "apex": "wild.example",
    "letters before the suffix": "evilwild.example",
    "suffix in the middle": "a.wild.example.attacker.example",
    "suffix at the start": "wild.example.attacker.example",
    "parent": "example",
    "hyphen instead of a dot": "a-wild.example",
}


def add_suffix():
    for label, name in SUFFIX.items():

        @case("*.suffix does not match: " + label, quick=True)
        def suffix(c, name=name):
            c.box.rules(allow("*.wild.example", 9999))
            assert not reaches(c.box, name)
            assert not c.net.since("tcp") and not c.net.since("dns"), c.net.since()
            c.control(reaches(c.box, "a.b.wild.example"), "a name two levels beneath it")


add_suffix()


@case("exact rule does not match names beneath it", quick=True)
def exact(c):
    c.box.rules(allow("ok.example", 9999))
    for name in ("a.ok.example", "xok.example", "ok.example.attacker.example"):
        assert not reaches(c.box, name), name
    assert not c.net.since("tcp") and not c.net.since("dns")
    c.control(reaches(c.box, "ok.example"), "the name itself")


@case("letters in other case and a final dot", quick=True)
def letters(c):
    c.box.rules(deny("denied.example"), default="allow")
    for name in ("DENIED.example", "denied.EXAMPLE.", "Denied.Example."):
        assert not reaches(c.box, name), name
    assert not c.net.reached("203.0.113.11")
    c.box.rules(allow("OK.Example", 9999))
    c.control(reaches(c.box, "ok.EXAMPLE."), "an allowed name in other letters")


ODD = {
    "empty label": "a..ok.example", "first dot": ".ok.example", "two final dots": "ok.example..",
    "space": "ok.example x", "slash": "ok.example/x", "NUL": "ok.example\\0.attacker.example",
    "newline": "ok.example\\nx", "at sign": "user@ok.example", "colon": "ok.example:80", "wildcard": "*.example",
    "hyphen at the start": "-ok.example", "percent": "ok%2eexample", "backslash": "ok\\\\.example",
}


@case("names that are none", quick=True)
def odd_names(c):
    c.box.rules(default="allow")
    got = c.box.run(
        "\n".join(
            "try:\n  result[%r] = [resolve('%s'), dns('%s')['count']]\nexcept Exception as e:\n  result[%r] = [[str(e)], 0]"
            % (label, name, name, label) for label, name in ODD.items()
        )
        + "\nraw = struct.pack('!HHHHHH', 7, 0x0100, 1, 0, 0, 0) + b'\\x0aok.example\\0\\0\\1\\0\\1'"
        + "\nresult['dot in a label'] = [[], dns('', raw=raw)['count']]"
    )
    assert got["dot in a label"][1] == 0, "a label with a dot in it is no name: %s" % got
    # Whatever the resolver library makes of them: no lookup leaves.
    assert not c.net.since("dns") and not c.net.since("tcp"), c.net.since()
    c.control(reaches(c.box, "ok.example"), "the same rule, a usual name")


@case("international names", quick=True)
def international(c):
    c.box.rules(allow("ok.example", 9999), deny("xn--bcher-kva.example"), default="allow")
    # Cyrillic letters that look like "ok".
    got = c.box.run("result['a'] = tcp('xn--bcher-kva.example', 9999)\ntry:\n  result['b'] = tcp('b\\u00fccher.example', 9999)\nexcept Exception as e:\n  result['b'] = {'got': ''}")
    assert got["a"]["got"] == "" and got["b"]["got"] == "" and not c.net.since("tcp"), got
    c.box.rules(allow("ok.example", 9999))
    got = c.box.run("try:\n  result['a'] = tcp('\\u043e\\u043a.example', 9999)\nexcept Exception as e:\n  result['a'] = {'got': ''}")
    assert got["a"]["got"] == "" and not c.net.since("tcp"), got
    c.box.rules(allow("xn--bcher-kva.example", 9999))
    c.control(reaches(c.box, "xn--bcher-kva.example"), "the encoded name, allowed")


@case("names with an underscore and names of 253 characters")
def unusual_names(c):
    long = ".".join(["b" * 48] * 5) + ".wild.example"
    long = long[-253:].lstrip(".")
    c.box.rules(allow("*.other.example", 9999))
    assert not reaches(c.box, "_x.wild.example") and not reaches(c.box, long)
    assert not c.net.since("dns")
    c.box.rules(allow("*.wild.example", 9999))
    c.control(reaches(c.box, "_x.wild.example") and reaches(c.box, long), "both beneath an allowed suffix")


@case("denial is more specific than the allowed suffix", quick=True)
def specific(c):
    c.box.rules(allow("*.wild.example", 9999), deny("no.wild.example"), deny("*.bad.wild.example"))
    assert not reaches(c.box, "no.wild.example") and not reaches(c.box, "x.bad.wild.example")
    assert not c.net.since("tcp")
    c.control(reaches(c.box, "yes.wild.example"), "another name beneath it")


@case("sandbox without rules reaches nothing", quick=True)
def no_rules(c):
    for name in ("ok.example", "denied.example", "example.com"):
        assert not reaches(c.box, name)
    assert not c.net.since("tcp") and not c.net.since("dns")
    denial = c.box.denial("ok.example")
    assert denial["remedy"] == "allow ok.example port 9999", denial
    c.main.call("POST", c.box.path + "/egress/allow", {"allow": "ok.example", "ports": [9999]})
    c.control(reaches(c.box, "ok.example"), "after the rule that the denial names")


@case("denial is an event and is counted", quick=True)
def visible(c):
    reaches(c.box, "unseen.example")
    denial = c.box.denial("unseen.example")
    assert denial and denial["denied"] and denial["port"] == 9999, denial
    found = wait_until(lambda: events(c, c.box.id, "egressDenied", "unseen.example"), 10, "an event of the denial")
    metrics = c.main.request("GET", "/metrics")[1]
    c.control("egress" in metrics and found, "event, report and metric name it")


def events(c, sandbox, kind, text):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", c.main.port, timeout=2)
    try:
        connection.request(
            "GET", "/api/v1/events?after=0&sandbox=%s&type=%s" % (sandbox, kind), headers={"Authorization": "Bearer " + KEY}
        )
        response = connection.getresponse()
        got = b""
        while text.encode() not in got:
            block = response.read1(65536)
            if not block:
                return False
            got += block
        return True
    except TimeoutError:
        return False
    finally:
        connection.close()


@case("read key changes rules", quick=True)
def read_key(c):
    key = make_key(c, "read")
    for method, path, body in (
        ("PUT", "/egress", {"rules": [allow("denied.example")]}),
        ("POST", "/egress/allow", allow("denied.example")),
    ):
        status, text = c.main.request(method, c.box.path + path, body, key=key)
        assert status == 403, (status, text)
    assert not reaches(c.box, "denied.example") and not c.net.since("tcp")
    c.main.call("PUT", c.box.path + "/egress", {"rules": [allow("denied.example", 9999)]}, key=make_key(c, "use"))
    c.control(reaches(c.box, "denied.example"), "a key with scope use")


def make_key(c, scope):
    name = "egress-" + scope
    c.main.request("DELETE", "/api/v1/keys/" + name)
    return c.main.call("POST", "/api/v1/keys", {"name": name, "scope": scope})["key"]


@case("token of the sandbox changes rules", quick=True)
def token(c):
    made = c.main.call("POST", c.box.path + "/tokens", {"scope": "use", "ttlSeconds": 600})
    token = next(value for value in made.values() if isinstance(value, str) and len(value) > 20)
    assert c.main.request("GET", c.box.path, key=token)[0] == 200, "the token is valid"
    for method, path, body in (
        ("PUT", "/egress", {"rules": [allow("denied.example")]}),
        ("POST", "/egress/allow", allow("denied.example")),
    ):
        status, text = c.main.request(method, c.box.path + path, body, key=token)
        assert status in (403, 404), (status, text)
    assert not reaches(c.box, "denied.example") and not c.net.since("tcp")
    c.main.call("POST", c.box.path + "/egress/allow", allow("denied.example", 9999))
    c.control(reaches(c.box, "denied.example"), "a key")


LOOP = """
s = socket.create_connection(('ok.example', 9999), 5)
s.settimeout(5)
open('/tmp/state', 'w').write('open')
while True:
    try:
        s.sendall(b'tick')
        if s.recv(10) != b'tick': break
    except OSError:
        break
    time.sleep(0.05)
open('/tmp/state', 'w').write('closed')
"""


def start_loop(box):
    import base64

    box.exec("rm -f /tmp/state")
    box.start("python3 /workspace/probe.py " + base64.b64encode(LOOP.encode()).decode())
    wait_until(lambda: state(box) == "open", 10, "an open connection")


def state(box):
    return box.exec("cat /tmp/state 2>/dev/null")[1].strip()


@case("rules change while connections are open", quick=True)
def change(c):
    c.box.rules(allow("ok.example", 9999))
    start_loop(c.box)
    c.box.rules()
    assert not reaches(c.box, "ok.example"), "a new connection follows the new rules at once"
    open_now = state(c.box)
    c.box.rules(close=True)
    wait_until(lambda: state(c.box) == "closed", 5, "the end of the open connection")
    c.control(open_now == "open", "without closeExisting the connection stayed")


@case("closeExisting keeps what is still allowed")
def close_keeps(c):
    c.box.rules(allow("ok.example", 9999), allow("denied.example", 9999))
    start_loop(c.box)
    c.box.rules(allow("ok.example", 9999), close=True)
    c.control(state(c.box) == "open" and not reaches(c.box, "denied.example"), "the allowed connection stayed")
    c.box.rules(close=True)
    wait_until(lambda: state(c.box) == "closed", 5, "the end of the open connection")


@case("operator's limits against the spec")
def ceiling(c):
    server = c.server(
        "ceiling", "egress.deny=denied.example,*.bad.wild.example", "egress.allow=always.example",
        "egress.limit_to=*.wild.example,ok.example,denied.example", "egress.connections=8", "egress.dns=203.0.113.53",
    ).start().await_ready()
    box = server.create([allow("*"), allow("denied.example"), allow("x.bad.wild.example")], egress={"default": "allow"})
    try:
        for name in ("denied.example", "x.bad.wild.example", "elsewhere.example", "example.com"):
            assert not reaches(box, name), name
        assert not c.net.since("tcp") and not c.net.since("dns"), c.net.since()
        assert "operator" in box.denial("denied.example")["reason"]
        assert not box.denial("denied.example").get("remedy"), "no rule of the spec helps"
        server.call("POST", box.path + "/egress/allow", allow("elsewhere.example", 9999))
        assert not reaches(box, "elsewhere.example"), "nor does a rule that is added"
        box.rules(allow("ok.example", 9999), limits={"connections": 500})
        got = box.run(
            "held = []\nfor i in range(20):\n  s = socket.socket(); s.settimeout(5)\n"
            "  try:\n    s.connect((resolve('ok.example')[0], 9999)); s.sendall(b'x'); r = s.recv(9)\n  except OSError:\n    r = b''\n  held.append((s, r))\n"
            "result['open'] = sum(1 for s, r in held if r == b'x')"
        )
        assert got["open"] == 8, got
        box.rules(allow("a.wild.example", 9999))
        c.control(
            reaches(box, "a.wild.example") and reaches(box, "always.example"),
            "names within the limits, and the one that the operator allows",
        )
    finally:
        server.stop()


@case("rules that cannot be used are refused", quick=True)
def invalid(c):
    for rule in ({"allow": "*.*.example"}, {"allow": "a*.example"}, {"allow": "http://ok.example"}, {"allow": ""},
                 {"allow": "10.0.0.0/33"}, {"allow": "ok.example", "ports": [0]}, {"allow": "ok.example", "ports": ["9-1"]},
                 {"allow": "0x7f.1"}, {"allow": "ok.example", "deny": "ok.example"}, {}, {"allow": "x" * 254},
                 {"allow": "010.0.0.5"}):
        try:
            c.box.rules(rule)
            raise AssertionError("accepted: %s" % rule)
        except Failure as e:
            assert e.status in (400, 422), (rule, e)
    c.box.rules(allow("ok.example", 9999))
    c.control(reaches(c.box, "ok.example"), "a usual rule")
