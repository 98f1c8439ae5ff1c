"""Checks of backup, restore and removal, with the commands of docs/operations-kubernetes.md."""

import json

from cluster import await_true, expect, get, kubectl, must, run
from installation import NAMESPACE, SANDBOXES, SELECTOR
from isola import Isola
from isola.errors import IsolaError
from traffic import create


def state(installation, sandbox):
    """The state of a sandbox, with the code of the error if there is no record."""
    status, output = installation.isola("inspect", sandbox, "--json")
    return output if status == 0 else f"exit {status}: {output}"


def pods_of(sandbox):
    found = [one for one in get("-n", SANDBOXES, "pods")["items"] if sandbox in json.dumps(one["metadata"])]
    return [one for one in found if "deletionTimestamp" not in one["metadata"]]


def backup_and_restore(installation):
    with Isola(installation.url, installation.key) as client:
        kept, destroyed = create(client, 3600), create(client, 3600)
        kept.files.write("file", "content")
        dump = installation.in_database('pg_dump --format=custom --schema=isola "$STORE_URL" | base64')
        secret = kubectl("-n", NAMESPACE, "get", "secret", "isola", "-o", "yaml")
        destroyed.destroy()
        newer = create(client, 3600)

    kubectl("-n", NAMESPACE, "scale", "deployment/isola", "--replicas=0")
    kubectl("-n", NAMESPACE, "wait", "--for=delete", "pod", "-l", SELECTOR, "--timeout=2m")
    installation.in_database("psql \"$STORE_URL\" -qc 'drop schema isola cascade'")
    installation.in_database('base64 -d >/tmp/dump; pg_restore --dbname="$STORE_URL" /tmp/dump; rm /tmp/dump', stdin=dump)
    kubectl("-n", NAMESPACE, "delete", "secret", "isola")
    kubectl("apply", "-f", "-", stdin=secret)
    kubectl("-n", NAMESPACE, "scale", "deployment/isola", "--replicas=3")
    installation.rollout()

    with Isola(installation.url, installation.key) as client:
        again = client.sandbox(kept.id)
        await_true(60, "a sandbox of the backup", lambda: answers(again))
        expect(again.files.read("file") == b"content", "the file has another content")
        found = await_true(120, "a lost sandbox", lambda: lost(installation, destroyed.id))
        left = await_true(120, "the end of the newer sandbox", lambda: not pods_of(newer.id))
        again.destroy()
    return f"{found}; the newer sandbox was removed: {left}"


def answers(sandbox):
    try:
        return sandbox.exec("echo here").stdout == "here\n"
    except IsolaError as e:
        if e.status == 503 or e.code == "SERVER_UNREACHABLE":
            return False
        raise


def lost(installation, sandbox):
    output = state(installation, sandbox)
    return "recorded as lost" if '"lost: ' in output else None


def removal(installation):
    """Removes the release, and installs it again: sandboxes continue in between."""
    with Isola(installation.url, installation.key) as client:
        sandbox = create(client, 3600)
    must(installation.helm, "uninstall", "isola", "--namespace", NAMESPACE)
    kubectl("-n", NAMESPACE, "wait", "--for=delete", "pod", "-l", SELECTOR, "--timeout=2m")
    expect(pods_of(sandbox.id), "the sandbox has ended")
    left = get(
        "-A", "-l", SELECTOR,
        "deployments,replicasets,pods,services,networkpolicies,poddisruptionbudgets,serviceaccounts,roles,rolebindings,"
        "resourcequotas,limitranges,configmaps,horizontalpodautoscalers,endpointslices",
    )["items"]
    expect(not left, [f"{one['kind']} {one['metadata']['name']}" for one in left])
    everywhere = get("clusterroles,clusterrolebindings", "-l", SELECTOR)["items"]
    expect(not everywhere, everywhere)
    installation.install()
    with Isola(installation.url, installation.key) as client:
        again = client.sandbox(sandbox.id)
        await_true(60, "a sandbox of the former release", lambda: answers(again))
        again.destroy()
    return "only the namespace of sandboxes was left; installed again, the sandbox answered"


def plain_manifests(installation):
    must(installation.helm, "uninstall", "isola", "--namespace", NAMESPACE)
    kubectl("-n", NAMESPACE, "wait", "--for=delete", "pod", "-l", SELECTOR, "--timeout=2m")
    installation.apply_manifests()
    with Isola(installation.url, installation.key) as client:
        sandbox = create(client, 600)
        expect(sandbox.exec("echo here").stdout == "here\n", "another output")
        sandbox.destroy()


def end(installation):
    """The last commands of the page: nothing is left."""
    status, output = run("kubectl", "delete", "namespace", SANDBOXES, NAMESPACE, "--timeout=180s", "--wait")
    expect(status == 0, output)
    installation.in_database("psql \"$STORE_URL\" -qc 'drop schema isola cascade'")
    left = installation.in_database("psql \"$STORE_URL\" -qAtc \"select nspname from pg_namespace where nspname = 'isola'\"")
    expect(not left.strip(), left)


def run_all(report, installation):
    report.check("backup and restore", backup_and_restore, installation)
    if installation.helm:
        report.check("helm uninstall, and install again", removal, installation)
        report.check("kubectl apply of the plain manifests", plain_manifests, installation)
    report.check("removal of the namespaces and the schema", end, installation)
