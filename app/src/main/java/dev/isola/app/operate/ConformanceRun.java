package dev.isola.app.operate;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.HostLeakCheck;
import dev.isola.conformance.ProviderResult;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryInstallation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs checks against providers, class by class. */
final class ConformanceRun {
  private final List<CheckCase> checks;
  private final ConformanceProgress progress;
  private volatile boolean stopped;

  ConformanceRun(List<CheckCase> checks, ConformanceProgress progress) {
    this.checks = checks;
    this.progress = progress;
  }

  ProviderResult run(TemporaryInstallation trial) {
    ProviderUnderTest underTest =
        new ProviderUnderTest(trial.factory(), trial.config(), trial.instance(), trial.data());
    progress.provider(underTest.name());
    try (CheckRunner runner = new CheckRunner(underTest, HostLeakCheck.of(underTest))) {
      List<CheckResult> results = trial.run(() -> stop(runner), () -> results(runner));
      ProviderResult result = new ProviderResult(underTest.name(), results);
      progress.providerDone(result);
      return result;
    }
  }

  private void stop(CheckRunner runner) {
    stopped = true;
    runner.stop();
  }

  /** Returns whether the process was terminated while checks ran. */
  boolean stopped() {
    return stopped;
  }

  private List<CheckResult> results(CheckRunner runner) {
    List<CheckResult> results = new ArrayList<>();
    groups()
        .forEach(
            (group, cases) -> {
              progress.group(group, cases.size());
              results.addAll(runner.run(cases, progress::result).checks());
              progress.groupDone();
            });
    return results;
  }

  private Map<String, List<CheckCase>> groups() {
    Map<String, List<CheckCase>> groups = new LinkedHashMap<>();
    checks.forEach(
        check -> groups.computeIfAbsent(check.group(), name -> new ArrayList<>()).add(check));
    return groups;
  }

  /** Returns whether no check failed and at least one passed. */
  static boolean passed(List<ProviderResult> results) {
    return results.stream().allMatch(result -> result.count(Outcome.FAILED) == 0)
        && results.stream().anyMatch(result -> result.count(Outcome.PASSED) > 0);
  }

  static Map<String, ?> json(List<ProviderResult> results) {
    return Map.of("providers", results.stream().map(ConformanceRun::json).toList());
  }

  private static Map<String, ?> json(ProviderResult result) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", result.name());
    json.put("passed", result.count(Outcome.PASSED));
    json.put("failed", result.count(Outcome.FAILED));
    json.put("notRun", result.count(Outcome.NOT_RUN));
    json.put("checks", result.checks().stream().map(ConformanceRun::json).toList());
    return json;
  }

  private static Map<String, ?> json(CheckResult check) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", check.id());
    json.put("requirement", check.requirement());
    json.put("result", check.outcome().wireName());
    json.put("reason", check.reason());
    return json;
  }
}
