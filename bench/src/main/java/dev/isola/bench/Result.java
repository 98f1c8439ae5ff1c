package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The result of one subject.
 *
 * @param perSecond iterations per second; bytes for a file or output, files for a tree
 * @param ratio the median divided by the reference's median in the same run; empty without a
 *     reference
 * @param bytesMoved the bytes that the last iteration read and stored, if known
 */
public record Result(
    String benchmark,
    String subject,
    int concurrency,
    int n,
    double medianMs,
    double p90Ms,
    double p99Ms,
    double perSecond,
    OptionalDouble ratio,
    Optional<BytesMoved> bytesMoved) {

  /** Creates a result without a number of bytes. */
  public Result(
      String benchmark,
      String subject,
      int concurrency,
      int n,
      double medianMs,
      double p90Ms,
      double p99Ms,
      double perSecond,
      OptionalDouble ratio) {
    this(
        benchmark,
        subject,
        concurrency,
        n,
        medianMs,
        p90Ms,
        p99Ms,
        perSecond,
        ratio,
        Optional.empty());
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("benchmark", benchmark);
    json.put("subject", subject);
    json.put("concurrency", concurrency);
    json.put("n", n);
    json.put("medianMs", Rounding.of(medianMs, 4));
    json.put("p90Ms", Rounding.of(p90Ms, 4));
    json.put("p99Ms", Rounding.of(p99Ms, 4));
    json.put("perSecond", Rounding.of(perSecond, 1));
    json.put(
        "ratio",
        ratio.isPresent() ? Optional.of(Rounding.of(ratio.getAsDouble(), 3)) : Optional.empty());
    bytesMoved.ifPresent(
        moved -> {
          json.put("storedBytes", moved.storedBytes());
          moved.readBytes().ifPresent(bytes -> json.put("readBytes", bytes));
        });
    return json;
  }
}
