package dev.isola.conformance;

import dev.isola.conformance.CheckResult.Outcome;
import java.util.List;

/** The results of all checks for one provider. */
public record ProviderResult(String name, List<CheckResult> checks) {
  public ProviderResult {
    checks = List.copyOf(checks);
  }

  public long count(Outcome outcome) {
    return checks.stream().filter(check -> check.outcome() == outcome).count();
  }
}
