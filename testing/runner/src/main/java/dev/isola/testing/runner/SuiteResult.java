package dev.isola.testing.runner;

import java.util.List;

/** What a suite took and what its tests ended with. */
record SuiteResult(String suite, double seconds, List<TestResult> results) {}
