package dev.isola.spi.spec;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The versions of the spec's document form. Providers only ever see the current one. */
public enum ApiVersion {
  /**
   * Flat: {@code networkMode}, {@code resourceLimits} with {@code cpuCount} and {@code memoryMB}.
   */
  V1,
  /** {@code resources} and {@code network} as objects of their own. */
  V2;

  public static final ApiVersion CURRENT = V2;

  public static Optional<ApiVersion> parse(String text) {
    return Arrays.stream(values()).filter(v -> v.wireName().equals(text)).findFirst();
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
