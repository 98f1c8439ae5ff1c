"""Runs all tests and writes one JSON object for each to a file.

    python run_tests.py RESULTS [NAME...]

Needs a server (ISOLA_URL, ISOLA_API_KEY) and, for tests that stop a server, the command isola
(ISOLA_TEST_COMMAND). Must run with the installed package, not with its sources.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
import unittest
from pathlib import Path
from types import TracebackType
from typing import IO, Optional, Tuple, Type, Union

ExcInfo = Union[Tuple[Type[BaseException], BaseException, TracebackType], Tuple[None, None, None]]


class Recorder(unittest.TestResult):
    def __init__(self, file: IO[str]) -> None:
        super().__init__()
        self._file = file
        self._started = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()

    def _write(self, test: unittest.TestCase, outcome: str, detail: str = "") -> None:
        seconds = round(time.monotonic() - self._started, 3)
        record = {"name": test.id(), "outcome": outcome, "detail": detail, "seconds": seconds}
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._write(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: ExcInfo) -> None:
        self._write(test, "failed", _text(err))

    def addError(self, test: unittest.TestCase, err: ExcInfo) -> None:
        self._write(test, "failed", _text(err))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._write(test, "skipped", reason)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Optional[ExcInfo]) -> None:
        if err is not None:
            self._write(subtest, "failed", _text(err))


def _text(err: ExcInfo) -> str:
    return "".join(traceback.format_exception(*err))


def main() -> None:
    import isola

    sources = Path(__file__).resolve().parent.parent
    assert sources not in Path(str(isola.__file__)).resolve().parents, "run with the installed package"
    names = sys.argv[2:]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(Path(__file__).parent))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        suite.run(Recorder(file))
    print("\nended")


if __name__ == "__main__":
    main()
