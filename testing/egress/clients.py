"""Real clients in a sandbox, with and without a rule for their host; see testing/egress-here.sh.

With a rule each works without a flag or a variable for a proxy. Without, each is told why. Clients of HTTPS run twice:
past the server (the host's own certificate), and with HTTP rules (the certificate of the sandbox's authority).
"""

import base64
import hashlib
import io
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from live import INTERNET, Internet, Server, allow, wait_until

WWW = os.path.join(INTERNET, "www")
POSTGRES_PORT, SSH_PORT = 5433, 2222


def on_internet(command, **more):
    """Starts a program in the network namespace of the internet."""
    with open(os.path.join(INTERNET, "pid")) as f:
        pid = f.read().strip()
    return subprocess.Popen(["nsenter", "--net=/proc/%s/ns/net" % pid, *command], **more)


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more)


def publish():
    """Makes a repository, a Python package and a package of npm that the internet serves."""
    os.makedirs(WWW)
    source = tempfile.mkdtemp()
    run("git", "init", "-q", "-b", "main", source)
    with open(source + "/README", "w") as f:
        f.write("hello from the repository\n")
    run("git", "-C", source, "add", ".")
    run("git", "-C", source, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "first")
    run("git", "clone", "-q", "--bare", source, WWW + "/repo.git")
    run("git", "-C", WWW + "/repo.git", "update-server-info")
    shutil.rmtree(source)

    folder = WWW + "/simple/hello-isola"
    os.makedirs(folder)
    with zipfile.ZipFile(folder + "/hello_isola-1.0-py3-none-any.whl", "w") as z:
        info = "hello_isola-1.0.dist-info/"
        z.writestr("hello_isola.py", "print('hello from the package')\n")
        z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: hello-isola\nVersion: 1.0\n")
        z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(info + "RECORD", "hello_isola.py,,\n%sMETADATA,,\n%sWHEEL,,\n%sRECORD,,\n" % (info, info, info))
    with open(folder + "/index.html", "w") as f:
        f.write('<!DOCTYPE html><a href="hello_isola-1.0-py3-none-any.whl">hello_isola-1.0-py3-none-any.whl</a>')

    os.makedirs(WWW + "/registry")
    with tarfile.open(WWW + "/registry/hello-isola-1.0.0.tgz", "w:gz") as t:
        for name, text in (("package.json", '{"name":"hello-isola","version":"1.0.0","main":"index.js"}'),
                           ("index.js", "console.log('hello from the package')\n")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            t.addfile(entry, io.BytesIO(text.encode()))
    with open(WWW + "/registry/hello-isola-1.0.0.tgz", "rb") as f:
        digest = base64.b64encode(hashlib.sha512(f.read()).digest()).decode()
    with open(WWW + "/registry/hello-isola", "w") as f:
        json.dump({
            "name": "hello-isola", "dist-tags": {"latest": "1.0.0"},
            "versions": {"1.0.0": {
                "name": "hello-isola", "version": "1.0.0",
                "dist": {"tarball": "https://npm.example/files/registry/hello-isola-1.0.0.tgz", "integrity": "sha512-" + digest},
            }},
        }, f)
    run("chmod", "-R", "a+rX", WWW)


def start_ssh(work):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work + "/hostkey")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work + "/id")
    with open(work + "/id.pub") as f:
        key = f.read()
    with open(work + "/keys", "w") as f:
        f.write('command="git-upload-pack %s/repo.git" %s' % (WWW, key))
    with open(work + "/sshd_config", "w") as f:
        f.write("Port %d\nHostKey %s/hostkey\nAuthorizedKeysFile %s/keys\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
                "PidFile none\n" % (SSH_PORT, work, work))
    os.makedirs("/run/sshd", exist_ok=True)
    return on_internet(["/usr/sbin/sshd", "-D", "-e", "-f", work + "/sshd_config"], stderr=subprocess.DEVNULL)


