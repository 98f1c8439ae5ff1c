package dev.isola.conformance.check;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.escape.EscapeProbe;
import dev.isola.conformance.escape.EscapeProbes;
import java.util.List;

/**
 * Checks that a sandbox is as isolated as its provider declares, with one check for each escape
 * probe. A probe that fails on the bare host as well proves nothing and is not run.
 */
public final class EscapeChecks {
  /** The requirement that declarations are true; isolation is a declaration. */
  private static final String DECLARED = "P8";

  private static final String NETWORK = "S3";

  /**
   * Returns a check for each probe, with its name.
   *
   * @param group the group of the checks
   */
  public List<CheckCase> checks(String group) {
    return EscapeProbes.all().stream()
        .map(
            probe ->
                new CheckCase(
                    group,
                    probe.name(),
                    probe.topic() == EscapeProbe.Topic.NETWORK ? NETWORK : DECLARED,
                    List.of(),
                    List.of(),
                    List.of(),
                    subject -> new EscapeAttempt(probe, subject).run()))
        .toList();
  }
}
