package dev.isola.engine.trace;

import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where in a trace something happens, as W3C's {@code traceparent} says it.
 *
 * @param parentId the span around this one; empty for the first
 * @param sampled whether the caller wants it kept
 */
public record TraceContext(String traceId, String spanId, String parentId, boolean sampled) {
  private static final Pattern FORM =
      Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");

  /** Goes on with the caller's trace, or begins one. What cannot be read counts as absent. */
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

  /** Ids are told apart, not kept secret. */
  private static String id() {
    long bits = ThreadLocalRandom.current().nextLong();
    return HexFormat.of().toHexDigits(bits == 0 ? 1 : bits);
  }
}
