package dev.isola.client;

import java.util.Map;

/**
 * How to fork a sandbox.
 *
 * <pre>{@code
 * ForkOptions.memory().count(10)
 * }</pre>
 *
 * @param kind {@code filesystem} copies files, and processes start again; with {@code memory} they
 *     continue in every fork, where the provider of the sandbox supports it
 * @param allowSecrets whether to fork the memory of a sandbox that has secret variables
 */
public record ForkOptions(int count, String kind, boolean allowSecrets) {
  /** Returns options for one fork of the files. */
  public static ForkOptions filesystem() {
    return new ForkOptions(1, "filesystem", false);
  }

  /** Returns options for one fork of the files and the running processes. */
  public static ForkOptions memory() {
    return new ForkOptions(1, "memory", false);
  }

  /** Returns options for another number of forks. */
  public ForkOptions count(int number) {
    return new ForkOptions(number, kind, allowSecrets);
  }

  /** Returns options that fork the memory of a sandbox although it has secret variables. */
  public ForkOptions allowingSecrets() {
    return new ForkOptions(count, kind, true);
  }

  Map<String, Object> document() {
    return allowSecrets
        ? Map.of("count", count, "kind", kind, "allowSecrets", true)
        : Map.of("count", count, "kind", kind);
  }
}
