package dev.isola.testing.runner;

import java.util.List;

/**
 * What a suite took and what its tests ended with.
 *
 * @param processorSeconds of its process and of those that the process started and waited for
 */
record SuiteResult(
    String suite, double seconds, double processorSeconds, List<TestResult> results) {}
