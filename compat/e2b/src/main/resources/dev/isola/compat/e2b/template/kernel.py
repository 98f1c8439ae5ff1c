"""The kernel server: runs cells of code in contexts, for clients of E2B's code interpreter.

Started inside a sandbox as `python3 -c TEXT [PORT]`. Prints `ready` once it listens (with port 0 also the port).
Requires only the standard library of Python 3.9.

The program has two parts. The server listens on 127.0.0.1, manages the contexts and serves HTTP. Each context is a
separate process: this program (`serve_cells`), bash or node. They communicate over a socket pair:

  to the process    one cell: a line of JSON {"code", "env", "count"}; for bash three strings terminated by NUL
  from the process  lines of JSON {"type": "began" | "result" | "error" | "done", ...}; between "began" and "done"
                    it may be interrupted. A message with "wait" is acknowledged by an empty line once forwarded

Output of a cell and its subprocesses on file descriptors 1 and 2 arrives through pipes. The process writes output
before it sends a message, and the server drains the pipes before it forwards the message; the process continues
after the acknowledgement. This preserves the order of output and results.
"""

import ast
import asyncio
import base64
import builtins
import codecs
import collections
import contextlib
import html
import http.server
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import linecache
import marshal
import math
import os
import re
import runpy
import select
import shlex
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import textwrap
import threading
import time
import timeit
import tokenize
import traceback
import types
import urllib.parse
import uuid

PORT = 49999
HOME = "/home/user"
MAX_BODY = 8 << 20  # request body
MAX_MESSAGE = 32 << 20  # one result; the largest parts of a larger one are dropped
MAX_TEXT = 1 << 20  # text of a result or an error
MAX_DATA = 1000000  # values in a table
MAX_LINE = 64 << 10  # line of output; longer lines are split
MAX_PIPE = 1 << 20  # default maximum pipe size on Linux for unprivileged users
MAX_CONTEXTS = 32
MAX_WAITING = 64  # queued cells per context
MAX_CONNECTIONS = 256
IDLE_SECONDS = 300  # idle timeout of a connection
GRACE_SECONDS = 5  # between interrupting and killing a cell
PARTIAL_SECONDS = 0.1  # how long an incomplete line is held back
KEEPALIVE_SECONDS = 10
OWN_VARIABLES = ("KERNEL_PORT", "KERNEL_CWD", "ISOLA_KERNEL")  # the last one holds this program
PROGRAM = sys._getframe().f_code  # this program, for the processes of contexts


# ---------------------------------------------------------------------------------------------------------
# Context process: values as results


FIELDS = {
    "text/plain": "text",
    "text/html": "html",
    "text/markdown": "markdown",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "text/latex": "latex",
    "application/json": "json",
    "application/javascript": "javascript",
    "e2b/data": "data",
    "e2b/chart": "chart",
}
METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
    "_repr_e2b_data_": "e2b/data",
}


def plain(value, depth=0):
    """Converts a value to JSON. NaN becomes null, because JSON has none and clients reject it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if depth > 40:
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each, depth + 1) for each in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    return str(value)


def text_of(value):
    """Returns the text for E2B's clients: the repr, without the quotes of a string."""
    text = repr(value)
    if isinstance(value, str) and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return shortened(text)


def shortened(text):
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "... (%d characters)" % len(text)


def asked(value, method, **options):
    """Calls a method like _repr_html_. An exception is printed on stderr and affects no other representation."""
    try:
        # An object that has any requested method (a mock) counts as having none.
        if isinstance(value, type) or hasattr(value, "_isola_has_no_such_method_"):
            return None
        ask = getattr(value, method, None)
        if not callable(ask):
            return None
        said = ask(**options)
    except Exception as error:
        print("%s of %s failed: %s" % (method, type(value).__name__, error_text(error)), file=sys.stderr)
        return None
    if isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], dict):
        said = said[0]  # the second element is metadata
    return said


