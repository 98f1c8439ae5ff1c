"""Checks of what happens to clients and sandboxes while servers and nodes are replaced."""

import json
import subprocess
import time

from cluster import await_true, expect, get, kubectl, run
from installation import NAMESPACE, SANDBOXES, ServerLogs
from isola import Isola
from traffic import Traffic, create


def upgrade(installation, start):
    """Replaces all servers under traffic. ``start`` makes the deployment roll out."""
    with ServerLogs(installation) as logs:
        return upgrade_with(logs, installation, start)


def upgrade_with(logs, installation, start):
    before = set(installation.names())
    traffic = Traffic(installation.url, installation.key)
    traffic.start(sandboxes=3)
    await_true(60, "traffic", lambda: traffic.done["exec"] > 10 and traffic.done["destroy"] > 0 or traffic.problems)
    begun = time.monotonic()
    start()
    installation.rollout()
    logs.follow()
    took = time.monotonic() - begun
    await_true(120, "the end of the old servers", lambda: not before & set(all_names()))
    counted = traffic.done["exec"]
    await_true(60, "commands after it", lambda: traffic.done["exec"] > counted + 5 or traffic.problems)
    problems = traffic.stop()
    if problems:
        expect(False, f"{problems[:5]}; {traffic.summary()}; the servers warned:\n{logs.warnings()}")
    expect(not before & set(installation.names()), "a server was not replaced")
    return f"rollout in {took:.0f} s; {traffic.summary()}"


def all_names():
    return [pod["metadata"]["name"] for pod in get("-n", NAMESPACE, "pods")["items"]]


def helm_upgrade(installation):
    return upgrade(installation, lambda: installation.upgrade("--set", "server.env.ISOLA_SANDBOX_TTL=2h"))


def restart(installation):
    return upgrade(installation, lambda: kubectl("-n", NAMESPACE, "rollout", "restart", "deployment/isola"))


def pod_of(sandbox):
    """The pod of a sandbox, or nothing."""
    found = [one for one in get("-n", SANDBOXES, "pods")["items"] if sandbox in json.dumps(one["metadata"])]
    return found[0] if found else None


def drain(installation):
    """Drains the second node: servers one after the other, and the sandboxes on it end with a cause."""
    with Isola(installation.url, installation.key) as client:
        by_node = {}
        for _ in range(20):
            sandbox = create(client, 900)
            node = pod_of(sandbox.id)["spec"]["nodeName"]
            by_node.setdefault(node, sandbox)
            if len(by_node) == 2:
                break
        expect(len(by_node) == 2, f"all sandboxes are on {list(by_node)}")
        process = subprocess.Popen(
            ["kubectl", "drain", "node2", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=240s"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        fewest = 3
        while process.poll() is None:
            ready = get("-n", NAMESPACE, "deployment/isola")["status"].get("readyReplicas", 0)
            fewest = min(fewest, ready)
            time.sleep(0.2)
        output = process.stdout.read()
        try:
            expect(process.returncode == 0, output[-1500:])
            expect(fewest >= 2, f"only {fewest} servers were ready")
            installation.rollout()
            expect(all(pod["spec"]["nodeName"] == "node1" for pod in installation.pods()), "a server is on node2")
            expect(by_node["node1"].exec("echo here").stdout == "here\n", "the sandbox of the other node does not answer")

            def ended():
                status = json.dumps(installation.isola("inspect", by_node["node2"].id, "--json")[1])
                return status if "running" not in status.split("cause")[0] and "evict" in status.lower() else None

            await_true(60, "the cause of the sandbox on the drained node", ended)
        finally:
            kubectl("uncordon", "node2")
        by_node["node1"].destroy()
    return f"at least {fewest} of 3 servers were ready"


def run_all(report, installation):
    if installation.helm:
        report.check("helm upgrade with a changed value, under traffic", helm_upgrade, installation)
    report.check("kubectl rollout restart, under traffic", restart, installation)
    report.check("a node is drained, one server at a time", drain, installation)
    # The later checks need servers, whatever the drain left.
    run("kubectl", "uncordon", "node2")
