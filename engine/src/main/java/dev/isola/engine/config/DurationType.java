package dev.isola.engine.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A duration: {@code 500ms}, {@code 30s}, {@code 1h30m}, or a plain number of seconds. */
record DurationType(Duration min, Duration max) implements ValueType<Duration> {
  private static final Pattern PART = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ms|s|m|h|d)");
  private static final Pattern WHOLE = Pattern.compile("(?:" + PART + ")+");
  private static final Pattern PLAIN = Pattern.compile("\\d{1,9}(?:\\.\\d{1,9})?");

  @Override
  public Duration read(Object raw) throws InvalidValueException {
    if (!(raw instanceof String) && !(raw instanceof Number)) {
      throw new InvalidValueException("must be a time such as 30s, not " + ValueType.typeName(raw));
    }
    String text = raw.toString().strip();
    Duration time = Duration.ZERO;
    if (PLAIN.matcher(text).matches()) {
      time = of(text, "s");
    } else if (WHOLE.matcher(text).matches()) {
      Matcher part = PART.matcher(text);
      while (part.find()) {
        time = time.plus(of(part.group(1), part.group(2)));
      }
    } else {
      throw new InvalidValueException(
          "must be a time such as 500ms, 30s or 1h30m: " + ValueType.truncated(text));
    }
    if (time.compareTo(min) < 0 || time.compareTo(max) > 0) {
      throw new InvalidValueException(
          "must be from " + show(min) + " to " + show(max) + ": " + ValueType.truncated(text));
    }
    return time;
  }

  private static Duration of(String number, String unit) {
    long nanos =
        switch (unit) {
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 86_400_000_000_000L;
        };
    BigDecimal whole = new BigDecimal(number).multiply(BigDecimal.valueOf(nanos));
    BigDecimal[] parts = whole.divideAndRemainder(BigDecimal.valueOf(1_000_000_000L));
    return Duration.ofSeconds(parts[0].longValue(), parts[1].longValue());
  }

  @Override
  public String show(Duration value) {
    if (value.isZero()) {
      return "0s";
    }
    StringBuilder text = new StringBuilder();
    add(text, value.toDays(), "d");
    add(text, value.toHoursPart(), "h");
    add(text, value.toMinutesPart(), "m");
    add(text, value.toSecondsPart(), "s");
    add(text, value.toMillisPart(), "ms");
    return text.toString();
  }

  private static void add(StringBuilder text, long count, String unit) {
    if (count > 0) {
      text.append(count).append(unit);
    }
  }

  @Override
  public String description() {
    return "time, " + show(min) + " to " + show(max);
  }
}
