"""Tests of the kernel server, started as in a sandbox: python3 -c TEXT. `make -C testing kernel` runs them."""

import base64
import concurrent.futures
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = os.path.join(ROOT, "compat/e2b/src/main/resources/dev/isola/compat/e2b/template/kernel.py")
PYTHON = os.environ.get("KERNEL_PYTHON", sys.executable)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DEADLINE = 30


class Execution:
    """A response as parsed by an E2B client."""

    def __init__(self, lines):
        self.lines = [json.loads(line) for line in lines]
        self.types = [line["type"] for line in self.lines if line["type"] != "keepalive"]
        self.results = self.of("result")
        self.stdout = "".join(line["text"] for line in self.of("stdout"))
        self.stderr = "".join(line["text"] for line in self.of("stderr"))
        self.error = next(iter(self.of("error")), None)
        self.count = next((line["execution_count"] for line in self.of("number_of_executions")), None)
        self.main = next((line for line in self.results if line["is_main_result"]), None)
        self.text = self.main and self.main.get("text")

    def of(self, kind):
        return [line for line in self.lines if line["type"] == kind]


class Kernel:
    """A private server with its own home directory."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="kernel-test-")
        with open(KERNEL, encoding="utf-8") as file:
            self.text = file.read()
        env = dict(
            os.environ,
            HOME=self.home,
            KERNEL_CWD=self.home,
            KERNEL_PORT="0",
            FROM_OUTSIDE="yes",
            ISOLA_KERNEL=self.text,
        )
        self.process = subprocess.Popen(
            [PYTHON, "-c", self.text], env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self.ready = self.process.stdout.readline().split()
        self.port = int(self.ready[1])

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE)
        self.process.stdout.close()
        shutil.rmtree(self.home)

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    def ask(self, method, path, body=None):
        connection = self.connection()
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        status, text = self.ask(method, path, body)
        if status != 200:
            raise AssertionError("%d %s" % (status, text))
        return json.loads(text)

    def run(self, code, **more):
        status, text = self.ask("POST", "/execute", dict(more, code=code))
        if status != 200:
            raise AssertionError("%d %s" % (status, text))
        return Execution(text.splitlines())

    def begin(self, code, **more):
        """Starts a cell; returns its connection and the response that is being streamed."""
        connection = self.connection()
        connection.request("POST", "/execute", json.dumps(dict(more, code=code)))
        return connection, connection.getresponse()

    def context(self, **wanted):
        return self.json("POST", "/contexts", wanted)["id"]


def eventually(true, what):
    end = time.monotonic() + DEADLINE
    while not true():
        if time.monotonic() > end:
            raise AssertionError("never: " + what)
        time.sleep(0.02)


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = Kernel()

    @classmethod
    def tearDownClass(cls):
        cls.kernel.close()

    def setUp(self):
        def late(number, frame):
            raise AssertionError("the test takes longer than %d seconds" % (2 * DEADLINE))

        signal.signal(signal.SIGALRM, late)
        signal.alarm(2 * DEADLINE)
        self.addCleanup(signal.alarm, 0)

    def run_cell(self, code, **more):
        return self.kernel.run(code, **more)

    def fresh(self, **wanted):
        name = self.kernel.context(**wanted)
        self.addCleanup(self.kernel.ask, "DELETE", "/contexts/" + name)
        return name


class CellsTest(KernelTest):
    def test_the_last_expression_is_the_result(self):
        done = self.run_cell("x = 1; x += 1\nx")
        self.assertEqual("2", done.text)
        self.assertEqual(["number_of_executions", "result", "end_of_execution"], done.types)

    def test_names_persist_between_cells(self):
        self.run_cell("def twice(n):\n    return 2 * n\nseven = 7")
        self.assertEqual("14", self.run_cell("twice(seven)").text)

    def test_no_result(self):
        for code in ("", "# nothing", "y = 3", "None", "3;", "3;  # quiet", "def f(): pass"):
            with self.subTest(code):
                done = self.run_cell(code)
                self.assertEqual([], done.results)
                self.assertIsNone(done.error)

    def test_a_text_has_no_quotes(self):
        self.assertEqual("bar", self.run_cell("'bar'").text)
        self.assertEqual("it's", self.run_cell('"it\'s"').text)
        self.assertEqual("['bar']", self.run_cell("['bar']").text)

    def test_the_last_value_has_a_name(self):
        context = self.fresh()
        self.run_cell("40", context_id=context)
        self.assertEqual("42", self.run_cell("_ + 2", context_id=context).text)

    def test_cells_are_counted(self):
        context = self.fresh()
        self.assertEqual([1, 2, 3], [self.run_cell("0", context_id=context).count for _ in range(3)])

    def test_an_indented_cell(self):
        self.assertEqual("5", self.run_cell("\n    a = 2\n    if a:\n        a += 3\n    a\n    ").text)

    def test_awaits(self):
        done = self.run_cell(
            "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 'late'\nawait f()"
        )
        self.assertEqual("late", done.text)
        # A task of one cell continues in the next, because they share the event loop.
        context = self.fresh()
        self.run_cell(
            "import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(0.01, 'kept'))\nawait asyncio.sleep(0)",
            context_id=context,
        )
        self.assertEqual("kept", self.run_cell("await task", context_id=context).text)
        self.assertEqual("6", self.run_cell("asyncio.run(asyncio.sleep(0, 6))", context_id=context).text)
        self.assertEqual("7", self.run_cell("await asyncio.sleep(0, 7)", context_id=context).text)

    def test_classes_of_cells_can_be_pickled(self):
        done = self.run_cell("import pickle\nclass Point: pass\ntype(pickle.loads(pickle.dumps(Point()))) is Point")
        self.assertEqual("True", done.text)

    def test_stdin_is_empty(self):
        self.assertEqual("EOFError", self.run_cell("input()").error["name"])

    def test_variables_of_one_execution(self):
        context = self.fresh()
        ask = "import os; os.getenv('FOO', 'none') + os.getenv('FROM_OUTSIDE')"
        env = {"FOO": "bär", "FROM_OUTSIDE": "no"}
        self.assertEqual("bärno", self.run_cell(ask, context_id=context, env_vars=env).text)
        self.assertEqual("noneyes", self.run_cell(ask, context_id=context).text)
        self.assertEqual("bär\n", self.run_cell("!echo $FOO", context_id=context, env_vars=env).stdout)

    def test_variables_of_the_server_are_not_seen(self):
        done = self.run_cell(
            "import os\n[name for name in os.environ if name.endswith(('KERNEL', '_PORT', '_CWD', '_OUTSIDE'))]"
        )
        self.assertEqual("['FROM_OUTSIDE']", done.text)

    def test_a_forked_child_of_a_cell_sends_no_result(self):
        done = self.run_cell("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'parent' if pid else 'child'")
        self.assertEqual(["parent"], [result["text"] for result in done.results])
        self.assertEqual(
            "[0, 1, 4]",
            self.run_cell(
                "import multiprocessing\ndef square(n): return n * n\n"
                "with multiprocessing.get_context('fork').Pool(2) as pool: squares = pool.map(square, range(3))\nsquares"
            ).text,
        )


class OutputTest(KernelTest):
    def test_lines(self):
        done = self.run_cell("import sys\nprint('one')\nprint('two')\nprint('oops', file=sys.stderr)")
        self.assertEqual(["one\n", "two\n"], [line["text"] for line in done.of("stdout")])
        self.assertEqual(["oops\n"], [line["text"] for line in done.of("stderr")])
        self.assertLess(abs(time.time() - done.of("stdout")[0]["timestamp"] / 1e9), 600)

    def test_output_comes_before_what_follows_it(self):
        done = self.run_cell("print('a', end='')\ndisplay(1)\nprint('b')\n2")
        shown = [line["text"] for line in done.lines if line["type"] in ("stdout", "result")]
        self.assertEqual(["a", "1", "b\n", "2"], shown)

    def test_subprocesses_and_descriptors(self):
        done = self.run_cell(
            "import os, subprocess, sys\nprint('first')\nos.system('echo second; echo third >&2')\n"
            "os.write(1, b'fourth\\n')\nsubprocess.run([sys.executable, '-c', 'print(\"fifth\")']);"
        )
        self.assertEqual("first\nsecond\nfourth\nfifth\n", done.stdout)
        self.assertEqual("third\n", done.stderr)

    def test_a_line_arrives_before_the_cell_ends(self):
        gate = os.path.join(self.kernel.home, "gate")
        connection, response = self.kernel.begin(
            "import os, time\nprint('now', end='')\nwhile not os.path.exists(%r): time.sleep(0.01)" % gate
        )
        self.assertEqual("number_of_executions", json.loads(response.readline())["type"])
        self.assertEqual("now", json.loads(response.readline())["text"])
        open(gate, "w").close()
        self.assertEqual("end_of_execution", json.loads(response.read().splitlines()[-1])["type"])
        connection.close()

    def test_nothing_is_lost(self):
        done = self.run_cell("for i in range(50000): print(i)")
        self.assertEqual("".join("%d\n" % i for i in range(50000)), done.stdout)
        done = self.run_cell("import os; os.system('head -c 5000000 /dev/zero | tr \"\\\\0\" x')\nprint('end')")
        self.assertEqual(5000004, len(done.stdout))
        self.assertTrue(done.stdout.endswith("xend\n"))
        self.assertLessEqual(max(len(line["text"]) for line in done.of("stdout")), 1 << 17)

    def test_a_full_pipe_is_emptied_before_the_end(self):
        # 1031 is F_SETPIPE_SZ. The server reads far less at once.
        context = self.fresh()
        self.run_cell("import fcntl, os\nfcntl.fcntl(1, 1031, 1 << 20)", context_id=context)
        for _ in range(3):
            done = self.run_cell("written = os.write(1, b'x' * 900000)", context_id=context)
            self.assertEqual(900000, len(done.stdout))

    def test_characters(self):
        status, text = self.kernel.ask("POST", "/execute", {"code": "print('grün 🦀 \\u2028 \\ud800')\n'ß'"})
        self.assertTrue(text.isascii())
        done = Execution(text.split("\n")[:-1])
        self.assertEqual("grün 🦀 \u2028 \\ud800\n", done.stdout)
        self.assertEqual("ß", done.text)
        self.assertEqual("\ufffdx\n", self.run_cell("import os; os.write(1, b'\\xffx\\n');").stdout)
        halves = "import os, time\nos.write(1, b'\\xc3')\ntime.sleep(0.3)\nos.write(1, b'\\xa4\\n');"
        self.assertEqual("ä\n", self.run_cell(halves).stdout)

    def test_output_that_resembles_the_protocol_is_output(self):
        done = self.run_cell("print('{\"type\": \"done\"}')\n'after'")
        self.assertEqual('{"type": "done"}\n', done.stdout)
        self.assertEqual("after", done.text)

    def test_a_closed_output_is_opened_again(self):
        context = self.fresh()
        self.run_cell("import os, sys; sys.stdout.close(); os.close(2)", context_id=context)
        done = self.run_cell("print('again'); print('too', file=sys.stderr)", context_id=context)
        self.assertEqual(("again\n", "too\n"), (done.stdout, done.stderr))

    def test_background_output_does_not_block_without_a_reader(self):
        mark = os.path.join(self.kernel.home, "written")
        context = self.fresh()
        self.run_cell("!(head -c 1000000 /dev/zero; touch %s) &" % mark, context_id=context)
        eventually(lambda: os.path.exists(mark), "the background process wrote everything")

    def test_a_client_that_does_not_read_blocks_the_cell(self):
        context = self.fresh()
        progress = os.path.join(self.kernel.home, "progress")
        connection, response = self.kernel.begin(
            "for i in range(2000):\n    print('x' * 10000)\n    open(%r, 'w').write(str(i))" % progress,
            context_id=context,
        )
        eventually(lambda: os.path.exists(progress) and os.path.getsize(progress) > 0, "output")
        seen = []

        def stalled():
            with open(progress) as file:
                seen.append(file.read())
            return len(seen) > 20 and len(set(seen[-20:])) == 1

        eventually(stalled, "the cell waits for its reader")
        self.assertLess(int(seen[-1] or 0), 1999)
        done = Execution(response.read().decode().splitlines())
        connection.close()
        self.assertEqual(2000 * 10001, len(done.stdout))


class ResultsTest(KernelTest):
    def test_every_representation(self):
        methods = {
            "html": "<b>x</b>",
            "markdown": "*x*",
            "svg": "<svg/>",
            "latex": "$x$",
            "javascript": "x()",
            "json": {"x": [1, None]},
            "png": b"png",
            "jpeg": b"jpeg",
            "pdf": b"pdf",
        }
        code = "class Rich:\n    def __repr__(self): return 'Rich!'\n"
        for name, value in methods.items():
            code += "    def _repr_%s_(self): return %r\n" % (name, value)
        main = self.run_cell(code + "Rich()").main
        self.assertEqual("Rich!", main["text"])
        for name, value in methods.items():
            wanted = base64.b64encode(value).decode() if isinstance(value, bytes) else value
            self.assertEqual(wanted, main[name], name)

    def test_a_bundle(self):
        main = self.run_cell(
            "class B:\n    def _repr_mimebundle_(self, include, exclude):\n"
            "        return {'text/html': '<i>', 'text/plain': 'p', 'application/vnd.x+json': {'n': float('nan')}}, {}\nB()"
        ).main
        self.assertEqual(("<i>", "p"), (main["html"], main["text"]))
        self.assertEqual({"application/vnd.x+json": {"n": None}}, main["extra"])

    def test_display(self):
        done = self.run_cell("display('a', [1])\ndisplay({'text/html': '<p>'}, raw=True)\n'main'")
        self.assertEqual([False, False, False, True], [result["is_main_result"] for result in done.results])
        self.assertEqual(["a", "[1]", None, "main"], [result.get("text") for result in done.results])
        self.assertEqual("<p>", done.results[2]["html"])

    def test_a_representation_that_fails(self):
        done = self.run_cell("class Bad:\n    def __repr__(self): return 'bad'\n    def _repr_html_(self): 1/0\nBad()")
        self.assertEqual("bad", done.text)
        self.assertIn("division by zero", done.stderr)
        self.assertEqual(
            "ValueError", self.run_cell("class W:\n    def __repr__(self): raise ValueError('w')\nW()").error["name"]
        )

    def test_a_mock_has_no_representations(self):
        done = self.run_cell("from unittest import mock\nmock.MagicMock(name='m')")
        self.assertEqual({"type", "is_main_result", "text"}, set(done.main))
        self.assertEqual("", done.stderr)

    def test_ipythons_display_without_ipython(self):
        with open(os.path.join(self.kernel.home, "p.png"), "wb") as file:
            file.write(PNG)
        done = self.run_cell(
            "import sys\nsys.path[:] = [path for path in sys.path if 'site-packages' not in path]\n"
            "from IPython.display import display, HTML, Markdown, Image, JSON\nfrom IPython import get_ipython\n"
            "display(HTML('<b>'), Markdown('*m*'), Image('p.png'), JSON({'a': 1}), Image(url='http://x/?a&b'))",
            context_id=self.fresh(),
        )
        self.assertIsNone(done.error)
        html, markdown, image, data, link = done.results
        self.assertEqual(("<b>", "*m*", {"a": 1}), (html["html"], markdown["markdown"], data["json"]))
        self.assertEqual(PNG, base64.b64decode(image["png"]))
        self.assertEqual('<img src="http://x/?a&amp;b"/>', link["html"])

    def test_a_result_that_is_too_large_loses_parts(self):
        done = self.run_cell(
            "class Big:\n    def _repr_html_(self): return 'x' * (40 << 20)\n    def __repr__(self): return 'Big'\nBig()"
        )
        self.assertEqual("Big", done.text)
        self.assertNotIn("html", done.main)
        self.assertIn("html of a result left out", done.stderr)
        self.assertLess(len(self.run_cell("'x' * (3 << 20)").text), 2 << 20)

    def test_figures_and_frames(self):
        # The libraries are large, so the functions that the kernel calls are replaced by stubs.
        self.library("matplotlib/__init__.py", "")
        self.library("matplotlib/figure.py", FIGURE)
        self.library("matplotlib/pyplot.py", PYPLOT)
        self.library("pandas.py", PANDAS)
        context = self.fresh()
        done = self.run_cell("import os; os.environ['MPLBACKEND']", context_id=context)
        self.assertEqual("Agg", done.text)
        done = self.run_cell(
            "import matplotlib.pyplot as plt\nplt.plot()\nplt.show()\nprint('between')\nplt.plot();", context_id=context
        )
        self.assertEqual(["result", "stdout", "result"], done.types[1:-1])
        self.assertEqual([b"PNG1", b"PNG2"], [base64.b64decode(result["png"]) for result in done.results])
        self.assertEqual([False, False], [result["is_main_result"] for result in done.results])
        done = self.run_cell("plt.plot()", context_id=context)
        self.assertEqual([True], [result["is_main_result"] for result in done.results])
        done = self.run_cell("import pandas\npandas.DataFrame()", context_id=context)
        self.assertEqual({"a": [1, None]}, done.main["data"])
        self.assertEqual("<table>", done.main["html"])

    def library(self, path, text):
        path = os.path.join(self.kernel.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


FIGURE = """
class Figure:
    texts = images = ()
    def __init__(self, number): self.number = number
    def get_axes(self): return [1]
    def savefig(self, file, **options): file.write(b"PNG%d" % self.number)