def start_postgres(work):
    """Starts PostgreSQL as an ordinary user, which it demands."""
    folder = os.path.join(work, "pg")
    os.makedirs(folder)
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(folder, nobody, nobody)
    os.chmod(work, 0o777)
    as_user = ["setpriv", "--reuid=%d" % nobody, "--clear-groups"]
    environment = {**os.environ, "HOME": folder}
    initdb = shutil.which("initdb") or "/usr/lib/postgresql/15/bin/initdb"
    run(*as_user, initdb, "-D", folder + "/data", "-U", "isola", "--auth=trust", "--no-sync", env=environment)
    with open(folder + "/data/pg_hba.conf", "a") as f:
        f.write("host all all all trust\n")
    return on_internet(
        [*as_user, shutil.which("postgres"), "-D", folder + "/data", "-p", str(POSTGRES_PORT), "-h", "*", "-k", folder,
         "-c", "fsync=off"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )


JAVA = """
import java.net.URI;
import java.net.http.*;
public class Client {
  public static void main(String[] a) throws Exception {
    HttpResponse<String> r = HttpClient.newHttpClient().send(
        HttpRequest.newBuilder(URI.create("https://api.example/java")).build(), HttpResponse.BodyHandlers.ofString());
    System.out.println(r.statusCode() + " " + r.body());
  }
}
"""
REQUESTS = "import requests; r = requests.get('https://api.example/requests'); print(r.status_code, r.text)"
URLLIB = "import urllib.request as u; print(u.urlopen('https://api.example/urllib').read().decode())"
FETCH = "fetch('https://api.example/fetch').then(async r => console.log(r.status, await r.text())).catch(e => {console.error(e.cause || e); process.exit(1)})"
# client: host, port, command, text that shows success
CLIENTS = {
    "curl (http)": ("api.example", 80, "curl -sS -m 10 http://api.example/curl", '"path": "/curl"'),
    "curl": ("api.example", 443, "curl -sS -m 10 https://api.example/curl", '"path": "/curl"'),
    "git over https": ("git.example", 443, "rm -rf r && git clone -q https://git.example/files/repo.git r && cat r/README", "hello from the repository"),
    "git over ssh": ("git.example", SSH_PORT, "rm -rf r && git clone -q ssh://root@git.example:2222/repo.git r && cat r/README", "hello from the repository"),
    "pip": ("pypi.example", 443, "rm -rf p && PIP_INDEX_URL=https://pypi.example/files/simple/ python3 -m pip install -q --retries 0 --no-cache-dir --target p hello-isola && PYTHONPATH=p python3 -c 'import hello_isola'", "hello from the package"),
    "npm": ("npm.example", 443, "rm -rf n && mkdir n && cd n && npm_config_registry=https://npm.example/files/registry/ npm install --cache ./c --no-audit --no-fund --fetch-retries=0 hello-isola && node -e 'require(\"hello-isola\")'", "hello from the package"),
    "Python requests": ("api.example", 443, "python3 -c \"%s\"" % REQUESTS, '"path": "/requests"'),
    "Python urllib": ("api.example", 443, "python3 -c \"%s\"" % URLLIB, '"path": "/urllib"'),
    "Node fetch": ("api.example", 443, "node -e \"%s\"" % FETCH, '"path": "/fetch"'),
    "Java HttpClient": ("api.example", 443, "java /workspace/Client.java", '"path": "/java"'),
    "psql": ("db.example", POSTGRES_PORT, "PGCONNECT_TIMEOUT=10 psql -h db.example -p %d -U isola postgres -Atc 'select 40 + 2'" % POSTGRES_PORT, "42"),
}
# The host's own certificate is of the test's authority, which clients with a list of their own do not know.
TEST_TRUST = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "PIP_CERT")


def prepare(box, work):
    with open(os.path.join(INTERNET, "authorities.pem"), "rb") as f:
        box.write("/workspace/authorities.pem", f.read())
    box.write("/workspace/Client.java", JAVA.encode())
    with open(work + "/id", "rb") as f:
        key = base64.b64encode(f.read()).decode()
    box.exec(
        "mkdir -p ~/.ssh && chmod 700 ~/.ssh && echo %s | base64 -d > ~/.ssh/id_ed25519 && chmod 600 ~/.ssh/id_ed25519 && "
        "echo 'StrictHostKeyChecking accept-new' > ~/.ssh/config" % key
    )


def attempt(box, command, trust):
    environment = {name: "/workspace/authorities.pem" for name in TEST_TRUST} if trust else {}
    status, out, err = box.exec("cd /tmp && " + command, 60, env=environment)
    return status, (out + err).strip()


def check(box, name, net):
    """Returns rows: client, way, result, and what the client printed without a rule."""
    host, port, command, success = CLIENTS[name]
    box.rules(allow("other.example"))
    net.mark()
    status, told = attempt(box, command, False)
    refused = success not in told and not net.since("tcp") and not net.since("dns")
    rows = [(name, "no rule", "refused" if refused else "FAILED", told)]
    box.rules(allow(host, port))
    _, out = attempt(box, command, port == 443)
    rows.append((name, "rule", "works" if success in out else "FAILED", out))
    if port in (80, 443):
        box.rules(allow(host, port, http=[{"path": "/*"}]))
        _, out = attempt(box, command, False)
        rows.append((name, "HTTP rules", "works" if success in out else "FAILED", out))
    return rows


def main():
    provider = (sys.argv[1:] or ["bubblewrap"])[0]
    chosen = [name for name in CLIENTS if len(sys.argv) < 3 or any(part in name for part in sys.argv[2].split(","))]
    work = tempfile.mkdtemp(prefix="isola-clients-")
    user = 64321 if provider.endswith("-rootless") else None
    if user:
        os.chmod(work, 0o777)
    publish()
    programs = [start_ssh(work), start_postgres(work)]
    server = Server(
        work + "/data", 7789, provider.removesuffix("-rootless"),
        ["egress.dns=203.0.113.53", "egress.trust=" + INTERNET + "/ca.pem"], user,
    )
    rows = []
    try:
        server.start().await_ready()
        box = server.create()
        prepare(box, work)
        wait_until(lambda: subprocess.run(
            ["psql", "-h", "db.example", "-p", str(POSTGRES_PORT), "-U", "isola", "postgres", "-c", "select 1"],
            capture_output=True).returncode == 0, 20, "PostgreSQL")
        net = Internet()
        for name in chosen:
            for row in check(box, name, net):
                print("%-18s %-12s %-8s %s" % (*row[:3], " | ".join(row[3].splitlines()[-3:])[:300]), flush=True)
                rows.append(row)
    finally:
        server.stop()
        for program in programs:
            program.terminate()
            program.wait()
        shutil.rmtree(work, ignore_errors=True)
    failed = sum(1 for row in rows if row[2] == "FAILED")
    print("\n%d passed, %d failed" % (len(rows) - failed, failed))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # destroys what was created
    sys.exit(main())
