package dev.isola.engine.reconcile;

import dev.isola.store.LedgerParts;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The periods that a ledger restored from a backup knows nothing about: from the backup to the
 * restore. Sandboxes that were created in such a period are not recorded, but they belong to
 * clients, so the reconciliation leaves them alone.
 */
public record RestoreGaps(List<Gap> gaps) {
  public static final RestoreGaps NONE = new RestoreGaps(List.of());

  private static final String SCOPE = "engine";
  private static final String NAME = "restore-gaps";
  private static final int MAX_GAPS = 100;

  /** Clocks of remote providers may differ, and some report whole seconds. */
  private static final Duration TOLERANCE = Duration.ofMinutes(1);

  /** A period without records. */
  public record Gap(Instant backup, Instant restore) {
    boolean contains(Instant time) {
      return !time.isBefore(backup.minus(TOLERANCE)) && !time.isAfter(restore);
    }
  }

  public RestoreGaps {
    gaps = List.copyOf(gaps);
  }

  /** Reads the gaps of a ledger. */
  public static RestoreGaps read(LedgerParts ledger) {
    return ledger.settings().get(SCOPE, NAME).map(RestoreGaps::parse).orElse(NONE);
  }

  /** Stores the gaps; the oldest are dropped beyond the maximum. */
  void write(LedgerParts ledger) {
    ledger
        .settings()
        .put(
            SCOPE,
            NAME,
            gaps.stream()
                .skip(Math.max(0, gaps.size() - MAX_GAPS))
                .map(gap -> gap.backup() + " " + gap.restore())
                .collect(Collectors.joining("\n")));
  }

  /** Forgets all gaps, so that the next reconciliation destroys what is not recorded. */
  public static void forget(LedgerParts ledger) {
    ledger.settings().remove(SCOPE, NAME);
  }

  RestoreGaps with(Gap gap) {
    List<Gap> all = new ArrayList<>(gaps);
    all.add(gap);
    return new RestoreGaps(all);
  }

  /** Returns whether a sandbox created at this time may be missing from the ledger. */
  boolean contain(Instant createdAt) {
    return gaps.stream().anyMatch(gap -> gap.contains(createdAt));
  }

  /** Returns whether a record that was written at this time may be outdated. */
  boolean follow(Instant updatedAt) {
    return gaps.stream().anyMatch(gap -> !updatedAt.isAfter(gap.backup()));
  }

  private static RestoreGaps parse(String text) {
    List<Gap> gaps = new ArrayList<>();
    for (String line : text.lines().toList()) {
      String[] times = line.split(" ", 2);
      try {
        gaps.add(new Gap(Instant.parse(times[0]), Instant.parse(times[1])));
      } catch (DateTimeException | ArrayIndexOutOfBoundsException e) {
        throw new IllegalStateException("the setting " + NAME + " has an invalid line: " + line, e);
      }
    }
    return new RestoreGaps(gaps);
  }
}
