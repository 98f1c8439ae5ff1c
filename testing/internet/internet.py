"""The servers of the test internet: names, TLS, HTTP, TCP and UDP on every address that the namespace has.

Usage: internet.py FOLDER. Everything that arrives is a line of JSON in FOLDER/log.jsonl, written before it is answered,
so that a test can assert that nothing arrived.
"""

import ipaddress
import itertools
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

FOLDER = sys.argv[1]
PUBLIC = "203.0.113.10"
SECOND = "203.0.113.11"
PROXY = "203.0.113.12"
A, CNAME, PTR, TXT, AAAA = 1, 5, 12, 16, 28
LOG = open(os.path.join(FOLDER, "log.jsonl"), "a", buffering=1)
LOCK = threading.Lock()


def record(kind, **fields):
    with LOCK:
        LOG.write(json.dumps({"kind": kind, "at": time.time(), **fields}) + "\n")


# ---- names ----

# Names that resolve to addresses which no sandbox may reach.
FORBIDDEN = {
    "tometadata": "169.254.169.254",
    "toalibaba": "100.100.100.200",
    "toazure": "168.63.129.16",
    "tooracle": "192.0.0.192",
    "toprivate": "10.0.0.5",
    "toprivate172": "172.16.0.5",
    "toprivate192": "192.168.1.1",
    "tobridge": "198.19.7.7",
    "tofake": "198.18.0.2",
    "tohost": "198.51.100.1",
    "toloop": "127.0.0.1",
    "toloop2": "127.9.9.9",
    "tozero": "0.0.0.0",
    "tobroadcast": "255.255.255.255",
    "tomulticast": "224.0.0.1",
    "toula": "fd00:ec2::254",
    "toula2": "fc00::5",
    "tosite": "fec0::5",
    "tolink6": "fe80::1",
    "toloop6": "::1",
    "tozero6": "::",
    "tohost6": "2600:db8:1::1",
    "mapped": "::ffff:169.254.169.254",
    "mappedloop": "::ffff:127.0.0.1",
    "nat64": "64:ff9b::a9fe:a9fe",
    "sixtofour": "2002:a9fe:a9fe::1",
    "teredo": "2001:0:a9fe:a9fe::1",
    "compatible": "::169.254.169.254",
}
turn = itertools.count()


def addresses(name):
    """Returns the addresses of a name, ("cname", target), or None if the name does not exist."""
    label = name.removesuffix(".example")
    if label in FORBIDDEN:
        return [FORBIDDEN[label]]
    if label == "rebind":
        return [[PUBLIC, "10.0.0.5", "169.254.169.254"][next(turn) % 3]]
    if label == "mixed":
        return ["10.0.0.5", PUBLIC, "169.254.169.254"]
    if label == "many":
        return [PUBLIC] + ["203.0.113.%d" % n for n in range(100, 180)]
    if label == "v6":
        return ["2600:db8::10"]
    if label == "dual":
        return [PUBLIC, "2600:db8::10"]
    if label == "denied":
        return [SECOND]
    if label == "proxy":
        return [PROXY]
    if label.startswith("slow"):
        time.sleep(30)
        return [PUBLIC]
    if label == "missing":
        return None
    if label == "cname-private":
        return ("cname", "toprivate.example")
    if label == "cname-loop":
        return ("cname", "cname-loop.example")
    if label.startswith("chain"):
        number = int(label[5:] or 0)
        return ("cname", "chain%d.example" % (number - 1) if number > 1 else "ok.example")
    if name.endswith(".example") or name.endswith("example.com"):
        return [PUBLIC]
    return None


def encode(name):
    return b"".join(bytes([len(p)]) + p for p in name.encode().split(b".") if p) + b"\0"


def read_name(query, at):
    labels = []
    while query[at]:
        if query[at] > 63:
            raise ValueError("a pointer in a question")
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    return ".".join(labels), at + 1