"""
PYPLOT = """
from matplotlib.figure import Figure
import os
assert os.environ["MPLBACKEND"] == "Agg"
figures, made = {}, 0
def plot():
    global made
    made += 1
    figures[made] = Figure(made)
    return figures[made]
def show(): raise Exception("the kernel shows figures")
def get_fignums(): return list(figures)
def figure(number): return figures[number]
def close(figure): figures.pop(figure.number, None)
"""
PANDAS = """
class DataFrame:
    def to_dict(self, orient): return {"a": [1, float("nan")]} if orient == "list" else None
    def _repr_html_(self): return "<table>"
"""


class ErrorsTest(KernelTest):
    def test_a_traceback(self):
        context = self.fresh()
        self.run_cell("def inner(n):\n    return 1 / n", context_id=context)
        error = self.run_cell("x = 1\ninner(0)", context_id=context).error
        self.assertEqual(("ZeroDivisionError", "division by zero"), (error["name"], error["value"]))
        trace = error["traceback"]
        self.assertIn("Cell In[2], line 2\n      1 x = 1\n----> 2 inner(0)\n", trace)
        self.assertIn("Cell In[1], line 2, in inner\n", trace)
        self.assertIn("----> 2     return 1 / n", trace)
        self.assertTrue(trace.endswith("ZeroDivisionError: division by zero"))
        self.assertNotIn("evaluate", trace)
        self.assertNotIn("<string>", trace)

    def test_causes(self):
        trace = self.run_cell("try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e").error[
            "traceback"
        ]
        self.assertLess(trace.index("ZeroDivisionError"), trace.index("direct cause"))
        self.assertLess(trace.index("direct cause"), trace.index("KeyError: 'k'"))

    def test_an_error_after_await(self):
        trace = self.run_cell("import asyncio\nawait asyncio.sleep(0)\nraise OSError('late')").error["traceback"]
        self.assertIn("line 3", trace)
        self.assertNotIn("base_events", trace)

    def test_syntax(self):
        error = self.run_cell("a = 1\nb = = 2").error
        self.assertEqual("SyntaxError", error["name"])
        self.assertIn("line 2", error["traceback"])
        self.assertIn("b = = 2", error["traceback"])
        self.assertNotIn("ast.py", error["traceback"])
        self.assertIsNotNone(self.run_cell("a = '\0'").error)

    def test_output_before_the_error_is_there(self):
        done = self.run_cell("print('before')\nxyz")
        self.assertEqual("before\n", done.stdout)
        self.assertEqual("NameError", done.error["name"])
        self.assertEqual(["number_of_executions", "stdout", "error", "end_of_execution"], done.types)

    def test_exits_are_errors(self):
        context = self.fresh()
        self.run_cell("kept = 5", context_id=context)
        error = self.run_cell("import sys; sys.exit(3)", context_id=context).error
        self.assertEqual(("SystemExit", "3"), (error["name"], error["value"]))
        self.assertEqual("SystemExit", self.run_cell("exit()", context_id=context).error["name"])
        self.assertEqual(
            "KeyboardInterrupt", self.run_cell("raise KeyboardInterrupt", context_id=context).error["name"]
        )
        self.assertEqual("5", self.run_cell("kept", context_id=context).text)

    def test_deep_and_odd_errors(self):
        error = self.run_cell("def f(): f()\nf()").error
        self.assertEqual("RecursionError", error["name"])
        self.assertIn("frames left out", error["traceback"])
        odd = "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd"
        self.assertEqual("Odd", self.run_cell(odd).error["name"])
        self.assertLess(len(self.run_cell("raise ValueError('x' * (5 << 20))").error["value"]), 2 << 20)


class MagicsTest(KernelTest):
    def test_commands(self):
        done = self.run_cell(
            "word = 'hey'\nif word:\n    !echo {word} $word $HOME; echo ${HOME}\n!echo two \\\n  lines\nword"
        )
        self.assertEqual("hey hey %s\n%s\ntwo lines\n" % (self.kernel.home, self.kernel.home), done.stdout)
        self.assertEqual("hey", done.text)
        self.assertEqual("['a', 'b']", self.run_cell("names = !printf 'a\\nb\\n'\nnames").text)
        self.assertEqual("1 x\n", self.run_cell("!echo x | awk '{print 1, $1}'").stdout)

    def test_text_that_resembles_a_magic_is_code(self):
        done = self.run_cell("text = '''\n!no command\n%no magic\n'''\nn = (7\n%4)\n!echo yes\n(n, text)")
        self.assertEqual("(3, '\\n!no command\\n%no magic\\n')", done.text)
        self.assertEqual("yes\n", done.stdout)

    def test_folders_and_variables(self):
        context = self.fresh()
        done = self.run_cell("%cd /usr\n%env COLOUR=sea green\n!pwd; echo $COLOUR", context_id=context)
        self.assertEqual("/usr\nenv: COLOUR=sea green\n/usr\nsea green\n", done.stdout)
        self.assertEqual("/usr", self.run_cell("here = %pwd\nhere", context_id=context).text)
        self.assertEqual("sea green", self.run_cell("%env COLOUR", context_id=context).text)

    def test_pip(self):
        done = self.run_cell("%pip --version")
        self.assertIn("pip", done.stdout + done.stderr)
        self.assertIsNone(done.error)

    def test_cells_of_bash(self):
        done = self.run_cell("%%bash\nfor i in 1 2; do echo $i; done\necho bad >&2")
        self.assertEqual(("1\n2\n", "bad\n"), (done.stdout, done.stderr))
        self.assertEqual("CalledProcessError", self.run_cell("%%bash\nexit 3").error["name"])

    def test_other_magics(self):
        self.assertIsNone(self.run_cell("%matplotlib inline\n%load_ext autoreload").error)
        self.assertEqual("UsageError", self.run_cell("%nonsense 1").error["name"])
        self.assertEqual("UsageError", self.run_cell("%%nonsense\n1").error["name"])
        self.assertIn("per loop", self.run_cell("%timeit 1 + 1").stdout)
        done = self.run_cell("%%time\n6 * 7")
        self.assertEqual("42", done.text)
        self.assertIn("Wall time", done.stdout)
        self.run_cell("%%writefile hello.py\ngreeting = 'from a file'\n")
        self.assertEqual("from a file", self.run_cell("import hello\nhello.greeting").text)
        self.assertEqual("from a file", self.run_cell("%run hello.py\ngreeting").text)

    def test_errors_name_the_line_of_the_user(self):
        trace = self.run_cell("!true\n%cd /nowhere/at/all").error["traceback"]
        self.assertIn("----> 2 %cd /nowhere/at/all", trace)
        self.assertNotIn("line_cd", trace)


class ContextsTest(KernelTest):
    def test_the_default_context_exists_at_startup(self):
        contexts = self.kernel.json("GET", "/contexts?source=ci")
        self.assertIn(("python", self.kernel.home), [(each["language"], each["cwd"]) for each in contexts])

    def test_contexts_are_isolated(self):
        one, two = self.fresh(), self.fresh()
        self.run_cell("secret = 1", context_id=one)
        self.assertEqual("NameError", self.run_cell("secret", context_id=two).error["name"])
        self.assertEqual("NameError", self.run_cell("secret").error["name"])
        self.assertEqual("1", self.run_cell("secret", context_id=one).text)

    def test_create_list_remove(self):
        made = self.kernel.json("POST", "/contexts", {"language": "Python", "cwd": "/usr"})
        self.assertEqual({"id", "language", "cwd"}, set(made))
        self.assertEqual(("python", "/usr"), (made["language"], made["cwd"]))
        self.assertIn(made, self.kernel.json("GET", "/contexts"))
        self.assertEqual("/usr", self.run_cell("import os; os.getcwd()", context_id=made["id"]).text)
        self.assertEqual(200, self.kernel.ask("DELETE", "/contexts/" + made["id"])[0])
        self.assertNotIn(made, self.kernel.json("GET", "/contexts"))
        for method, path in (("DELETE", ""), ("POST", "/restart")):
            self.assertEqual(404, self.kernel.ask(method, "/contexts/" + made["id"] + path)[0])
        status, text = self.kernel.ask("POST", "/execute", {"code": "1", "context_id": made["id"]})
        self.assertEqual((404, "Context %s not found" % made["id"]), (status, text))

    def test_restart(self):
        context = self.fresh()
        self.run_cell("x = 1", context_id=context)
        self.assertEqual(200, self.kernel.ask("POST", "/contexts/%s/restart" % context)[0])
        done = self.run_cell("x", context_id=context)
        self.assertEqual(("NameError", 1), (done.error["name"], done.count))

    def test_restart_in_the_middle_of_a_cell(self):
        context = self.fresh()
        connection, response = self.kernel.begin("import time\nprint('up')\ntime.sleep(100)", context_id=context)
        while json.loads(response.readline())["type"] != "stdout":
            pass
        self.kernel.ask("POST", "/contexts/%s/restart" % context)
        done = Execution(response.read().decode().splitlines())
        connection.close()
        self.assertEqual(["error", "unexpected_end_of_execution"], done.types)
        self.assertIn("restarted", done.error["value"])
        self.assertEqual("2", self.run_cell("1 + 1", context_id=context).text)

    def test_cells_run_in_the_order_in_which_they_came(self):
        context = self.fresh()
        self.run_cell("order = []", context_id=context)
        began = []
        for i in range(5):
            began.append(self.kernel.begin("import time\ntime.sleep(0.05)\norder.append(%d)" % i, context_id=context))
        for connection, response in began:
            response.read()
            connection.close()
        self.assertEqual("[0, 1, 2, 3, 4]", self.run_cell("order", context_id=context).text)

    def test_contexts_run_at_the_same_time(self):
        one, two = self.fresh(), self.fresh()
        meet = (
            "import os, time\nopen(%r, 'w').close()\nend = time.time() + 20\n"
            "while not os.path.exists(%r) and time.time() < end: time.sleep(0.01)\nos.path.exists(%r)"
        )
        a, b = (os.path.join(self.kernel.home, name) for name in "ab")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            first = pool.submit(self.run_cell, meet % (a, b, b), context_id=one)
            second = pool.submit(self.run_cell, meet % (b, a, a), context_id=two)
        self.assertEqual(("True", "True"), (first.result().text, second.result().text))

    def test_the_number_of_contexts_is_limited(self):
        made = []
        try:
            status = 200
            while status == 200 and len(made) < 40:
                status, text = self.kernel.ask("POST", "/contexts", {"language": "bash"})
                if status == 200:
                    made.append(json.loads(text)["id"])
            self.assertEqual(429, status)
            self.assertIn("32 contexts", text)
            self.assertGreater(len(made), 20)
        finally:
            for each in made:
                self.kernel.ask("DELETE", "/contexts/" + each)
        self.assertEqual("1", self.run_cell("1").text)

    def test_invalid_requests_are_rejected(self):
        for body, status, words in (
            ({"code": "1", "context_id": "x", "language": "python"}, 400, "not both"),
            ({"code": "1", "context_id": "nobody"}, 404, "Context nobody not found"),
            ({"code": "1", "language": "cobol"}, 404, "supported languages: python"),
            ({"code": 1}, 400, "code is no text"),
            ({}, 400, "code is missing"),
            ({"code": "1", "env_vars": {"A B": "1"}}, 400, "A B"),
            ({"code": "1", "env_vars": {"A": 1}}, 400, "env_vars"),
            ("[1]", 400, "object"),
            ("{", 400, "JSON"),
        ):
            with self.subTest(body):
                got, text = self.kernel.ask("POST", "/execute", body)
                self.assertEqual(status, got)
                self.assertIn(words, text)
        self.assertEqual(
            (404, "cwd /nowhere is not a folder"), self.kernel.ask("POST", "/contexts", {"cwd": "/nowhere"})
        )
        self.assertEqual(404, self.kernel.ask("GET", "/nothing")[0])


class DeathTest(KernelTest):
    def test_a_dead_context_is_restarted(self):
        other = self.fresh()
        self.run_cell("kept = 'here'", context_id=other)
        for code in (
            "import os; print('last words', end=''); os._exit(7)",
            "import os, signal\nprint('last words', end='')\nos.kill(os.getpid(), signal.SIGKILL)",
        ):
            context = self.fresh()
            self.run_cell("x = 1", context_id=context)
            done = self.run_cell(code, context_id=context)
            self.assertEqual("last words", done.stdout)
            self.assertEqual("ContextDied", done.error["name"])
            self.assertEqual("unexpected_end_of_execution", done.types[-1])
            self.assertIn("status 7" if "_exit" in code else "signal 9", done.error["value"])
            self.assertEqual("NameError", self.run_cell("x", context_id=context).error["name"])
        self.assertEqual("here", self.run_cell("kept", context_id=other).text)

    def test_a_segmentation_fault(self):
        done = self.run_cell("import ctypes; ctypes.string_at(0)", context_id=self.fresh())
        self.assertIn("signal 11", done.error["value"])

    def test_a_dead_context_with_a_forked_child(self):
        # The forked child keeps the control socket and the pipes open; the server detects the death anyway and kills the child.
        context = self.fresh()
        done = self.run_cell(
            "import os, sys, time\npid = os.fork()\nwhile not pid:\n    try: print('!', file=sys.stderr)\n"
            "    except OSError: pass\n    time.sleep(0.01)\n"
            "print(pid)\nos._exit(1)",
            context_id=context,
        )
        self.assertEqual("ContextDied", done.error["name"])
        eventually(lambda: is_over(int(done.stdout)), "the fork has ended")

    def test_a_context_that_dies_between_cells(self):
        context = self.fresh()
        self.run_cell("import os, threading\nthreading.Timer(0.05, os._exit, [1]).start()", context_id=context)
        eventually(lambda: self.run_cell("'threading' in globals()", context_id=context).text == "False", "it is anew")
        self.assertEqual("2", self.run_cell("1 + 1", context_id=context).text)

    def test_malformed_input_on_the_control_socket(self):
        context = self.fresh()
        done = self.run_cell(
            "import os, stat, time\n"
            "for fd in range(3, 50):\n"
            "    try:\n"
            "        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'rubbish\\n')\n"
            "    except OSError: pass\n"
            "time.sleep(100)",
            context_id=context,
        )
        self.assertEqual("ContextDied", done.error["name"])
        self.assertEqual("3", self.run_cell("1 + 2", context_id=context).text)


class LeavingTest(KernelTest):
    def leave(self, code, context):
        connection, response = self.kernel.begin(code, context_id=context)
        while json.loads(response.readline())["type"] != "stdout":
            pass
        # The response keeps the socket open as well.
        response.close()
        connection.close()

    def test_the_cell_is_interrupted(self):
        context = self.fresh()
        self.run_cell("kept = 1", context_id=context)
        self.leave(
            "import time\ntry:\n    print('up')\n    time.sleep(100)\nexcept KeyboardInterrupt:\n    kept = 2\n    raise",
            context,
        )
        self.assertEqual("2", self.run_cell("kept", context_id=context).text)

    def test_subprocesses_and_awaits_are_interrupted(self):
        for code in (
            "print('up')\n!sleep 100",
            "import asyncio\nprint('up')\nawait asyncio.sleep(100)",
            "print('up')\nwhile True: pass",
        ):
            with self.subTest(code):
                context = self.fresh()
                self.run_cell("kept = 1", context_id=context)
                self.leave(code, context)
                self.assertEqual("1", self.run_cell("kept", context_id=context).text)

    def test_an_early_disconnect_keeps_the_state(self):
        context = self.fresh()
        self.run_cell("kept = 1", context_id=context)
        for _ in range(5):
            connection, response = self.kernel.begin("import time\ntime.sleep(100)", context_id=context)
            response.close()
            connection.close()
        self.assertEqual("1", self.run_cell("kept", context_id=context).text)

    def test_a_cell_that_ignores_the_interrupt_is_killed(self):
        context = self.fresh()
        self.leave(
            "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('up')\ntime.sleep(100)", context
        )
        done = self.run_cell("'anew'", context_id=context)
        self.assertEqual(("anew", 1), (done.text, done.count))

    def test_a_queued_cell_of_a_disconnected_client_is_not_run(self):
        context = self.fresh()
        gate = os.path.join(self.kernel.home, "open")
        first, answer = self.kernel.begin(
            "import os, time\nran = []\nwhile not os.path.exists(%r): time.sleep(0.01)" % gate, context_id=context
        )
        second, response = self.kernel.begin("ran.append('second')", context_id=context)
        response.close()
        second.close()
        third, last = self.kernel.begin("ran", context_id=context)
        time.sleep(1.2)  # who waits looks for its client twice a second
        open(gate, "w").close()
        answer.read()
        first.close()
        self.assertEqual("[]", Execution(last.read().decode().splitlines()).text)
        third.close()


class LanguagesTest(KernelTest):
    def test_bash(self):
        done = self.run_cell("echo $FOO; cd /usr; x=1", language="bash", env_vars={"FOO": "it's"})
        self.assertEqual("it's\n", done.stdout)
        self.assertIsNone(done.error)
        done = self.run_cell("echo ${FOO:-default} $x $PWD; echo e >&2; false", language="sh")
        self.assertEqual(("default 1 /usr\n", "e\n"), (done.stdout, done.stderr))
        self.assertEqual(("ExitStatus", "1"), (done.error["name"], done.error["value"]))
        self.assertEqual(2, done.count)
        self.assertEqual("none\n", self.run_cell("read line || echo none", language="bash").stdout)
        self.assertEqual("ContextDied", self.run_cell("exit 3", language="bash").error["name"])
        self.assertEqual("up\n", self.run_cell("echo up", language="bash").stdout)

    def test_bash_keeps_its_socket_to_itself(self):
        done = self.run_cell("bash -c 'for f in /proc/$$/fd/*; do readlink $f; done | grep -c socket'", language="bash")
        self.assertEqual("0\n", done.stdout)

    @unittest.skipUnless(shutil.which("node"), "NOT RUN: there is no node")
    def test_javascript(self):
        self.assertEqual("Hello\n", self.run_cell("console.log('Hello')", language="js").stdout)
        self.run_cell("const z = 1; let word = 'bär'", language="javascript")
        self.assertEqual("2", self.run_cell("z + 1", language="js").text)
        self.assertEqual("bär", self.run_cell("word", language="js").text)
        self.assertEqual("late", self.run_cell("async function f() { return 'late' }\nawait f()", language="js").text)
        error = self.run_cell("throw new TypeError('no')", language="js").error
        self.assertEqual(("TypeError", "no"), (error["name"], error["value"]))
        self.assertEqual("SyntaxError", self.run_cell("let = = 1", language="js").error["name"])
        self.assertEqual("SyntaxError", self.run_cell("function (", language="js").error["name"])
        self.assertEqual("bar", self.run_cell("process.env.FOO", language="js", env_vars={"FOO": "bar"}).text)
        self.assertEqual([], self.run_cell("process.env.FOO", language="js").results)
        self.assertEqual(self.kernel.home, self.run_cell("process.cwd()", language="js").text)


class HttpTest(KernelTest):
    def test_health(self):
        self.assertEqual("OK", self.kernel.json("GET", "/health"))

    def test_one_connection_for_many_requests(self):
        connection = self.kernel.connection()
        for i in range(3):
            connection.request("POST", "/execute", json.dumps({"code": str(i)}))
            response = connection.getresponse()
            self.assertEqual("chunked", response.getheader("Transfer-Encoding"))
            self.assertEqual(str(i), Execution(response.read().decode().splitlines()).text)
            connection.request("GET", "/contexts/nobody")
            response = connection.getresponse()
            self.assertEqual((404, b"no such route"), (response.status, response.read()))
        connection.close()

    def test_a_body_in_chunks(self):
        connection = self.kernel.connection()
        pieces = iter([b'{"code": ', b'"20 + 3"}'])
        connection.request("POST", "/execute", pieces, encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        self.assertEqual("23", Execution(connection.getresponse().read().decode().splitlines()).text)
        connection.close()

    def test_bodies_have_a_limit(self):
        code = "'%s'[0]" % ("x" * (7 << 20))
        self.assertEqual("x", self.run_cell(code).text)
        connection = self.kernel.connection()
        connection.putrequest("POST", "/execute")
        connection.putheader("Content-Length", str(9 << 20))
        connection.endheaders()
        self.assertEqual(413, connection.getresponse().status)
        connection.close()

    def test_an_early_request_waits(self):
        raw = socket.create_connection(("127.0.0.1", self.kernel.port), DEADLINE)
        body = json.dumps({"code": "import time; time.sleep(0.3); 'slow'"}).encode()
        raw.sendall(b"POST /execute HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        time.sleep(0.1)
        raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        text = b""
        while True:
            piece = raw.recv(65536)
            if not piece:
                break
            text += piece
        raw.close()
        self.assertIn(b"slow", text)
        self.assertTrue(text.endswith(b'"OK"'))


class LeftoversTest(KernelTest):
    def open_files(self):
        return len(os.listdir("/proc/%d/fd" % self.kernel.process.pid))

    def test_contexts_and_clients_leave_no_resources(self):
        self.run_cell("1")
        files = 7  # the usual three, where it listens, and of the default context a socket and two pipes
        eventually(lambda: self.open_files() == files, "the client's connection is closed")
        for ending in ("1", "import os; os._exit(1)", "import time; time.sleep(100)", "!sleep 100 &"):
            for language in ("python", "bash"):
                context = self.kernel.context(language=language)
                self.assertGreaterEqual(self.open_files(), files + 3)
                connection, response = self.kernel.begin(ending, context_id=context)
                if "sleep(" not in ending:
                    response.read()
                response.close()
                connection.close()
                self.kernel.ask("DELETE", "/contexts/" + context)
        eventually(lambda: self.open_files() == files, "the files of contexts and clients are closed")
        eventually(lambda: self.server_processes() == 1, "only the default context is left")
        self.assertEqual("7", self.run_cell("7").text)

    def test_output_is_not_buffered_in_memory(self):
        self.run_cell("1")
        before = self.memory()
        connection, response = self.kernel.begin("import os; os.system('head -c 60000000 /dev/zero | tr \"\\\\0\" x')")
        size = 0
        for piece in iter(lambda: response.read(1 << 20), b""):
            size += len(piece)
        connection.close()
        self.assertGreater(size, 60000000)
        self.assertLess(self.memory() - before, 20000)

    def server_processes(self):
        """Child processes of the server, regardless of the thread that started them."""
        found = 0
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%d/stat" % int(name)) as file:
                    found += int(file.read().rsplit(")", 1)[1].split()[1]) == self.kernel.process.pid
            except (ValueError, OSError):
                pass
        return found

    def memory(self):
        """Resident memory of the server in KiB."""
        with open("/proc/%d/status" % self.kernel.process.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


class ProgramTest(unittest.TestCase):
    def test_its_size(self):
        self.assertLess(os.path.getsize(KERNEL), 100_000)

    def test_shutdown_ends_all_processes(self):
        kernel = Kernel()
        pid = int(kernel.run("import os; os.getpid()").text)
        self.assertFalse(is_over(pid))
        kernel.close()
        eventually(lambda: is_over(pid), "the context has ended")

    def test_a_given_port_and_only_the_loopback(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(KERNEL, encoding="utf-8") as file:
            process = subprocess.Popen([PYTHON, "-c", file.read(), str(port)], stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual("ready\n", process.stdout.readline())
            with open("/proc/%d/net/tcp" % process.pid) as file:
                listening = [line.split()[1] for line in file if " 0A " in line]
            self.assertIn("0100007F:%04X" % port, listening)
            self.assertNotIn("00000000:%04X" % port, listening)
        finally:
            process.terminate()
            process.wait(DEADLINE)
            process.stdout.close()


def is_over(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def main():
    """Prints the summary line for ./check."""
    result = unittest.main(exit=False).result
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - bad - skipped, bad, skipped))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
