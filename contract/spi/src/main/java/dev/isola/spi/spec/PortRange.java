package dev.isola.spi.spec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A range of ports, both ends included. */
public record PortRange(int first, int last) {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");
  private static final int MAX = 65_535;

  public PortRange {
    if (first < 1 || last > MAX || first > last) {
      throw new IllegalArgumentException("not a range of ports: " + first + "-" + last);
    }
  }

  public static PortRange of(int port) {
    return new PortRange(port, port);
  }

  /** Parses {@code 443} or {@code 8000-8100}; empty if the text is neither. */
  public static Optional<PortRange> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    int first = Integer.parseInt(form.group(1));
    int last = form.group(2) == null ? first : Integer.parseInt(form.group(2));
    return first >= 1 && last <= MAX && first <= last
        ? Optional.of(new PortRange(first, last))
        : Optional.empty();
  }

  public boolean contains(int port) {
    return first <= port && port <= last;
  }

  @Override
  public String toString() {
    return first == last ? Integer.toString(first) : first + "-" + last;
  }
}