def reply(query, over, source):
    name, at = read_name(query, 12)
    kind, _ = struct.unpack("!HH", query[at : at + 4])
    name = name.lower()
    record("dns", name=name, type=kind, over=over, source=source)
    records, code = [], 0
    for _ in range(20):
        found = addresses(name)
        if found is None:
            code = 3
        elif isinstance(found, tuple):
            records.append((name, CNAME, encode(found[1])))
            name = found[1]
            continue
        else:
            for text in found:
                value = ipaddress.ip_address(text)
                if kind == (A if value.version == 4 else AAAA):
                    records.append((name, kind, value.packed))
        break
    head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    answer = head + query[12 : at + 4]
    for owner, rtype, data in records:
        answer += encode(owner) + struct.pack("!HHIH", rtype, 1, 0, len(data)) + data
    if over == "udp" and len(answer) > 512:
        return head[:2] + struct.pack("!HHHHH", 0x8380, 1, 0, 0, 0) + query[12 : at + 4]
    return answer


def serve_dns_udp(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.bind((address, 53))
        while True:
            query, source = s.recvfrom(4096)
            threading.Thread(target=answer_udp, args=(s, query, source), daemon=True).start()


def answer_udp(s, query, source):
    try:
        s.sendto(reply(query, "udp", source[0]), source)
    except (ValueError, IndexError, struct.error) as e:
        record("dns", name="", type=0, over="udp", source=source[0], error=str(e))


def dns_tcp(c, here, there, head):
    with c.makefile("rb") as f:
        while prefix := f.read(2):
            answer = reply(f.read(struct.unpack("!H", prefix)[0]), "tcp", there)
            c.sendall(struct.pack("!H", len(answer)) + answer)


# ---- TCP, TLS and HTTP ----


def http(c, here, there, port, tls, sni):
    """Answers each request with what arrived."""
    with c.makefile("rb") as f:
        while line := f.readline(65537):
            method, _, rest = line.decode("latin-1").strip().partition(" ")
            headers = []
            while (h := f.readline(65537)) not in (b"\r\n", b"\n", b""):
                headers.append(h.decode("latin-1").rstrip("\r\n").split(": ", 1))
            lower = {k[0].lower(): k[-1] for k in headers}
            if method == "CONNECT":
                record("connect", to=rest.split()[0], address=here, port=port)
                return tunnel(c, rest.split()[0])
            if lower.get("transfer-encoding", "").lower() == "chunked":
                body = b""
                while size := int(f.readline(100).split(b";")[0] or b"0", 16):
                    body += f.read(size)
                    f.readline(10)
                f.readline(10)
            else:
                body = f.read(min(int(lower.get("content-length", 0)), 1 << 24))
            path = rest.rpartition(" ")[0]
            seen = dict(
                method=method, path=path, headers=headers, body=body[:4000].decode("latin-1"), length=len(body),
                address=here, port=port, tls=tls, sni=sni, source=there,
            )
            record("http", **seen)
            status, extra, answer = "200 OK", "", json.dumps(seen).encode()
            if path.startswith("/redirect/"):
                status, extra = "302 Found", "Location: %s\r\n" % path[len("/redirect/") :]
            elif path.startswith("/bytes/"):
                answer = b"x" * int(path[len("/bytes/") :])
            elif path.startswith("/files/"):
                status, answer = file(path[len("/files/") :])
            elif path.startswith("/echo"):
                answer = body
            kind = "text/html" if path.endswith("/") else "application/json"
            c.sendall(
                ("HTTP/1.1 %s\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, extra, kind, len(answer)))
                .encode() + (b"" if method == "HEAD" else answer)
            )
            if lower.get("connection", "").lower() == "close":
                return


def file(path):
    """Serves the folder www, for package indexes and repositories."""
    root = os.path.realpath(os.path.join(FOLDER, "www"))
    found = os.path.realpath(os.path.join(root, path.split("?")[0]))
    if os.path.isdir(found):
        found = os.path.join(found, "index.html")
    if not found.startswith(root + "/") or not os.path.isfile(found):
        return "404 Not Found", b"no such file"
    with open(found, "rb") as f:
        return "200 OK", f.read()


def tunnel(c, to):
    host, _, port = to.rpartition(":")
    found = addresses(host) or [host]
    with socket.create_connection((found[0], int(port)), 5) as other:
        c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        back = threading.Thread(target=pump, args=(other, c), daemon=True)
        back.start()
        pump(c, other)
        back.join(10)


def pump(source, target):
    while block := source.recv(65536):
        target.sendall(block)
    target.shutdown(socket.SHUT_WR)


def echo(c, here, there, head):
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while head:
        c.sendall(head)
        head = c.recv(1 << 18)


def banner(text):
    def serve(c, here, there, head):
        c.sendall(text)
        c.recv(1024)

    return serve


def sink(c, here, there, head):
    """Receives everything, then says how much."""
    buffer, total = bytearray(1 << 18), 0
    while n := c.recv_into(buffer):
        total += n
    c.sendall(str(total).encode())


def source(c, here, there, head):
    """Sends as many bytes as the first line asks for."""
    with c.makefile("rb") as f:
        left = int(f.readline(20))
    block = memoryview(bytes(1 << 18))
    while left > 0:
        left -= c.send(block[: min(left, len(block))])


def silent(c, here, there, head):
    c.settimeout(60)
    while c.recv(65536):
        pass


def contexts():
    plain = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    plain.load_cert_chain(FOLDER + "/server.pem", FOLDER + "/server.key")
    plain.set_alpn_protocols(["http/1.1"])
    mutual = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mutual.load_cert_chain(FOLDER + "/server.pem", FOLDER + "/server.key")
    mutual.load_verify_locations(FOLDER + "/ca.pem")
    mutual.verify_mode = ssl.CERT_REQUIRED
    for context in (plain, mutual):
        context.sni_callback = lambda s, name, c: NAMES.__setitem__(s, name or "")
    return plain, mutual


NAMES = {}
TLS, MUTUAL = contexts()


def handle(c, port, service):
    # The connection is a fact before its first byte; only then is it recorded what it said.
    here, there = (a.removeprefix("::ffff:") for a in (c.getsockname()[0], c.getpeername()[0]))
    if service is not QUIET:
        record("tcp", address=here, port=port, source=there)
    try:
        with c:
            c.settimeout(60)
            if service is HTTP:
                http(c, here, there, port, False, "")
            elif service in (HTTPS, MTLS):
                secure(c, here, there, port, MUTUAL if service is MTLS else TLS)
            elif service in (echo, QUIET):
                echo(c, here, there, c.recv(1 << 18))
            else:
                service(c, here, there, b"")
    except (OSError, ValueError, EOFError) as e:
        if service is not QUIET:
            record("error", address=here, port=port, error=repr(e)[:200])


def secure(c, here, there, port, context):
    with context.wrap_socket(c, server_side=True) as s:
        http(s, here, there, port, True, NAMES.pop(s, ""))


HTTP, HTTPS, MTLS, QUIET = "http", "https", "mutual", "quiet"
PORTS = {
    22: banner(b"SSH-2.0-test\r\n"), 25: banner(b"220 mail\r\n"), 53: dns_tcp, 80: HTTP, 443: HTTPS, 853: HTTPS,
    3128: HTTP, 5432: echo, 6379: echo, 8080: HTTP, 8443: MTLS, 9000: sink, 9001: source, 9002: silent, 9003: QUIET,
    9999: echo,
}


def listen(port, service):
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::", port))
    s.listen(1024)

    def accept():
        while True:
            c, _ = s.accept()
            threading.Thread(target=handle, args=(c, port, service), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def listen_udp(port):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.bind(("::", port))

    def serve():
        while True:
            data, there = s.recvfrom(65536)
            record("udp", port=port, source=there[0].removeprefix("::ffff:"), data=data[:200].decode("latin-1"))
            s.sendto(data, there)

    threading.Thread(target=serve, daemon=True).start()


def main():
    threading.stack_size(256 * 1024)
    for port, service in PORTS.items():
        listen(port, service)
    for port in (123, 443, 784, 5353, 9999):
        listen_udp(port)
    for family, address in ((socket.AF_INET, "203.0.113.53"), (socket.AF_INET6, "2600:db8::53"),
                            (socket.AF_INET, "203.0.113.66")):
        threading.Thread(target=serve_dns_udp, args=(family, address), daemon=True).start()
    open(os.path.join(FOLDER, "ready"), "w").close()
    threading.Event().wait()


main()
