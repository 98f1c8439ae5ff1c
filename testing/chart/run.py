"""Installs Isola in the cluster of testing/cluster-here.sh and checks what docs/operations-kubernetes.md says.

testing/chart-here.sh runs it: run.py TAG, where TAG is the tag of the image isola. IMAGE of sandboxes by ISOLA_TEST_IMAGE.
"""

import os
import sys

import changes
import fresh
import recovery
from cluster import Report
from installation import Installation


def main():
    report = Report()
    installation = Installation(sys.argv[1], os.environ["ISOLA_TEST_IMAGE"])
    if not report.check("PostgreSQL as a pod", installation.make_database):
        report.end()
    installation.make_secret()
    if installation.helm is None:
        report.leave_out("helm", "it is not installed, and packaging/kubernetes/render has not built it")
        installed = report.check("kubectl apply of the plain manifests", installation.apply_manifests)
    else:
        installed = report.check("helm install, three servers under pod security restricted", installation.install)
    if installed:
        fresh.run_all(report, installation)
        changes.run_all(report, installation)
        recovery.run_all(report, installation)
    report.end()


main()
