"""Runs every block of docs/ten-tasks.md with installed packages, and prints one line for each task and language.

    ten_tasks.py PAGE WORK [TASK...]

WORK has what testing/release-here.sh installed: "python" (a virtual environment), "node" (a project with the SDK and the
compiler), "java" (a Maven project, whose class path is in "classpath"). The command isola is on PATH. The exit status is
1 if a block failed or a task lacks a language.
"""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

LANGUAGES = ["Java", "Python", "TypeScript", "Command line", "curl"]
TIMEOUT = 120


class Block:
    def __init__(self, task, language, text, prints, typed):
        self.task, self.language, self.text, self.prints, self.typed = task, language, text, prints, typed


def blocks(page):
    """Yields the blocks of the tasks; the one before the first task has task 0."""
    task, language, marks, fence = 0, "", {}, None
    for line in page.splitlines():
        if fence is not None:
            if line == "```":
                yield Block(task, language, "\n".join(fence) + "\n", marks.get("prints"), marks.get("typed"))
                fence, marks = None, {}
            else:
                fence.append(line)
        elif heading := re.match(r"## (\d+)\. ", line):
            task, language = int(heading[1]), ""
        elif label := re.fullmatch(r"\*\*(.+)\*\*", line):
            language = label[1]
        elif mark := re.fullmatch(r"<!-- (\w+): (.*) -->", line):
            marks[mark[1]] = mark[2]
        elif line.startswith("```"):
            fence = []


def run(command, folder, **environment):
    """Returns the exit code and the output of a command."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
    )
    return ended.returncode, ended.stdout.decode(errors="replace")


def run_typed(command, folder, text):
    """Runs a command on a terminal and types a line when it sees a prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvp(command[0], command)
    output, sent, end = "", False, time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            output += piece.decode(errors="replace")
        if not sent and re.search(r"[$#] ", output):
            os.write(terminal, (text + "\r").encode())
            sent = True
    else:
        os.kill(pid, 9)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output


def node_options():
    version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return ["--experimental-websocket"] if int(version[1:].split(".")[0]) < 22 else []


class Runner:
    def __init__(self, work, preamble):
        self.work, self.preamble = work, preamble

    def run(self, block):
        folder = self.work / "runs" / f"{block.task}-{block.language.replace(' ', '-')}"
        folder.mkdir(parents=True)
        if block.language == "Java":
            path = f"{self.work}/java/target/classes:{(self.work / 'java/classpath').read_text().strip()}"
            return run([os.environ["JAVA_HOME"] + "/bin/java", "-cp", path, f"Task{block.task}"], folder)
        if block.language == "Python":
            (folder / "task.py").write_text(block.text)
            return run([f"{self.work}/python/bin/python", "-I", "task.py"], folder)
        if block.language == "TypeScript":
            # Node.js 20 has the WebSocket of terminals behind an option.
            return run(["node", *node_options(), f"{self.work}/node/out/task{block.task}.js"], folder)
        (folder / "task.sh").write_text(self.preamble + block.text)
        command = ["bash", "-euo", "pipefail", "task.sh"]
        return run_typed(command, folder, block.typed) if block.typed else run(command, folder)


def main(page, work):
    found = list(blocks(Path(page).read_text()))
    preamble = "".join(block.text for block in found if block.task == 0)
    tasks = [block for block in found if block.task]
    if "--write" in sys.argv:  # the sources that are compiled before anything runs
        for block in tasks:
            if block.language == "Java":
                (work / f"java/src/main/java/Task{block.task}.java").write_text(block.text)
            if block.language == "TypeScript":
                (work / f"node/task{block.task}.ts").write_text(block.text)
        return 0
    runner, passed, failed = Runner(work, preamble), 0, 0
    chosen = [int(argument) for argument in sys.argv[3:]] or range(1, 11)
    for task in chosen:
        for language in LANGUAGES:
            block = next((b for b in tasks if b.task == task and b.language == language), None)
            try:
                code, output = runner.run(block) if block else (-1, "the page has no such block")
            except subprocess.TimeoutExpired:
                code, output = -1, f"no end within {TIMEOUT} s"
            lines = [line.strip() for line in output.replace("\r", "\n").split("\n")]
            good = code == 0 and block.prints is not None and block.prints in lines
            passed, failed = passed + good, failed + (not good)
            print(f"task {task}, {language}: {'passed' if good else 'FAILED'}", flush=True)
            if not good:
                print(f"  exit code {code}, expected {block.prints if block else 'a block'!r}:\n{output}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve()))
