"""TLS and HTTP: what a request says about its host does not change where it goes."""

import json

from live import allow, deny
from suite import NotRun, case


def seen(got):
    """The request as it arrived, from the answer of the internet."""
    body = got["got"].partition("\r\n\r\n")[2]
    return json.loads(body) if body.startswith('{"method"') else {}


@case("Host of another site", quick=True)
def other_host(c):
    c.box.rules(allow("ok.example", 80))
    got = c.box.value("http('ok.example', name='denied.example')")
    assert not c.net.reached("203.0.113.11"), c.net.since("tcp")
    assert not seen(got) or seen(got)["address"] == "203.0.113.10"
    c.box.rules(allow("denied.example", 80))
    c.control(seen(c.box.value("http('denied.example')")).get("address") == "203.0.113.11", "the site itself, allowed")


@case("SNI of another site", quick=True)
def other_sni(c):
    c.box.rules(allow("ok.example", 443))
    got = c.box.value("tls('ok.example', sni='denied.example', name='denied.example')")
    assert not c.net.reached("203.0.113.11"), got
    c.box.rules(allow("denied.example", 443))
    c.control(seen(c.box.value("tls('denied.example')")).get("address") == "203.0.113.11", "the site itself, allowed")


@case("denied site with the SNI and Host of an allowed one", quick=True)
def borrowed_sni(c):
    c.box.rules(allow("ok.example", 443, 80))
    got = c.box.value("tls('denied.example', sni='ok.example', name='ok.example')")
    plain = c.box.value("http('denied.example', name='ok.example')")
    assert not c.net.reached("203.0.113.11") and not seen(got) and not seen(plain), (got, plain)
    c.control(seen(c.box.value("tls('ok.example')")).get("sni") == "ok.example", "the allowed site")


@case("no SNI", quick=True)
def no_sni(c):
    c.box.rules(allow("ok.example", 443))
    got = c.box.value("tls('denied.example', no_sni=True)")
    assert not c.net.since("tcp") and not seen(got), got
    got = c.box.value("tls('ok.example', no_sni=True)")
    c.control(seen(got).get("sni") == "", "an allowed name without SNI")


@case("encrypted ClientHello", quick=True)
def ech(c):
    """A hello with the extension for an encrypted one (0xfe0d): the name inside decides nothing."""
    hello = (
        "import os\nbody = b'\\x03\\x03' + os.urandom(32) + b'\\x00' + b'\\x00\\x02\\x13\\x01' + b'\\x01\\x00'\n"
        "ext = b'\\xfe\\x0d' + struct.pack('!H', 200) + os.urandom(200)\n"
        "body += struct.pack('!H', len(ext)) + ext\nhand = b'\\x01' + struct.pack('!I', len(body))[1:] + body\n"
        "record = b'\\x16\\x03\\x01' + struct.pack('!H', len(hand)) + hand\n"
    )
    c.box.rules(allow("ok.example", 443))
    got = c.box.run(hello + "result['got'] = tcp('denied.example', 443, record)['got']")
    assert not c.net.since("tcp"), got
    c.box.run(hello + "result['got'] = tcp('ok.example', 443, record)['got']")
    c.control(c.net.reached("203.0.113.10", 443), "to an allowed name it arrives")


@case("redirect to a denied site", quick=True)
def redirect(c):
    c.box.rules(allow("ok.example", 80))
    status, out, err = c.box.exec("curl -sS -L -m 8 http://ok.example/redirect/http://denied.example/x; echo \"[$?]\"")
    assert not c.net.reached("203.0.113.11"), out
    assert c.net.reached("203.0.113.10"), "the redirect itself arrives"
    c.box.rules(allow("ok.example", 80), allow("denied.example", 80))
    out = c.box.exec("curl -sS -L -m 8 http://ok.example/redirect/http://denied.example/x")[1]
    c.control('"address": "203.0.113.11"' in out, "followed if both are allowed")


@case("redirect to the metadata service", quick=True)
def redirect_metadata(c):
    c.box.rules(allow("ok.example", 80), allow("169.254.169.254"), allow("*"))
    out = c.box.exec("curl -sS -L -m 8 http://ok.example/redirect/http://169.254.169.254/latest 2>&1")[1]
    assert not c.net.reached("169.254.169.254") and '"method"' not in out, out
    if not c.every_port:
        raise NotRun("addresses are not routed by this provider")
    c.open_box.rules(allow("ok.example", 80), allow("169.254.169.254", 80))
    out = c.open_box.exec("curl -sS -L -m 8 http://ok.example/redirect/http://169.254.169.254/latest")[1]
    c.control('"address": "169.254.169.254"' in out, "followed where egress.allow_addresses opens it")