def bundle_of(value):
    """Returns all representations of a value by MIME type."""
    bundle = {}
    for method, mime in METHODS.items():
        said = asked(value, method)
        if said is not None:
            bundle[mime] = said
    more = asked(value, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(more, dict):
        bundle.update(more)
    if is_a(value, "matplotlib.figure", "Figure"):
        bundle["image/png"] = png_of(value)
    if "e2b/data" not in bundle and is_a(value, "pandas", "DataFrame"):
        bundle["e2b/data"] = asked(value, "to_dict", orient="list") if getattr(value, "size", 0) <= MAX_DATA else None
    if "text/plain" not in bundle:
        bundle["text/plain"] = text_of(value)
    return bundle


def is_a(value, module, name):
    """Returns whether a value is of a library's class, without importing the library."""
    return any(
        each.__name__ == name and (each.__module__ + ".").startswith(module + ".") for each in type(value).__mro__
    )


def png_of(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


def result_of(bundle, main):
    message = {"type": "result", "is_main_result": main}
    extra = {}
    for mime, content in bundle.items():
        if content is None:
            continue
        field = FIELDS.get(mime)
        if field in ("json", "data", "chart") or field is None:
            content = plain(content)
        elif isinstance(content, bytes):
            content = plain(content) if field in ("png", "jpeg", "pdf") else content.decode("utf-8", "replace")
        elif isinstance(content, (list, tuple)):
            content = "".join(map(str, content))
        else:
            content = str(content)
        if field is None:
            extra[str(mime)] = content
        else:
            message[field] = content
    if extra:
        message["extra"] = extra
    return fitting(message)


def fitting(message):
    """Returns the message, without its largest parts if it is too large."""
    sizes = {key: len(json.dumps(each)) for key, each in message.items() if key not in ("type", "is_main_result")}
    while sum(sizes.values()) > MAX_MESSAGE - 1024:
        largest = max(sizes, key=sizes.get)
        size = sizes.pop(largest)
        print("%s of a result left out: %d bytes, at most %d" % (largest, size, MAX_MESSAGE), file=sys.stderr)
        del message[largest]
    return message


# ---------------------------------------------------------------------------------------------------------
# Context process: errors as text


CELL = re.compile(r"<cell (\d+)>")
MAX_FRAMES = 20


def error_text(error):
    try:
        return shortened(str(error))
    except Exception:
        return "<an error whose __str__ fails>"


def error_of(error):
    try:
        told = shortened("\n".join(traceback_lines(error, set())))
    except Exception as another:
        told = "%s (the traceback could not be told: %s)" % (type(error).__name__, error_text(another))
    return {"type": "error", "name": type(error).__name__, "value": error_text(error), "traceback": told}


def traceback_lines(error, seen):
    """Formats an exception as IPython does, without colours and without frames of this program."""
    seen.add(id(error))
    lines = []
    cause, context = error.__cause__, error.__context__
    if cause is not None and id(cause) not in seen and len(seen) < 10:
        lines += traceback_lines(cause, seen)
        lines += ["", "The above exception was the direct cause of the following exception:", ""]
    elif context is not None and not error.__suppress_context__ and id(context) not in seen and len(seen) < 10:
        lines += traceback_lines(context, seen)
        lines += ["", "During handling of the above exception, another exception occurred:", ""]
    name = type(error).__name__
    lines += ["-" * 75, name + "Traceback (most recent call last)".rjust(75 - len(name))]
    frames = frames_of(error.__traceback__)
    if isinstance(error, SyntaxError) and all(not CELL.match(frame.f_code.co_filename) for frame, _ in frames):
        frames = []
    for at, (frame, number) in enumerate(frames):
        if len(frames) > MAX_FRAMES and at == MAX_FRAMES // 2:
            lines += ["    [... %d frames left out ...]" % (len(frames) - MAX_FRAMES), ""]
        if at < MAX_FRAMES // 2 or at >= len(frames) - MAX_FRAMES // 2:
            lines += frame_lines(frame, number)
    for line in traceback.format_exception_only(type(error), error):
        lines += CELL.sub(r"Cell In[\1]", line).rstrip("\n").split("\n")
    return lines


def frames_of(trace):
    frames = []
    while trace is not None:
        if trace.tb_frame.f_globals is not globals():
            frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    # Frames that lead to a cell (the event loop) are omitted like those of this program.
    first = next((at for at, (frame, _) in enumerate(frames) if CELL.match(frame.f_code.co_filename)), 0)
    return frames[first:]


def frame_lines(frame, number):
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    cell = CELL.match(file)
    where = "Cell In[%s], line %s" % (cell.group(1), number) if cell else "File %s:%s" % (file, number)
    lines = [where if name == "<module>" else "%s, in %s" % (where, name)]
    for near in range(max(1, (number or 1) - 2), (number or 1) + 3):
        text = linecache.getline(file, near, frame.f_globals).rstrip("\n")[:500]
        if text or near == number:
            lines.append(("----> %d %s" if near == number else "      %d %s") % (near, text))
    return lines + [""]


# ---------------------------------------------------------------------------------------------------------
# Context process: IPython extensions of Python


class UsageError(Exception):
    """An unknown magic, or one used incorrectly."""


MAGIC = re.compile(r"(\s*)(?:([A-Za-z_][\w.,\[\]'\" ]*?)\s*=\s*)?([!%])(?!=)(.*)", re.DOTALL)
IGNORED_MAGICS = ("matplotlib", "load_ext", "reload_ext", "autoreload", "config", "colors", "pylab", "precision")
SHELL_MAGICS = ("ls", "cat", "mkdir", "rm", "rmdir", "cp", "mv", "ll", "man", "less", "more")


def translated(code):
    """Translates a cell with lines like `!ls` and `%cd /` to Python, keeping line numbers."""
    code = code.replace("\r\n", "\n")
    first = next((line for line in code.split("\n") if line.strip()), "")
    if first[:1].isspace():
        code = textwrap.dedent(code)
    if code.lstrip().startswith("%%"):
        head, _, body = code.lstrip().partition("\n")
        name, _, rest = head[2:].partition(" ")
        return "get_ipython().run_cell_magic(%r, %r, %r)" % (name.strip(), rest.strip(), body)
    try:
        ast.parse(code)
        return code
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    lines, out = code.split("\n"), []
    while lines:
        line = lines.pop(0)
        found = MAGIC.fullmatch(line)
        if not found or not begins_statement(out):
            out.append(line)
            continue
        indent, target, kind, rest = found.groups()
        more = 0
        while rest.endswith("\\") and lines:
            rest = rest[:-1] + lines.pop(0)
            more += 1
        out.append(indent + (target + " = " if target else "") + magic_call(kind, rest, target))
        out += [""] * more
    return "\n".join(out)


def magic_call(kind, rest, target):
    if kind == "%":
        name, _, line = rest.strip().partition(" ")
        return "get_ipython().run_line_magic(%r, %r)" % (name, line.strip())
    if rest.startswith("!"):
        target, rest = True, rest[1:]
    return "get_ipython().%s(%r)" % ("getoutput" if target else "system", rest.strip())


def begins_statement(before):
    """Returns whether the next line does not continue a string, a bracket or a backslash."""
    if before and before[-1].endswith("\\"):
        return False
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(before) + "\n").readline):
            pass
    except tokenize.TokenError as error:
        return "multi-line" not in str(error) and "triple-quoted" not in str(error)
    except SyntaxError:
        pass
    return True


def is_silenced(code):
    """Returns whether the cell ends with a semicolon, which suppresses its value."""
    last = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT):
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    return last == ";"


