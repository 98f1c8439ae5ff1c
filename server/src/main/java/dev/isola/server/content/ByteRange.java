package dev.isola.server.content;

import dev.isola.server.route.Query;
import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A requested byte range.
 *
 * @param first the first byte; empty for a suffix range of {@code last} bytes
 * @param last the last byte; empty for the end of the file
 */
public record ByteRange(Optional<Long> first, Optional<Long> last) {
  private static final Pattern FORM = Pattern.compile("bytes=([0-9]{0,18})-([0-9]{0,18})");

  /** A byte range of a file of known size. */
  public record Part(long first, long length, long size) {
    /** Returns the Content-Range header. */
    public String header() {
      return "bytes " + first + "-" + (first + length - 1) + "/" + size;
    }
  }

  /** Parses the Range header. */
  public static Optional<ByteRange> of(Optional<String> header) {
    if (header.isEmpty()) {
      return Optional.empty();
    }
    Matcher form = FORM.matcher(header.get().strip());
    if (!form.matches() || (form.group(1).isEmpty() && form.group(2).isEmpty())) {
      throw refused("must be a single range, bytes=FIRST-LAST");
    }
    return Optional.of(new ByteRange(number(form.group(1)), number(form.group(2))));
  }

  private static Optional<Long> number(String digits) {
    return digits.isEmpty() ? Optional.empty() : Optional.of(Long.parseLong(digits));
  }

  /** Resolves the range for a file of this size. */
  public Part within(long size) {
    long from = first.orElseGet(() -> Math.max(0, size - last.orElse(0L)));
    long to = first.isEmpty() ? size - 1 : Math.min(last.orElse(Long.MAX_VALUE), size - 1);
    if (from > to) {
      throw refused("is outside the file, which has " + size + " bytes");
    }
    return new Part(from, to - from + 1, size);
  }

  private static RuntimeException refused(String problem) {
    return Query.invalid(List.of(new Violation("Range", problem)));
  }
}
