package dev.isola.spi;

import java.util.random.RandomGenerator;

/**
 * Identifies a sandbox: 1 to 32 lower-case letters and digits, so that the id can be part of a host
 * name.
 */
public record SandboxId(String value) implements Comparable<SandboxId> {
  private static final String ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

  public SandboxId {
    if (!isValid(value)) {
      throw new IllegalArgumentException(
          "'" + value + "' is not a sandbox id; use 1 to 32 lower-case letters and digits");
    }
  }

  public static boolean isValid(String value) {
    if (value.isEmpty() || value.length() > 32) {
      return false;
    }
    return value.chars().allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
  }

  /** Returns a random id of 20 characters, more than 100 bits taken from {@code random}. */
  public static SandboxId random(RandomGenerator random) {
    StringBuilder text = new StringBuilder(20);
    for (int i = 0; i < 20; i++) {
      text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return new SandboxId(text.toString());
  }

  @Override
  public int compareTo(SandboxId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
