"""Makes images of a test cluster, for `ctr images import`. TREE is a tar archive.

image.py FOLDER TREE                  the images of every cluster
image.py --one FILE NAME TREE PATH    one image, with PATH in front of its search path
"""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

PAUSE = "#include <unistd.h>\nint main(void)\n{\n    for (;;) pause();\n}\n"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def image(target, name, layer, config):
    """Writes an archive as `docker save` does."""
    description = {
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
        "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(layer)]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(target, "w") as archive:
        for member, content in (("config.json", description), ("manifest.json", manifest)):
            text = json.dumps(content).encode()
            entry = tarfile.TarInfo(member)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        archive.add(layer, "layer.tar")


def pause(folder):
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "pause")
        subprocess.run(["gcc", "-static", "-Os", "-x", "c", "-", "-o", program], input=PAUSE.encode(), check=True)
        layer = os.path.join(scratch, "layer.tar")
        with tarfile.open(layer, "w") as archive:
            archive.add(program, "pause")
        image(os.path.join(folder, "pause.tar"), "isola.test/pause:1", layer, {"Entrypoint": ["/pause"]})


def main():
    if sys.argv[1] == "--one":
        target, name, tree, path = sys.argv[2:]
        image(target, name, tree, {"Env": [PATH.replace("=", f"={path}:")], "Cmd": ["/bin/sh"]})
        return
    folder, tree = sys.argv[1:]
    os.makedirs(folder)
    pause(folder)
    config = {"Env": [PATH, "ISOLA_TEST_VARIABLE=of the image"], "Cmd": ["/bin/sh"]}
    image(os.path.join(folder, "debian.tar"), "isola.test/debian:1", tree, config)


main()
