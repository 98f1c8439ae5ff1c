"""Checks of a fresh installation."""

import json

from cluster import expect, get, kubectl, port_forward, run
from installation import NAMESPACE, SANDBOXES
from isola import Isola
from traffic import create

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:isola"

# Verb, resource, namespace: what the provider uses, and what a server must not do.
GRANTED = [
    ("create", "pods", SANDBOXES),
    ("delete", "pods", SANDBOXES),
    ("watch", "pods", SANDBOXES),
    ("create", "pods/exec", SANDBOXES),
    ("get", "pods/exec", SANDBOXES),
    ("list", "events", SANDBOXES),
    ("create", "configmaps", SANDBOXES),
    ("create", "networkpolicies.networking.k8s.io", SANDBOXES),
]
REFUSED = [
    ("get", "secrets", SANDBOXES),
    ("update", "pods", SANDBOXES),
    ("create", "serviceaccounts/token", SANDBOXES),
    ("create", "rolebindings.rbac.authorization.k8s.io", SANDBOXES),
    ("get", "pods", NAMESPACE),
    ("create", "pods", NAMESPACE),
    ("create", "pods/exec", NAMESPACE),
    ("get", "secrets", NAMESPACE),
    ("update", "deployments.apps", NAMESPACE),
    ("get", "secrets", "kube-system"),
    ("list", "nodes", None),
    ("list", "namespaces", None),
    ("create", "pods", "default"),
]


def run_task(client):
    """Creates a sandbox, runs a command, writes and reads a file, and destroys the sandbox."""
    sandbox = create(client, 600)
    result = sandbox.exec("echo $((6 * 7))")
    expect(result.stdout == "42\n", result)
    sandbox.files.write("folder/file", "content")
    expect(sandbox.files.read("folder/file") == b"content", "another content")
    pod = [one for one in get("-n", SANDBOXES, "pods")["items"] if sandbox.id in json.dumps(one["metadata"])]
    expect(len(pod) == 1, f"{len(pod)} pods of {sandbox.id} in {SANDBOXES}")
    node = pod[0]["spec"]["nodeName"]
    sandbox.destroy()
    left = [one for one in get("-n", SANDBOXES, "pods")["items"] if sandbox.id in json.dumps(one["metadata"])]
    expect(not left or "deletionTimestamp" in left[0]["metadata"], "the pod is left")
    return f"its pod ran on {node}"


def through_node(installation):
    with Isola(installation.url, installation.key) as client:
        return run_task(client)


def through_port_forward(installation):
    with port_forward(NAMESPACE, "service/isola", 80) as url, Isola(url, installation.key) as client:
        return run_task(client)


def restricted(installation):
    command = "id -u; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status; touch /file 2>&1 || true"
    output = kubectl("-n", NAMESPACE, "exec", "deployment/isola", "-c", "server", "--", "sh", "-c", command)
    for found in ("10001\n", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", "Read-only file system"):
        expect(found in output, output)


def doctor(installation):
    status, output = installation.isola("doctor", "--kubernetes")
    expect(status == 0 and "Kubernetes v1" in output, f"exit {status}: {output}")


def permissions(installation):
    wrong = []
    for verb, resource, namespace in GRANTED + REFUSED:
        where = ["-n", namespace] if namespace else ["--all-namespaces"]
        _, output = run("kubectl", "auth", "can-i", verb, resource, *where, "--as", ACCOUNT)
        granted = output.strip().split("\n")[-1] == "yes"
        if granted != ((verb, resource, namespace) in GRANTED):
            wrong.append(f"{verb} {resource} in {namespace}: {output.strip()}")
    expect(not wrong, wrong)
    return f"{len(GRANTED)} granted, {len(REFUSED)} refused"


def policies(installation):
    policy = get("-n", SANDBOXES, "networkpolicy/isola-sandboxes")["spec"]
    expect(policy["podSelector"] == {} and set(policy["policyTypes"]) == {"Ingress", "Egress"}, policy)
    expect("ingress" not in policy and "egress" not in policy, policy)


def three_servers(installation):
    servers = installation.servers()
    addresses = {f"http://{pod['status']['podIP']}:7777" for pod in installation.pods()}
    expect(len(servers) == 3 and all(any(a in json.dumps(one) for a in addresses) for one in servers), servers)


def through_other_servers(installation):
    first, second, third = installation.names()
    with port_forward(NAMESPACE, f"pod/{first}", 7777) as url, Isola(url, installation.key) as client:
        sandbox = create(client, 600)
    with port_forward(NAMESPACE, f"pod/{second}", 7777) as url, Isola(url, installation.key) as client:
        result = client.sandbox(sandbox.id).exec("echo $((6 * 7))")
        expect(result.stdout == "42\n", result)
    with port_forward(NAMESPACE, f"pod/{third}", 7777) as url, Isola(url, installation.key) as client:
        client.sandbox(sandbox.id).destroy()


def without_key(installation):
    status, output = run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"{installation.url}/api/v1/sandboxes")
    expect(status == 0 and output == "401", output)
    host = ["-H", "Host: example.org"]
    _, output = run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *host, f"{installation.url}/api/v1/sandboxes")
    expect(output == "403", output)


def run_all(report, installation):
    report.check("servers have no privileges and a root file system that is read only", restricted, installation)
    report.check("isola doctor --kubernetes in a pod", doctor, installation)
    report.check("requests through the service and the address of a node", through_node, installation)
    report.check("requests through kubectl port-forward", through_port_forward, installation)
    report.check("requests without a key, or with another Host, are refused", without_key, installation)
    report.check("network policy of the namespace of sandboxes", policies, installation)
    report.check("kubectl auth can-i with the service account", permissions, installation)
    report.check("isola servers lists three servers", three_servers, installation)
    report.check("a sandbox is created, used and destroyed through three servers", through_other_servers, installation)
