#!/usr/bin/env python3
"""Records a real terminal session of ./isola as docs/images/terminal.svg.

Usage: docs/images/record.py [COMMAND...]   (needs tmux; run it in the root of the repository)
"""
import html
import os
import re
import subprocess
import sys
import time

COMMANDS = sys.argv[1:] or [
    "isola run -- sh -c 'echo hello from $(hostname); id -un'",
    "isola run --network none -- curl -sS https://example.com",
    "isola run --memory 64 -- python3 -c \"'x' * (1 << 30)\"",
    "isola providers | cut -c1-47 | grep -v unhealthy",
]
COLUMNS, ROWS = 96, 30
COLORS = {31: "#f38ba8", 32: "#a6e3a1", 33: "#f9e2af", 34: "#89b4fa", 35: "#cba6f7", 36: "#94e2d5", 90: "#7f849c"}
SESSION = f"record-{os.getpid()}"


def tmux(*arguments):
    return subprocess.run(["tmux", "-L", SESSION, *arguments], check=True, capture_output=True, text=True).stdout


def wait_for_prompt(count):
    deadline = time.time() + 60
    while time.time() < deadline:
        lines = tmux("capture-pane", "-p").rstrip().split("\n")
        if sum(line.startswith("$") for line in lines) > count and lines[-1].strip() == "$":
            return
        time.sleep(0.2)
    raise SystemExit("no prompt came back; see the last screen:\n" + tmux("capture-pane", "-p"))


def spans(line):
    """Yields (text, color, bold) of a line with escape sequences."""
    color, bold = None, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            for code in [int(c or 0) for c in part[2:-1].split(";")]:
                if code == 0:
                    color, bold = None, False
                elif code == 1:
                    bold = True
                elif code == 39:
                    color = None
                elif code in COLORS:
                    color = COLORS[code]
        elif part:
            yield part, color, bold


def svg(lines):
    rows = []
    for number, line in enumerate(lines):
        texts = "".join(
            f'<tspan{f" fill={chr(34)}{color}{chr(34)}" if color else ""}'
            f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>{html.escape(text)}</tspan>'
            for text, color, bold in spans(line))
        rows.append(f'<text x="16" y="{52 + number * 19}" xml:space="preserve">{texts}</text>')
    width, height = 32 + COLUMNS * 8.43, 64 + len(lines) * 19
    dots = "".join(f'<circle cx="{20 + i * 18}" cy="18" r="6" fill="{c}"/>' for i, c in enumerate(["#f38ba8", "#f9e2af", "#a6e3a1"]))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
            f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#cdd6f4">'
            f'<rect width="100%" height="100%" rx="8" fill="#1e1e2e"/>{dots}\n' + "\n".join(rows) + "\n</svg>\n")


def main():
    environment = {**os.environ, "PATH": os.getcwd() + ":" + os.environ["PATH"]}
    subprocess.run(["tmux", "-L", SESSION, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "PS1='$ ' exec bash --norc"],
                   check=True, env=environment)
    try:
        wait_for_prompt(0)
        for number, command in enumerate(COMMANDS, 1):
            tmux("send-keys", "-l", command)
            tmux("send-keys", "Enter")
            wait_for_prompt(number)
        screen = tmux("capture-pane", "-p", "-e").rstrip().split("\n")[:-1]
    finally:
        tmux("kill-server")
    with open("docs/images/terminal.svg", "w", encoding="utf-8") as file:
        file.write(svg(screen))


main()
