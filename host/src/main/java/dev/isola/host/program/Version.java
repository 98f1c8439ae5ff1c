package dev.isola.host.program;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version number such as 1.2.8; suffixes of distributions do not count.
 *
 * @param text the original text, including suffixes
 */
public record Version(List<Integer> numbers, String text) implements Comparable<Version> {
  /** Some programs also print the URL of their license, which contains a number. */
  private static final Pattern ADDRESS = Pattern.compile("https?://\\S*");

  private static final Pattern NUMBERS = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})+)[^\\s,)]*");

  private static final Pattern LEADING = Pattern.compile("[0-9]{1,9}(?:\\.[0-9]{1,9})*");

  public Version {
    numbers = List.copyOf(numbers);
  }

  /**
   * Parses the numbers at the start of {@code text}.
   *
   * @throws IllegalArgumentException if there are none
   */
  public static Version of(String text) {
    Matcher matcher = LEADING.matcher(text);
    if (!matcher.lookingAt()) {
      throw new IllegalArgumentException("no version: " + text);
    }
    return parsed(matcher.group(), text);
  }

  /** Returns the first version with at least two numbers in the output of a program. */
  public static Optional<Version> find(String output) {
    Matcher matcher = NUMBERS.matcher(ADDRESS.matcher(output).replaceAll(""));
    return matcher.find()
        ? Optional.of(parsed(matcher.group(1), matcher.group()))
        : Optional.empty();
  }

  private static Version parsed(String numbers, String text) {
    return new Version(Arrays.stream(numbers.split("\\.")).map(Integer::valueOf).toList(), text);
  }

  private int at(int index) {
    return index < numbers.size() ? numbers.get(index) : 0;
  }

  /** Reports whether both belong to the same series, as 1.2.3 and 1.2.8 do. */
  boolean isSameSeries(Version other) {
    return at(0) == other.at(0) && at(1) == other.at(1);
  }

  public boolean atLeast(Version other) {
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