@case("proxy variables of the sandbox")
def proxy_variables(c):
    c.box.rules(allow("ok.example", 80))
    out = c.box.exec("http_proxy=http://proxy.example:3128 curl -sS -m 8 http://denied.example/ 2>&1")[1]
    assert not c.net.since("tcp") and '"method"' not in out, out
    c.box.rules(allow("proxy.example", 3128))
    out = c.box.exec("http_proxy=http://proxy.example:3128 curl -sS -m 8 http://denied.example/ 2>&1")[1]
    c.control('"method"' in out, "the proxy, if it is allowed")


def with_http_rules(c, *rules, host="ok.example", ports=(80,)):
    """Sets HTTP rules; the case is not run on a server that does not apply them."""
    c.box.rules(allow(host, *ports, http=list(rules)))
    return c


@case("method that no HTTP rule allows", quick=True)
def http_method(c):
    with_http_rules(c, {"methods": ["GET"], "path": "/api/*"})
    for method, path in (("POST", "/api/x"), ("GET", "/other"), ("get", "/api/x"), ("DELETE", "/api/x"),
                         ("GET", "/api/../other"), ("GET", "//api/x"), ("GET", "/api/%2e%2e/other"), ("GET", "/API/x")):
        c.net.mark()
        got = c.box.value("http('ok.example', path=%r, method=%r)" % (path, method))
        assert not c.net.since("http"), (method, path, c.net.since("http"))
        assert " 403 " in got["got"][:20] or " 400 " in got["got"][:20], (method, path, got)
    got = c.box.value("http('ok.example', path='/api/x?y=1')")
    c.control(seen(got).get("path") == "/api/x?y=1", "the method and path that the rule allows")


@case("method that no HTTP rule allows, inside of TLS", quick=True)
def https_method(c):
    with_http_rules(c, {"methods": ["GET"], "path": "/api/*"}, ports=(443,))
    got = c.box.value("tls('ok.example', path='/other')")
    assert not c.net.since("http") and " 403 " in got["got"][:20], got
    got = c.box.value("tls('ok.example', path='/api/x')")
    c.control(seen(got).get("path") == "/api/x" and seen(got)["tls"], "the path that the rule allows, over TLS")


@case("Host of another site with HTTP rules", quick=True)
def http_host(c):
    with_http_rules(c, {"path": "/*"}, ports=(80, 443))
    for call in ("http('ok.example', name='denied.example')", "tls('ok.example', name='denied.example')",
                 "tls('ok.example', sni='denied.example')", "http('ok.example', path='http://denied.example/')",
                 "http('ok.example', headers='Host: denied.example\\r\\n')"):
        c.net.mark()
        got = c.box.value(call)
        hosts = [v for one in c.net.since("http") for k, *v in one["headers"] if k.lower() == "host"]
        assert all(h[0] in ("ok.example", "ok.example:80", "ok.example:443") for h in hosts), (call, hosts)
        assert not c.net.reached("203.0.113.11"), call
    c.control(seen(c.box.value("http('ok.example', path='/a')")).get("path") == "/a", "its own Host")


