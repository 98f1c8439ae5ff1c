package dev.isola.engine.api;

import java.util.List;
import java.util.Map;

/** The number of requests that got a warm sandbox, and of those that did not, by reason. */
public record PoolStats(long hits, Map<String, Long> misses) {
  public static final String NO_POOL = "no pool for this spec";
  public static final String OTHER_PROVIDER = "provider mismatch";
  public static final String EMPTY = "pool empty";

  /** The reasons for a miss. */
  public static final List<String> REASONS = List.of(NO_POOL, OTHER_PROVIDER, EMPTY);
}
