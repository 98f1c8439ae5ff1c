"""An installation of Isola in the test cluster, as docs/operations-kubernetes.md tells an operator to make it."""

import base64
import json
import os
import secrets
import shutil
import subprocess
import tempfile

from cluster import await_true, expect, get, kubectl, must, run

NAMESPACE = "isola"
SANDBOXES = "isola-sandboxes"
SELECTOR = "app.kubernetes.io/name=isola"
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(os.path.dirname(os.path.dirname(HERE)), "packaging", "kubernetes")


class Installation:
    """The servers, their database and their secret. ``tag`` is the tag of the image isola."""

    def __init__(self, tag, sandbox_image):
        self.tag = tag
        self.sandbox_image = sandbox_image
        self.helm = os.environ.get("HELM") or shutil.which("helm")
        self.key = "isk_" + secrets.token_hex(32)
        self.password = secrets.token_hex(16)
        self.node = ""
        self.url = ""
        self.store_url = ""

    def make_database(self):
        kubectl("create", "namespace", "database")
        kubectl("-n", "database", "create", "secret", "generic", "postgres", f"--from-literal=password={self.password}")
        kubectl("apply", "-f", os.path.join(HERE, "database.yaml"))
        kubectl("-n", "database", "wait", "--for=condition=Ready", "pod/postgres", "--timeout=120s")
        address = get("-n", "database", "service/postgres")["spec"]["clusterIP"]
        self.store_url = f"postgresql://isola:{self.password}@{address}:5432/isola"

    def make_secret(self):
        """The namespace also refuses pods that are not restricted, which the page only recommends."""
        kubectl("create", "namespace", NAMESPACE)
        kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")
        kubectl(
            "-n", NAMESPACE, "create", "secret", "generic", "isola",
            f"--from-literal=store-url={self.store_url}",
            f"--from-literal=api-key={self.key}",
            f"--from-literal=secrets-key={base64.b64encode(secrets.token_bytes(32)).decode()}",
        )

    def values(self):
        """The service is reached from outside by the address of a node, which is a name of the servers."""
        nodes = get("nodes")["items"]
        self.node = next(
            one["address"]
            for node in nodes if node["metadata"]["name"] == "node1"
            for one in node["status"]["addresses"] if one["type"] == "InternalIP"
        )
        return [
            "--set", "image.repository=isola", "--set", f"image.tag={self.tag}",
            "--set", f"sandboxes.image={self.sandbox_image}",
            "--set", "service.type=NodePort", "--set", f"domains={{{self.node}}}",
            # All servers must fit on one node of two cores while the other one is drained.
            "--set", "server.resources.requests.cpu=200m",
        ]

    def install(self):
        must(self.helm, "install", "isola", os.path.join(PACKAGING, "chart"), "--namespace", NAMESPACE, *self.values())
        return self.rollout()

    def upgrade(self, *values):
        must(
            self.helm, "upgrade", "isola", os.path.join(PACKAGING, "chart"), "--namespace", NAMESPACE,
            *self.values(), *values,
        )

    def apply_manifests(self):
        """Installs without Helm: the plain manifests, with the image and the image of sandboxes set."""
        kubectl("apply", "-f", os.path.join(PACKAGING, "manifests", "isola.yaml"))
        self.values()
        kubectl("-n", NAMESPACE, "set", "image", "deployment/isola", f"server=isola:{self.tag}")
        kubectl(
            "-n", NAMESPACE, "set", "env", "deployment/isola",
            f"ISOLA_PROVIDERS_KUBERNETES_IMAGE={self.sandbox_image}",
            f"ISOLA_SERVER_DOMAINS=isola,isola.isola,isola.isola.svc,isola.isola.svc.cluster.local,{self.node}",
        )
        kubectl("-n", NAMESPACE, "patch", "service", "isola", "-p", '{"spec": {"type": "NodePort"}}')
        return self.rollout()

    def rollout(self):
        """Waits until all servers are ready, and returns how the pods did. A failure shows their logs."""
        status, output = run(
            "kubectl", "-n", NAMESPACE, "rollout", "status", "deployment/isola", "--timeout=420s"
        )
        if status != 0:
            _, pods = run("kubectl", "-n", NAMESPACE, "describe", "pods")
            _, logs = run("kubectl", "-n", NAMESPACE, "logs", "-l", SELECTOR, "--tail=20", "--all-containers")
            expect(False, f"{output}\n{pods[-6000:]}\n{logs[-4000:]}")
        port = get("-n", NAMESPACE, "service/isola")["spec"]["ports"][0]["nodePort"]
        self.url = f"http://{self.node}:{port}"
        restarts = sum(one["restartCount"] for pod in self.pods() for one in pod["status"]["containerStatuses"])
        return f"{len(self.pods())} servers, {restarts} restarts"

    def pods(self):
        """The pods of the servers that are not being removed."""
        pods = get("-n", NAMESPACE, "pods", "-l", SELECTOR)["items"]
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def names(self):
        return [pod["metadata"]["name"] for pod in self.pods()]

    def isola(self, *arguments, pod="deployment/isola"):
        """Runs the command isola in a pod, and returns its exit status and output."""
        return run("kubectl", "-n", NAMESPACE, "exec", pod, "-c", "server", "--", "isola", *arguments)

    def servers(self):
        status, output = self.isola("servers", "--json")
        expect(status == 0, output)
        return json.loads(output)["servers"]

    def await_pods(self, number):
        return await_true(120, f"{number} servers", lambda: len(self.pods()) == number)

    def in_database(self, command, stdin=None):
        """Runs a command of the page in the pod of the database, which cannot reach itself by its service here."""
        url = f"postgresql://isola:{self.password}@127.0.0.1:5432/isola"
        return kubectl(
            "-n", "database", "exec", *(["-i"] if stdin is not None else []), "postgres", "--",
            "env", f"STORE_URL={url}", "sh", "-euc", command, stdin=stdin,
        )


class ServerLogs:
    """Keeps the logs of servers, which the cluster deletes together with their pods."""

    def __init__(self, installation):
        self._file = tempfile.TemporaryFile("w+")
        self._followers = {}
        self._installation = installation
        self.follow()

    def follow(self):
        """Follows the servers that there are now, too."""
        for name in self._installation.names():
            if name not in self._followers:
                self._followers[name] = subprocess.Popen(
                    ["kubectl", "-n", NAMESPACE, "logs", "-f", "--prefix", name, "-c", "server"],
                    stdin=subprocess.DEVNULL, stdout=self._file, stderr=subprocess.DEVNULL,
                )

    def warnings(self):
        """Returns the end of what the servers wrote, without their requests."""
        self._stop()
        self._file.seek(0)
        return "".join(line for line in self._file if '"level":"request"' not in line)[-12000:]

    def _stop(self):
        for process in self._followers.values():
            process.terminate()
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._stop()
        self._file.close()