SMUGGLED = {
    "two lengths": "Content-Length: 5\r\nContent-Length: 60\r\n\r\nhello",
    "length and chunks": "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "chunks with a space": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "unknown coding": "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "folded header": "X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "bare line feeds": "X: y\n\nGET /other HTTP/1.1\nHost: ok.example\n\n",
    "carriage return in a header": "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "negative length": "Content-Length: -1\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "signed length": "Content-Length: +0\r\n\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "pipelined": "\r\nGET /other HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    "upgrade": "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


def add_smuggling():
    for label, rest in SMUGGLED.items():

        @case("smuggled request: " + label, quick=label in ("two lengths", "length and chunks", "pipelined"))
        def smuggle(c, rest=rest):
            with_http_rules(c, {"methods": ["GET", "POST"], "path": "/api/*"})
            raw = "POST /api/x HTTP/1.1\r\nHost: ok.example\r\n" + rest
            c.box.value("tcp('ok.example', 80, %r, timeout=2)" % raw.encode())
            other = [one["path"] for one in c.net.since("http") if not one["path"].startswith("/api/")]
            assert not other, "passed the rule: %s" % other
            got = c.box.value("http('ok.example', path='/api/y')")
            c.control(seen(got).get("path") == "/api/y", "a request that the rule allows")


add_smuggling()


@case("CONNECT through an allowed host with HTTP rules", quick=True)
def connect(c):
    request = "tcp('proxy.example', 3128, b'CONNECT denied.example:9999 HTTP/1.1\\r\\nHost: denied.example:9999\\r\\n\\r\\n', timeout=3)"
    with_http_rules(c, {"path": "/*"}, host="proxy.example", ports=(3128,))
    got = c.box.value(request)
    assert not c.net.since("connect") and not c.net.reached("203.0.113.11"), got
    c.box.rules(allow("proxy.example", 3128))
    c.box.value(request)
    c.control(c.net.since("connect"), "without HTTP rules the proxy is asked")


@case("another protocol on a port with HTTP rules")
def not_http(c):
    with_http_rules(c, {"path": "/api/*"}, ports=(9999,))
    for payload in (b"SSH-2.0-x\r\n", b"\x00\x01\x02\x03" * 50, b"GET", b"\r\n\r\n"):
        got = c.box.value("tcp('ok.example', 9999, %r, timeout=2)" % payload)
        assert got["got"].encode("latin-1") != payload, (payload, got)
    c.box.rules(allow("ok.example", 9999))
    c.control(c.box.value("tcp('ok.example', 9999)")["got"] == "hello", "without HTTP rules")


@case("giant request head with HTTP rules", quick=True)
def giant_head(c):
    with_http_rules(c, {"path": "/*"})
    before = c.main.memory()
    got = c.box.run(
        "result['long'] = tcp('ok.example', 80, b'GET /' + b'a' * 3000000 + b' HTTP/1.1\\r\\nHost: ok.example\\r\\n\\r\\n')['got'][:40]\n"
        "many = b''.join(b'X%d: y\\r\\n' % i for i in range(300000))\n"
        "result['many'] = tcp('ok.example', 80, b'GET / HTTP/1.1\\r\\nHost: ok.example\\r\\n' + many + b'\\r\\n')['got'][:40]"
    )
    assert not c.net.since("http"), "an unbounded head arrived"
    after = c.main.memory()
    assert after - before < 120, "memory grew from %d to %d MiB" % (before, after)
    c.control(seen(c.box.value("http('ok.example')")), "a usual request (%d to %d MiB)" % (before, after))


@case("denied HTTP request is told why", quick=True)
def told_why(c):
    got = c.box.value("http('denied.example')")
    assert " 403 " in got["got"][:20] and "no rule allows denied.example port 80" in got["got"], got
    c.box.rules(allow("denied.example", 80))
    c.control(seen(c.box.value("http('denied.example')")), "with the rule")


@case("denied HTTPS request is told why", quick=True)
def told_why_tls(c):
    got = c.box.value("tls('denied.example')")
    assert " 403 " in got["got"][:20] and "no rule allows denied.example port 443" in got["got"], got
    assert not c.net.since("tcp")
    status, out, err = c.box.exec("curl -sS -m 8 https://denied.example/")
    assert "no rule allows denied.example port 443" in out, "curl without a flag: %s %s" % (out, err)
    c.box.rules(allow("denied.example", 443))
    c.control(seen(c.box.value("tls('denied.example')")), "with the rule")


@case("bypassed host keeps its own TLS")
def bypass(c):
    c.box.rules(allow("ok.example", 443, http=[{"path": "/api/*"}]), bypass=["ok.example"])
    code = (
        "import ssl\ncontext = ssl._create_unverified_context()\n"
        "with socket.create_connection(('ok.example', 443), 5) as s, context.wrap_socket(s, server_hostname='ok.example') as t:\n"
        "  import hashlib; result['pin'] = hashlib.sha256(t.getpeercert(True)).hexdigest()"
    )
    bypassed = c.box.run(code)["pin"]
    c.box.rules(allow("ok.example", 443, http=[{"path": "/api/*"}]))
    opened = c.box.run(code)["pin"]
    c.box.rules(allow("ok.example", 443))
    plain = c.box.run(code)["pin"]
    assert bypassed == plain, "a bypassed host shows its own certificate"
    c.control(opened != plain, "with HTTP rules and no bypass the certificate is of the sandbox's authority")


@case("mutual TLS through a rule without HTTP rules")
def mutual(c):
    import os

    from live import INTERNET

    for name in ("client.pem", "client.key"):
        with open(os.path.join(INTERNET, name), "rb") as f:
            c.box.write("/workspace/" + name, f.read())
    request = "curl -sS -k -m 8 --cert /workspace/client.pem --key /workspace/client.key https://mtls.example:8443/ 2>&1"
    assert '"method"' not in c.box.exec(request)[1] and not c.net.since("tcp")
    c.box.rules(allow("mtls.example", 8443))
    c.control('"method"' in c.box.exec(request)[1], "with a rule the client's certificate arrives")


@case("deny rule for a port of an allowed site")
def deny_port(c):
    c.box.rules(allow("ok.example", 80), deny("ok.example", 443))
    assert not seen(c.box.value("tls('ok.example')")) and not c.net.reached(port=443)
    c.control(seen(c.box.value("http('ok.example')")), "its other port")
