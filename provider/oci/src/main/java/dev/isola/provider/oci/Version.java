package dev.isola.provider.oci;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A version: numbers between dots, and whatever follows them.
 *
 * @param text as the program says it
 */
record Version(String text, List<Integer> numbers) implements Comparable<Version> {
  /** How Debian, Ubuntu, Fedora, Red Hat, SUSE and Alpine mark what they have built. */
  private static final Pattern DISTRIBUTION =
      Pattern.compile("\\+ds|[+~-]deb|ubuntu|\\.fc\\d|\\.el\\d|\\.suse|-r\\d");

  Version {
    numbers = List.copyOf(numbers);
  }

  /**
   * Reads the numbers at the beginning of {@code text}.
   *
   * @throws NumberFormatException when there are none, or one is too long
   */
  static Version of(String text) {
    String leading = text.replaceFirst("[^0-9.].*", "");
    return new Version(
        text,
        Arrays.stream(leading.split("\\."))
            .filter(n -> !n.isEmpty())
            .map(Integer::parseInt)
            .toList());
  }

  /** Tells whether a distribution built it, which may have mended it without a new number. */
  static boolean distributed(String said) {
    return DISTRIBUTION.matcher(said).find();
  }

  @Override
  public int compareTo(Version other) {
    for (int i = 0; i < Math.max(numbers.size(), other.numbers.size()); i++) {
      int order = Integer.compare(number(i), other.number(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private int number(int index) {
    return index < numbers.size() ? numbers.get(index) : 0;
  }

  @Override
  public String toString() {
    return text;
  }
}
