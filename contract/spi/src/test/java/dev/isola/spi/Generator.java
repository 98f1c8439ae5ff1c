package dev.isola.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Generates arbitrary values from a seed. A failing test names its seed, which generates the same
 * values again.
 */
public final class Generator {
  private final SplittableRandom random;

  public Generator(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Returns the seeds {@code 1} to {@code count} for a parameterized test. */
  public static LongStream seeds(int count) {
    return LongStream.rangeClosed(1, count);
  }

  public boolean flag() {
    return random.nextBoolean();
  }

  /**
   * Returns a number from {@code min} to {@code max}; both ends are more likely than other values.
   */
  public long between(long least, long most) {
    return switch (random.nextInt(8)) {
      case 0 -> least;
      case 1 -> most;
      default -> least + random.nextLong(most - least + 1);
    };
  }

  public int between(int least, int most) {
    return (int) between((long) least, (long) most);
  }

  public double fraction(double least, double most) {
    return least + (most - least) * random.nextDouble();
  }

  @SafeVarargs
  public final <T> T oneOf(T... values) {
    return values[random.nextInt(values.length)];
  }

  public byte[] bytes(int most) {
    byte[] bytes = new byte[random.nextInt(most + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Returns {@code min} to {@code max} characters of {@code alphabet}. */
  public String text(String alphabet, int least, int most) {
    int[] characters = alphabet.codePoints().toArray();
    StringBuilder text = new StringBuilder();
    for (int i = between(least, most); i > 0; i--) {
      text.appendCodePoint(characters[random.nextInt(characters.length)]);
    }
    return text.toString();
  }

  public <T> Optional<T> optional(Supplier<T> value) {
    return flag() ? Optional.of(value.get()) : Optional.empty();
  }

  public <T> List<T> list(int least, int most, Supplier<T> value) {
    List<T> list = new ArrayList<>();
    for (int i = between(least, most); i > 0; i--) {
      list.add(value.get());
    }
    return list;
  }

  public <V> Map<String, V> map(int most, Supplier<String> key, Supplier<V> value) {
    Map<String, V> map = new TreeMap<>();
    for (int i = between(0, most); i > 0; i--) {
      map.put(key.get(), value.get());
    }
    return map;
  }
}
