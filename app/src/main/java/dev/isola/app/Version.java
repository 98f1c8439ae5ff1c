package dev.isola.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The numbers of a version, such as 1.2.8; what a distribution adds to it does not count.
 *
 * @param text as it was said, with what was added
 */
record Version(List<Integer> numbers, String text) implements Comparable<Version> {
  /** Programs name their licence's too, whose address has a number in it. */
  private static final Pattern ADDRESS = Pattern.compile("https?://\\S*");

  private static final Pattern NUMBERS = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})+)[^\\s,)]*");

  Version {
    numbers = List.copyOf(numbers);
  }

  static Version of(String text) {
    return find(text).orElseThrow(() -> new IllegalArgumentException("no version: " + text));
  }

  /** Returns the first version in what a program says of itself. */
  static Optional<Version> find(String said) {
    Matcher matcher = NUMBERS.matcher(ADDRESS.matcher(said).replaceAll(""));
    if (!matcher.find()) {
      return Optional.empty();
    }
    List<Integer> numbers = new ArrayList<>();
    for (String number : matcher.group(1).split("\\.", -1)) {
      numbers.add(Integer.parseInt(number));
    }
    return Optional.of(new Version(numbers, matcher.group()));
  }

  private int at(int index) {
    return index < numbers.size() ? numbers.get(index) : 0;
  }

  /** Tells whether both are of one series, as 1.2.3 and 1.2.8 are. */
  boolean besides(Version other) {
    return at(0) == other.at(0) && at(1) == other.at(1);
  }

  boolean atLeast(Version other) {
    return compareTo(other) >= 0;
  }

  @Override
  public int compareTo(Version other) {
    for (int i = 0; i < Math.max(numbers.size(), other.numbers.size()); i++) {
      if (at(i) != other.at(i)) {
        return Integer.compare(at(i), other.at(i));
      }
    }
    return 0;
  }

  @Override
  public String toString() {
    return text;
  }
}