class Shell:
    """The result of get_ipython(): shell commands and magics for the cells of this context."""

    def __init__(self, context):
        self.context = context
        self.user_ns = context.names
        self.config = {}
        self.program = shutil.which("bash") or "/bin/sh"
        self.last_folder = None

    def system(self, command):
        sys.stdout.flush()
        self.user_ns["_exit_code"] = subprocess.call(self.filled(command), shell=True, executable=self.program)

    def getoutput(self, command):
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(self.filled(command), shell=True, executable=self.program, **output)
        self.user_ns["_exit_code"] = done.returncode
        return done.stdout.decode("utf-8", "replace").splitlines()

    def filled(self, text):
        """Replaces {expression} and $name by Python values; unknown names are left to the shell."""

        def value(found):
            try:
                return str(eval(found.group(1), self.user_ns))
            except Exception:
                return found.group(0)

        text = re.sub(r"(?<!\$)\{([^{}]+)\}", value, text)
        return re.sub(
            r"\$([A-Za-z_]\w*)",
            lambda found: str(self.user_ns[found.group(1)]) if found.group(1) in self.user_ns else found.group(0),
            text,
        )

    def run_line_magic(self, name, line):
        if name in IGNORED_MAGICS:
            return None
        if name in SHELL_MAGICS:
            return self.system(name + " " + line)
        magic = getattr(self, "line_" + name, None)
        if magic is None:
            raise UsageError("Line magic function `%%%s` not found." % name)
        return magic(line)

    def run_cell_magic(self, name, line, cell):
        if name in ("bash", "sh"):
            subprocess.run([name] + shlex.split(line), input=cell.encode(), check=True)
        elif name == "writefile":
            words = shlex.split(line)
            if not words:
                raise UsageError("%%writefile needs the name of a file.")
            with open(os.path.expanduser(words[-1]), "a" if "-a" in words[:-1] else "w", encoding="utf-8") as file:
                file.write(cell)
            print("%s %s" % ("Appending to" if "-a" in words[:-1] else "Writing", words[-1]))
        elif name == "time":
            return self.timed(lambda: self.context.run(translated(cell)))
        elif name in ("html", "markdown", "latex", "svg", "javascript", "js"):
            mime = {method[6:-1]: mime for method, mime in METHODS.items()}[{"js": "javascript"}.get(name, name)]
            self.context.show({mime: cell})
        elif name == "capture":
            nowhere = io.StringIO()
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                self.context.run(translated(cell))
        else:
            raise UsageError("Cell magic `%%%%%s` not found." % name)
        return None

    def line_pip(self, line):
        self.system("%s -m pip %s" % (shlex.quote(sys.executable), line))
        importlib.invalidate_caches()

    def line_cd(self, line):
        words = shlex.split(self.filled(line))
        folder = words[0] if words else "~"
        if folder == "-":
            folder = self.last_folder or os.getcwd()
        before = os.getcwd()
        os.chdir(os.path.expanduser(folder))
        self.last_folder = before
        print(os.getcwd())

    def line_pwd(self, line):
        return os.getcwd()

    def line_env(self, line):
        if not line:
            return dict(os.environ)
        found = re.fullmatch(r"(\w+)(?:\s*=\s*|\s+)(.*)", line)
        if not found:
            return os.environ[line]
        os.environ[found.group(1)] = self.filled(found.group(2))
        print("env: %s=%s" % (found.group(1), os.environ[found.group(1)]))
        return None

    line_set_env = line_env

    def line_time(self, line):
        return self.timed(lambda: self.context.run(line))

    def timed(self, run):
        began = time.perf_counter()
        try:
            return run()
        finally:
            print("Wall time: %.3g s" % (time.perf_counter() - began))

    def line_timeit(self, line):
        timer = timeit.Timer(line, globals=self.user_ns)
        count, _ = timer.autorange()
        best = min(timer.repeat(repeat=3, number=count)) / count
        print("%d loops, best of 3: %.3g s per loop" % (count, best))

    def line_run(self, line):
        words = shlex.split(line)
        if not words:
            raise UsageError("%run needs the name of a file.")
        before = sys.argv
        sys.argv = words
        try:
            self.user_ns.update(
                (name, value)
                for name, value in runpy.run_path(os.path.expanduser(words[0]), run_name="__main__").items()
                if not name.startswith("__")
            )
        finally:
            sys.argv = before


# ---------------------------------------------------------------------------------------------------------
# Context process: display hooks of libraries


class Shown:
    """Text or bytes of one MIME type, for display()."""

    mime = "text/plain"

    def __init__(self, data=None, filename=None, **options):
        if data is None and filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data, "text/plain": "<IPython.core.display.%s object>" % type(self).__name__}


class Image(Shown):
    def __init__(self, data=None, url=None, filename=None, **options):
        if isinstance(data, str):
            url, filename = (data, None) if data.startswith(("http:", "https:", "data:")) else (None, data)
            data = None
        self.url = url
        super().__init__(data, filename)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.data is None:
            shown = {"text/html": '<img src="%s"/>' % html.escape(str(self.url), quote=True)}
        else:
            kinds = ((b"\xff\xd8", "image/jpeg"), (b"GIF8", "image/gif"), (b"", "image/png"))
            shown = {next(mime for begin, mime in kinds if self.data.startswith(begin)): self.data}
        return dict(shown, **{"text/plain": "<IPython.core.display.Image object>"})


def display_classes():
    kinds = {
        "HTML": "text/html",
        "Markdown": "text/markdown",
        "Latex": "text/latex",
        "SVG": "image/svg+xml",
        "JSON": "application/json",
        "Javascript": "application/javascript",
        "Pretty": "text/plain",
    }
    classes = {name: type(name, (Shown,), {"mime": mime}) for name, mime in kinds.items()}
    return dict(classes, Image=Image)


class Imports(importlib.abc.MetaPathFinder):
    """Hooks libraries into this context when a cell imports them, and replaces IPython if it is not installed."""

    def __init__(self, context):
        self.context = context
        self.after = {
            "matplotlib.pyplot": self.joined_pyplot,
            "IPython.core.display_functions": self.joined_display,
        }

    def find_spec(self, name, path, target=None):
        if name in self.after:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is not None and spec.loader is not None:
                spec.loader = Joined(spec.loader, self.after[name])
            return spec
        if name == "IPython" and importlib.machinery.PathFinder.find_spec(name, path) is None:
            return importlib.machinery.ModuleSpec(name, Made(self.stand_in), is_package=True)
        if name == "IPython.display" and getattr(sys.modules.get("IPython"), "stands_in", False):
            return importlib.machinery.ModuleSpec(name, Made(self.stand_in_display))
        return None

    def joined_pyplot(self, module):
        def show(*args, **options):
            self.context.show_figures()

        module.show = show

    def joined_display(self, module):
        module.display = self.context.display

        def publish(data=None, metadata=None, **options):
            self.context.show(data)

        module.publish_display_data = publish

    def stand_in(self, module):
        module.stands_in = True
        module.version_info = (8, 24, 0, "")
        module.__version__ = "8.24.0"
        module.get_ipython = lambda: self.context.shell

    def stand_in_display(self, module):
        vars(module).update(display_classes())
        module.display = self.context.display
        module.clear_output = lambda wait=False: None


