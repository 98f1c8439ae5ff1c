package dev.isola.engine.api.trace;

import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A position in a trace, as in the W3C {@code traceparent} header.
 *
 * @param parentId the enclosing span; empty for the root span
 * @param sampled whether the caller wants the trace recorded
 */
public record TraceContext(String traceId, String spanId, String parentId, boolean sampled) {
  private static final Pattern FORM =
      Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");

  /**
   * Continues the trace of the caller, or starts a new one if the header is absent or malformed.
   */
  static TraceContext of(Optional<String> traceparent) {
    Matcher found = FORM.matcher(traceparent.orElse(""));
    boolean known =
        found.matches()
            && !found.group(1).equals("0".repeat(32))
            && !found.group(2).equals("0".repeat(16));
    return known
        ? new TraceContext(
            found.group(1), id(), found.group(2), (Integer.parseInt(found.group(3), 16) & 1) == 1)
        : new TraceContext(id() + id(), id(), "", true);
  }

  TraceContext child() {
    return new TraceContext(traceId, id(), spanId, sampled);
  }

  /** Returns a random id. It must be unique, not unpredictable. */
  private static String id() {
    long bits = ThreadLocalRandom.current().nextLong();
    return HexFormat.of().toHexDigits(bits == 0 ? 1 : bits);
  }
}
