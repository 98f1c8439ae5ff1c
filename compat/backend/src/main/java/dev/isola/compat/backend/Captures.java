package dev.isola.compat.backend;

import dev.isola.spi.capability.Snapshotting.CaptureResult;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The results of captures, which are known after their archives were sent. The oldest is forgotten
 * when there are too many.
 */
final class Captures {
  private static final int MAX = 1_000;

  private final SequencedMap<String, CaptureResult> results = new LinkedHashMap<>();

  synchronized void add(String id, CaptureResult result) {
    if (results.size() >= MAX) {
      Map.Entry<String, CaptureResult> _ = results.pollFirstEntry();
    }
    results.put(id, result);
  }

  /** Returns a result once. */
  synchronized CaptureResult take(String id) {
    return Optional.ofNullable(results.remove(id))
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.SNAPSHOT_NOT_FOUND,
                        "no capture with this id was completed",
                        "capture again")
                    .exception());
  }
}