class Joined(importlib.abc.Loader):
    def __init__(self, loader, after):
        self.loader = loader
        self.after = after

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.after(module)


class Made(importlib.abc.Loader):
    def __init__(self, make):
        self.make = make

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.make(module)


# ---------------------------------------------------------------------------------------------------------
# Context process: cells


class PythonContext:
    """The namespace of a context, in which cells run one after the other."""

    def __init__(self, control, requests):
        self.control = control
        self.requests = requests
        self.process = os.getpid()
        self.speaking = threading.Lock()
        self.running = False
        self.held = False  # an interrupt is deferred
        self.interrupted = False
        self.number = 0
        self.outputs = (os.dup(1), os.dup(2))
        self.loop = asyncio.new_event_loop()
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        self.shell = Shell(self)
        self.names.update(__builtins__=builtins, display=self.display, get_ipython=lambda: self.shell)
        sys.modules["__main__"] = self.module
        sys.argv = [""]
        sys.meta_path.insert(0, Imports(self))
        self.open_outputs()

    def open_outputs(self):
        """Opens unbuffered output streams, so that a dying process loses nothing. Reopens those a cell has closed."""
        for number, name in ((1, "stdout"), (2, "stderr")):
            stream = getattr(sys, name, None)
            try:
                os.fstat(number)
                if not stream.closed:
                    if number == getattr(stream, "fileno", lambda: None)() and hasattr(stream, "reconfigure"):
                        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
                    continue
            except Exception:
                pass
            os.dup2(self.outputs[number - 1], number)
            raw = io.FileIO(number, "w", closefd=False)
            fresh = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
            setattr(sys, name, fresh)
            setattr(sys, "__%s__" % name, fresh)

    def interrupt(self, number, frame):
        if self.held:
            self.interrupted = True
        elif self.running:
            raise KeyboardInterrupt

    def say(self, message):
        """Sends a whole message; an interrupt is deferred until it is sent."""
        if os.getpid() != self.process:
            return  # in a process that the cell forked
        main = threading.current_thread() is threading.main_thread()
        waits = main and message["type"] == "result"
        line = encoded(dict(message, wait=True) if waits else message)
        self.held = self.held or main
        try:
            with self.speaking:
                self.control.sendall(line)
            if waits:
                self.requests.readline()
        finally:
            self.held = self.held and not main
        if main and self.interrupted:
            self.interrupted = False
            if self.running:
                raise KeyboardInterrupt

    def show(self, bundle, main=False):
        self.flush()
        self.say(result_of(dict(bundle), main))

    def display(self, *values, raw=False, **options):
        for value in values:
            if raw and isinstance(value, dict):
                self.show(value)
            else:
                self.show_value(value, main=False)

    def show_value(self, value, main):
        if callable(getattr(type(value), "_ipython_display_", None)):
            value._ipython_display_()  # calls display() itself
        else:
            self.show(bundle_of(value), main)

    def show_figures(self):
        """Displays every open matplotlib figure once, if matplotlib was imported."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums"):
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            try:
                if figure.get_axes() or figure.texts or figure.images:
                    self.show(bundle_of(figure))
            finally:
                pyplot.close(figure)

    def show_main(self, value):
        builtins._ = value
        self.show_value(value, main=True)
        if is_a(value, "matplotlib.figure", "Figure") and "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close(value)

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

    def serve(self, request):
        """Runs one cell and always sends "done" at its end."""
        self.number = request["count"]
        self.open_outputs()
        signal.signal(signal.SIGINT, self.interrupt)
        if self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        importlib.invalidate_caches()
        before = {name: os.environ.get(name) for name in request["env"]}
        self.interrupted = False
        try:
            try:
                self.running = True
                self.say({"type": "began"})
                os.environ.update(request["env"])
                self.cell(request["code"])
            finally:
                self.running = False
        except BaseException as error:
            self.report(error)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if os.getpid() != self.process:
            self.flush()
            os._exit(0)
        self.flush()
        self.say({"type": "done"})

    def report(self, error):
        self.flush()
        self.say(error_of(error))
        # Frames would keep the cell's values alive and are not used later.
        error.__traceback__ = None

    def cell(self, code):
        file = "<cell %d>" % self.number
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        try:
            value = self.run(translated(code))
            if value is not None and not is_silenced(code):
                self.show_main(value)
        finally:
            self.show_figures()

    def run(self, code):
        """Runs the code and returns the value of its last expression."""
        file = "<cell %d>" % self.number
        tree = compile(code, file, "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if tree.body:
            self.evaluate(tree, file, "exec")
        return self.evaluate(ast.Expression(last.value), file, "eval") if last else None

    def evaluate(self, tree, file, mode):
        compiled = compile(tree, file, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(compiled, self.names)
        if not compiled.co_flags & 0x80:  # CO_COROUTINE
            return value
        task = self.loop.create_task(value)
        try:
            return self.loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                self.loop.run_until_complete(asyncio.wait([task], timeout=1))
            raise


def serve_cells(control, requests):
    """Main loop of a context process; ends when the server exits."""
    context = PythonContext(control, requests)
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")  # when memory is short, a context is killed before the server
    except OSError:
        pass
    signal.signal(signal.SIGINT, context.interrupt)
    for line in iter(requests.readline, b""):
        context.serve(json.loads(line))


# ---------------------------------------------------------------------------------------------------------
# Server: languages


BOOT_PYTHON = """
import marshal, socket, sys
control = socket.socket(fileno=int(sys.argv[1]))
requests = control.makefile("rb")
program = {"__name__": "kernel"}
exec(marshal.loads(requests.read(int(requests.readline()))), program)
program["serve_cells"](control, requests)
"""

BOOT_BASH = r"""
fd=$1
shift
while
  IFS= read -r -d '' -u "$fd" isola_before &&
    IFS= read -r -d '' -u "$fd" isola_cell &&
    IFS= read -r -d '' -u "$fd" isola_after
