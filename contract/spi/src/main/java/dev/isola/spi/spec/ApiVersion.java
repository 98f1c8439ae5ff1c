package dev.isola.spi.spec;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Versions of the spec document. Providers only see the current one. */
public enum ApiVersion {
  /**
   * Flat fields: {@code networkMode}, and {@code resourceLimits} with {@code cpuCount} and {@code
   * memoryMB}.
   */
  V1,
  /** Nested objects: {@code resources} and {@code network}. */
  V2;

  public static final ApiVersion CURRENT = V2;

  public static Optional<ApiVersion> parse(String text) {
    return Arrays.stream(values()).filter(v -> v.wireName().equals(text)).findFirst();
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