do
  printf '{"type":"began"}\n' >&"$fd"
  eval "$isola_before"
  eval "eval \"\$isola_cell\" $fd>&-"
  isola_status=$?
  eval "$isola_after"
  if [ "$isola_status" != 0 ]; then
    printf '{"type":"error","name":"ExitStatus","value":"%d","traceback":"the last command ended with status %d"}\n' \
      "$isola_status" "$isola_status" >&"$fd"
  fi
  printf '{"type":"done"}\n' >&"$fd"
done
"""

BOOT_NODE = r"""
const {inspect} = require('util');
const inspector = new (require('inspector').Session)();
inspector.connect();
const control = new (require('net').Socket)({fd: Number(process.argv[1])});
process.argv.splice(1);
process.on('uncaughtException', (error) => console.error(error));
const say = (message) => control.write(JSON.stringify(message) + '\n');
const post = (method, options) =>
  new Promise((good, bad) => inspector.post(method, options, (error, answer) => (error ? bad(error) : good(answer))));
// The inspector tells what a value is; a function tells it here, where the value is.
const asText = (value) => (typeof value === 'string' ? value : inspect(value));
const asError = (error) => ({
  type: 'error',
  name: String((error && error.name) || 'Error'),
  value: String(error && error.message !== undefined ? error.message : asText(error)),
  traceback: String((error && error.stack) || asText(error)),
});
const tellers = {asText, asError};
Object.defineProperty(globalThis, Symbol.for('isola'), {value: tellers});
async function told(teller, {type, objectId, value, unserializableValue, description}) {
  if (objectId === undefined) {
    const text = type === 'string' ? value : unserializableValue || description || String(value);
    return teller === 'asError' ? {type: 'error', name: 'Error', value: text, traceback: text} : text;
  }
  const functionDeclaration = `function () { return globalThis[Symbol.for('isola')].${teller}(this) }`;
  return (await post('Runtime.callFunctionOn', {objectId, functionDeclaration, returnByValue: true})).result.value;
}
async function run(expression) {
  const options = {expression, replMode: true, awaitPromise: true, objectGroup: 'cell'};
  const {result, exceptionDetails} = await post('Runtime.evaluate', options);
  if (exceptionDetails) say(await told('asError', exceptionDetails.exception));
  else if (result.type !== 'undefined') {
    say({type: 'result', is_main_result: true, text: String(await told('asText', result)).slice(0, 1 << 20)});
  }
  await post('Runtime.releaseObjectGroup', {objectGroup: 'cell'});
}
async function serve({code, env}) {
  say({type: 'began'});
  const before = {};
  for (const name of Object.keys(env)) before[name] = process.env[name];
  Object.assign(process.env, env);
  await run(code).catch((error) => say(asError(error)));
  for (const name of Object.keys(before)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  say({type: 'done'});
}
let text = '', turn = Promise.resolve();
control.setEncoding('utf8');
control.on('data', (piece) => {
  text += piece;
  for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) {
    const cell = JSON.parse(text.slice(0, end));
    turn = turn.then(() => serve(cell));
  }
});
control.on('end', () => process.exit(0));
"""


class Python:
    name = "python"
    aliases = ("python", "python3", "py", "ipython")

    def command(self, control):
        return [sys.executable or "python3", "-u", "-c", BOOT_PYTHON, str(control)]

    def greeting(self):
        program = marshal.dumps(PROGRAM)
        return b"%d\n" % len(program) + program

    def cell(self, code, env, count):
        return json.dumps({"code": code, "env": env, "count": count}).encode("ascii") + b"\n"


class Node:
    name = "javascript"
    aliases = ("javascript", "js", "node")
    cell = Python.cell

    def command(self, control):
        node = shutil.which("node")
        return [node, "-e", BOOT_NODE, str(control)] if node else None

    def greeting(self):
        return b""


class Bash:
    name = "bash"
    aliases = ("bash", "sh", "shell")

    def command(self, control):
        bash = shutil.which("bash")
        return [bash, "--noprofile", "--norc", "-c", BOOT_BASH, "bash", str(control)] if bash else None

    def greeting(self):
        return b""

    def cell(self, code, env, count):
        before, after = [], []
        for at, (name, value) in enumerate(env.items()):
            before.append("isola_had_%d=${%s+x} isola_old_%d=${%s-}" % (at, name, at, name))
            before.append("export %s=%s" % (name, shlex.quote(value)))
            after.append(
                'if [ "$isola_had_%d" ]; then export %s="$isola_old_%d"; else unset %s; fi' % (at, name, at, name)
            )
            after.append("unset isola_had_%d isola_old_%d" % (at, at))
        texts = ("\n".join(before), code, "\n".join(after))
        return b"".join(text.replace("\0", "").encode("utf-8", "surrogatepass") + b"\0" for text in texts)


LANGUAGES = (Python(), Node(), Bash())


def language_named(name):
    wanted = (name or "python").strip().lower()
    for language in LANGUAGES:
        if wanted in language.aliases:
            if language.command(0) is None:
                raise Refusal(404, "language %s needs a program that this sandbox does not have" % language.name)
            return language
    known = ", ".join(language.name for language in LANGUAGES if language.command(0) is not None)
    # E2B's client for JavaScript shows the text of a 404 only.
    raise Refusal(404, "language %s is not supported; supported languages: %s" % (wanted[:100], known))


# ---------------------------------------------------------------------------------------------------------
# Server: context processes


class Lines:
    """Splits the bytes of one output into messages, one per line."""

    def __init__(self, kind):
        self.kind = kind
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.rest = ""

    def take(self, data):
        """Returns the messages of complete lines."""
        text = self.rest + self.decoder.decode(data)
        pieces = text.split("\n")
        self.rest = pieces.pop()
        pieces = [piece + "\n" for piece in pieces]
        while len(self.rest) >= MAX_LINE:
            pieces.append(self.rest[:MAX_LINE])
            self.rest = self.rest[MAX_LINE:]
        return self.messages(pieces)

    def end(self, final=False):
        """Returns the message of an incomplete line. A split character is held back, unless this is the end."""
        rest, self.rest = self.rest + (self.decoder.decode(b"", True) if final else ""), ""
        return self.messages([rest] if rest else [])

    def messages(self, texts):
        now = time.time_ns()
        return b"".join(encoded({"type": self.kind, "text": text, "timestamp": now}) for text in texts)


def encoded(message):
    """Encodes a message as ASCII, because clients decode chunks that may split a character."""
    return json.dumps(message).encode("ascii") + b"\n"


class Worker:
    """The process of a context with its two outputs and its control socket."""

    def __init__(self, language, cwd):
        self.guard = threading.Lock()
        self.ended_by = None
        self.finished = False
        self.control, theirs = socket.socketpair()
        self.outputs = []
        writers = []
        try:
            for _ in range(2):
                reader, writer = os.pipe()
                os.set_blocking(reader, False)
                self.outputs.append(reader)
                writers.append(writer)
            env = dict(os.environ)
            for name in OWN_VARIABLES:
                env.pop(name, None)
            env.setdefault("MPLBACKEND", "Agg")
            self.process = subprocess.Popen(
                language.command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=writers[0],
                stderr=writers[1],
                cwd=cwd,
                env=env,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            for writer in writers:
                os.close(writer)
        self.control.setblocking(False)
        self.unsent = language.greeting()
        self.unread = bytearray()
        self.push()

    def push(self):
        """Sends as much as the socket accepts."""
        try:
            while self.unsent:
                self.unsent = self.unsent[self.control.send(self.unsent[: 1 << 18]) :]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""  # the process died; the end of its output reports it

    def pull(self):
        """Returns the received messages; None after the last one."""
        try:
            data = self.control.recv(1 << 18)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self.unread += data
        if len(self.unread) > MAX_MESSAGE + MAX_BODY:
            return None
        if b"\n" not in data:
            return []
        *lines, rest = bytes(self.unread).split(b"\n")
        self.unread = bytearray(rest)
        try:
            messages = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            return None
        return messages if all(isinstance(message, dict) for message in messages) else None

    def drained(self):
        """Yields the available output in chunks: (0 or 1, bytes)."""
        for which, output in enumerate(self.outputs):
            left = MAX_PIPE
            while left > 0:
                try:
                    data = os.read(output, MAX_LINE)
                except OSError:
                    break
                if not data:
                    break
                left -= len(data)
                yield which, data

    def is_gone(self):
        with self.guard:
            if self.finished:
                return True
            try:
                # Left as a zombie, so that its process group id is not reused before the group is killed.
                return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            except ChildProcessError:
                return True

    def interrupt(self):
        self.signal(signal.SIGINT)

    def kill(self, why=None):
        self.ended_by = self.ended_by or why
        self.signal(signal.SIGKILL)

    def signal(self, number):
        with self.guard:
            if not self.finished:
                try:
                    os.killpg(self.process.pid, number)
                except OSError:
                    pass

    def finish(self):
        """Kills the remaining processes and returns the exit status."""
        self.signal(signal.SIGKILL)
        with self.guard:
            code = self.process.wait()
            if not self.finished:
                self.finished = True
                self.close()
        if self.ended_by:
            return self.ended_by
        return "the process ended with status %d" % code if code >= 0 else "the process was killed by signal %d" % -code

    def close(self):
        self.control.close()
        for output in self.outputs:
            os.close(output)


class Run:
    """Runs one cell in a worker: forwards its output until it is done, dies or is abandoned."""

    def __init__(self, worker, answer):
        self.worker = worker
        self.answer = answer
        self.lines = (Lines("stdout"), Lines("stderr"))
        self.looked = time.monotonic()
        self.began = False
        self.interrupted = False
        self.deadline = None  # set when the client disconnects

    def go(self, cell):
        """Returns whether the worker can still be used."""
        for _ in self.worker.drained():
            pass  # output between two cells is discarded
        self.worker.unsent += cell
        watched = select.poll()
        for output in self.worker.outputs:
            watched.register(output, select.POLLIN)
        client = self.answer.connection.fileno()
        watched.register(client, select.POLLIN | select.POLLRDHUP)
        while True:
            watched.register(self.worker.control, select.POLLIN | (select.POLLOUT if self.worker.unsent else 0))
            ready = dict(watched.poll(1000 * (PARTIAL_SECONDS if any(each.rest for each in self.lines) else 0.5)))
            if client in ready:
                self.answer.listen()
                watched.unregister(client)  # once is enough: it disconnected, or already sent its next request
            for which, output in enumerate(self.worker.outputs):
                if ready.get(output, 0) & select.POLLIN:
                    self.read(which, output)
                elif output in ready:
                    watched.unregister(output)
            if not ready:
                self.pass_on(b"".join(each.end() for each in self.lines))
            self.answer.keep_alive()
            if ready.get(self.worker.control.fileno(), 0) & select.POLLOUT:
                self.worker.push()
            if not self.client_waits():
                return False
            heard = ready.get(self.worker.control.fileno(), 0) & ~select.POLLOUT
            messages = self.worker.pull() if heard else []
            if messages is None or self.has_died():
                self.empty(final=True)
                return False
            if messages and self.tell(messages):
                return True

    def has_died(self):
        """Checked periodically, because a forked process may keep the socket open and write to it."""
        if time.monotonic() - self.looked < 0.5:
            return False
        self.looked = time.monotonic()
        return self.worker.is_gone()

    def read(self, which, output):
        try:
            data = os.read(output, MAX_LINE)
        except BlockingIOError:
            return
        self.pass_on(self.lines[which].take(data))

    def client_waits(self):
        """Returns False when the grace period of an abandoned cell is over."""
        if not self.answer.gone:
            return True
        if self.deadline is None:
            self.deadline = time.monotonic() + GRACE_SECONDS
        if self.began and not self.interrupted:
            self.interrupted = True  # only once, so that the cell can clean up
            self.worker.interrupt()
        if time.monotonic() < self.deadline:
            return True
        self.worker.kill("the cell did not end after its client left")
        return False

    def tell(self, messages):
        """Returns whether the cell is done."""
        self.empty()
        for message in messages:
            if message.get("type") == "done":
                self.empty(final=True)
                return True
            self.began = True  # the first message of a cell
            wait = message.pop("wait", False)
            if message.get("type") in ("result", "error"):
                self.pass_on(encoded(message))
            if wait:
                self.worker.unsent += b"\n"
                self.worker.push()
        return False

    def empty(self, final=False):
        for which, data in self.worker.drained():
            self.pass_on(self.lines[which].take(data))
        if final:
            self.pass_on(b"".join(each.end(final=True) for each in self.lines))
        else:
            self.pass_on(b"".join(each.end() for each in self.lines))

    def pass_on(self, lines):
        if lines:
            self.answer.write(lines)


# ---------------------------------------------------------------------------------------------------------
# Server: contexts


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Turns:
    """A FIFO lock."""

    def __init__(self):
        self.guard = threading.Lock()
        self.waiting = collections.deque()

    def join(self, only_if_first=False):
        mine = threading.Event()
        with self.guard:
            if only_if_first and self.waiting:
                return None
            if len(self.waiting) > MAX_WAITING:
                raise Refusal(429, "%d cells wait in this context already; wait for one to end" % MAX_WAITING)
            self.waiting.append(mine)
            self.waiting[0].set()
        return mine

    def leave(self, mine):
        with self.guard:
            self.waiting.remove(mine)
            if self.waiting:
                self.waiting[0].set()


class Context:
    """A context: an id, a language, a working directory, and a process that is started on demand."""

    def __init__(self, language, cwd):
        self.id = str(uuid.uuid4())
        self.language = language
        self.cwd = cwd
        self.turns = Turns()
        self.guard = threading.Lock()
        self.count = 0
        self.removed = False
        self.worker = None

    def told(self):
        return {"id": self.id, "language": self.language.name, "cwd": self.cwd}

    def start(self):
        """Returns the process, starting it if necessary. The caller holds the lock, or is the only user of the context."""
        with self.guard:
            if self.removed:
                raise Refusal(404, "Context %s not found" % self.id)
            self.bury()
            if self.worker is None:
                self.count = 0
                try:
                    self.worker = Worker(self.language, self.cwd)
                except OSError as error:
                    raise Refusal(500, "the context could not be started: %s" % error)
            return self.worker

    def bury(self):
        if self.worker is not None and (self.worker.ended_by or self.worker.is_gone()):
            self.worker.finish()
            self.worker = None

    def execute(self, code, env, answer):
        """Runs a cell once the lock is acquired, and streams everything into the response."""
        mine = self.turns.join()
        try:
            answer.begin()
            while not mine.wait(0.5):
                answer.keep_alive()
                answer.listen()
                if answer.gone:
                    return
            try:
                worker = self.start()
            except Refusal as refusal:
                answer.fail("ContextError", str(refusal))
                return
            self.count += 1
            answer.tell({"type": "number_of_executions", "execution_count": self.count})
            if Run(worker, answer).go(self.language.cell(code, env, self.count)):
                answer.tell({"type": "end_of_execution"})
                return
            why = worker.finish()
            with self.guard:
                if self.worker is worker:
                    self.worker = None
            answer.fail("ContextDied", why + "; the context starts anew with the next cell")
        finally:
            self.leave(mine)
            answer.finish()

    def end(self, why, removed):
        """Kills the process, even during a cell; the holder of the lock reaps it."""
        with self.guard:
            self.removed = self.removed or removed
            if self.worker is not None:
                self.worker.kill(why)
        self.between(self.tidy if removed else self.start)

    def between(self, act):
        """Runs the action if no cell runs or waits, and returns its result."""
        mine = self.turns.join(only_if_first=True)
        if mine is None:
            return None
        try:
            return act()
        finally:
            self.leave(mine)

    def leave(self, mine):
        """Releases the lock. Reaps the process if the context was removed in the meantime."""
        self.turns.leave(mine)
        if self.removed and self.worker is not None:
            self.between(self.tidy)

    def tidy(self):
        """Drains unread outputs, so that no background process blocks, and reaps dead processes.

        Returns whether there was output, in which case there may be more.
        """
        with self.guard:
            self.bury()
            if self.worker is None:
                return False
            self.worker.push()
            return any([data for _, data in self.worker.drained()])


class Contexts:
    def __init__(self):
        self.guard = threading.Lock()
        self.all = {}
        self.defaults = {}
        self.default(LANGUAGES[0]).start()
        threading.Thread(target=self.keep, daemon=True).start()

    def keep(self):
        while True:
            busy = [context.between(context.tidy) for context in self.list()]
            time.sleep(0.01 if any(busy) else 0.25)

    def list(self):
        with self.guard:
            return list(self.all.values())

    def get(self, name):
        with self.guard:
            context = self.all.get(name)
        if context is None:
            raise Refusal(404, "Context %s not found" % name[:100])
        return context

    def default(self, language):
        with self.guard:
            context = self.defaults.get(language.name)
            if context is None:
                context = self.defaults[language.name] = self.added(language, default_folder())
            return context

    def create(self, language, cwd):
        cwd = cwd or default_folder()
        if not os.path.isdir(cwd):
            raise Refusal(404, "cwd %s is not a folder" % cwd[:200])
        with self.guard:
            context = self.added(language, cwd)
        try:
            context.start()
        except Refusal:
            self.remove(context.id)
            raise
        return context

    def added(self, language, cwd):
        if len(self.all) >= MAX_CONTEXTS:
            raise Refusal(429, "%d contexts are the most; remove one" % MAX_CONTEXTS)
        context = Context(language, cwd)
        self.all[context.id] = context
        return context

    def remove(self, name):
        context = self.get(name)
        with self.guard:
            self.all.pop(context.id, None)
            for language, each in list(self.defaults.items()):
                if each is context:
                    del self.defaults[language]
        context.end("the context was removed", removed=True)

    def restart(self, name):
        self.get(name).end("the context was restarted", removed=False)

    def end(self):
        for context in self.list():
            context.end("the server ended", removed=True)


def default_folder():
    wanted = (os.environ.get("KERNEL_CWD", ""), HOME, os.environ.get("HOME", ""), "/")
    return next(folder for folder in wanted if os.path.isdir(folder))


# ---------------------------------------------------------------------------------------------------------
# Server: HTTP


class Answer:
    """Writes the chunks of one response. A disconnected client is detected and is not an error."""

    def __init__(self, handler):
        self.handler = handler
        self.connection = handler.connection
        self.gone = False
        self.spoke = time.monotonic()

    def begin(self):
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "application/x-ndjson")
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.send_header("Cache-Control", "no-cache")
        try:
            self.handler.end_headers()
        except OSError:
            self.gone = True

    def write(self, data):
        if self.gone or not data:
            return
        try:
            self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))
        except OSError:
            self.gone = True
        self.spoke = time.monotonic()

    def tell(self, message):
        self.write(encoded(message))

    def fail(self, name, value):
        self.tell({"type": "error", "name": name, "value": value, "traceback": "%s: %s" % (name, value)})
        self.tell({"type": "unexpected_end_of_execution"})

    def keep_alive(self):
        if time.monotonic() - self.spoke > KEEPALIVE_SECONDS:
            self.tell({"type": "keepalive"})

    def listen(self):
        """Detects that the client disconnected. A client that has sent its next request is still connected."""
        heard = select.poll()
        heard.register(self.connection, select.POLLIN)
        try:
            if heard.poll(0) and self.connection.recv(1, socket.MSG_PEEK) == b"":
                self.gone = True
        except OSError:
            self.gone = True

    def finish(self):
        if not self.gone:
            try:
                self.connection.sendall(b"0\r\n\r\n")
            except OSError:
                self.gone = True
        if self.gone:
            self.handler.close_connection = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "isola-kernel"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.route("GET")

    def do_POST(self):
        self.route("POST")

    def do_DELETE(self):
        self.route("DELETE")

    def route(self, method):
        try:
            body = self.body()
            path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).strip("/").split("/")
            contexts = self.server.contexts
            if (method, path) == ("GET", ["health"]):
                self.reply(200, "OK")
            elif (method, path) == ("POST", ["execute"]):
                self.execute(self.parsed(body))
            elif (method, path) == ("GET", ["contexts"]):
                self.reply(200, [context.told() for context in contexts.list()])
            elif (method, path) == ("POST", ["contexts"]):
                wanted = self.parsed(body)
                language = language_named(text_in(wanted, "language"))
                self.reply(200, contexts.create(language, text_in(wanted, "cwd")).told())
            elif method == "DELETE" and len(path) == 2 and path[0] == "contexts":
                contexts.remove(path[1])
                self.reply(200, None)
            elif method == "POST" and len(path) == 3 and path[0] == "contexts" and path[2] == "restart":
                contexts.restart(path[1])
                self.reply(200, None)
            else:
                raise Refusal(404, "no such route")
        except Refusal as refusal:
            self.send(refusal.status, "text/plain; charset=utf-8", str(refusal))

    def execute(self, wanted):
        code, name, language = (text_in(wanted, key) for key in ("code", "context_id", "language"))
        if code is None:
            raise Refusal(400, "code is missing")
        if name and language:
            raise Refusal(400, "give context_id or language, not both")
        contexts = self.server.contexts
        context = contexts.get(name) if name else contexts.default(language_named(language))
        context.execute(code, environment_in(wanted), Answer(self))

    def body(self):
        """Reads the whole body or rejects it; after an incomplete read the connection cannot be reused."""
        try:
            if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
                return self.chunks()
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= MAX_BODY:
                self.close_connection = True
                raise Refusal(413, "a body of %d bytes; %d are the most" % (length, MAX_BODY))
            return self.exactly(length)
        except ValueError:
            self.close_connection = True
            raise Refusal(400, "the length of the body makes no sense")

    def chunks(self):
        body = bytearray()
        while True:
            size = int(self.rfile.readline(1024).split(b";")[0], 16)
            if size < 0 or len(body) + size > MAX_BODY:
                self.close_connection = True
                raise Refusal(413, "a body of more than %d bytes" % MAX_BODY)
            if size == 0:
                while self.rfile.readline(8192).strip():
                    pass
                return bytes(body)
            body += self.exactly(size)
            self.rfile.readline(8)

    def exactly(self, length):
        data = self.rfile.read(length) if length else b""
        if len(data) < length:
            raise ValueError("the body ended early")
        return data

    def parsed(self, body):
        try:
            wanted = json.loads(body) if body.strip() else {}
        except (ValueError, RecursionError):
            raise Refusal(400, "the body is no JSON")
        if not isinstance(wanted, dict):
            raise Refusal(400, "the body is no JSON object")
        return wanted

    def reply(self, status, value):
        self.send(status, "application/json", json.dumps(value))

    def send(self, status, kind, text):
        data = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def text_in(wanted, key):
    value = wanted.get(key)
    if value is not None and not isinstance(value, str):
        raise Refusal(400, "%s is no text" % key)
    return value


def environment_in(wanted):
    env = wanted.get("env_vars") or {}
    if not isinstance(env, dict) or not all(isinstance(value, str) and "\0" not in value for value in env.values()):
        raise Refusal(400, "env_vars is no object of texts")
    for name in env:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise Refusal(400, "env_vars has the name %s; letters, digits and _ make one" % name[:100])
    return env


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), Handler)
        self.room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.contexts = Contexts()

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)  # without a DNS lookup
        self.server_name, self.server_port = self.server_address[:2]

    def process_request(self, request, address):
        if not self.room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, address)

    def process_request_thread(self, request, address):
        try:
            super().process_request_thread(request, address)
        finally:
            self.room.release()

    def handle_error(self, request, address):
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print("a request failed: %s" % type(error).__name__, file=sys.stderr, flush=True)


def main():
    port = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KERNEL_PORT") or PORT)
    server = Server(port)

    def ended(number, frame):
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGINT, ended)
    print("ready" if port else "ready %d" % server.server_port, flush=True)
    try:
        server.serve_forever()
    finally:
        server.contexts.end()


if __name__ == "__main__":
    main()
