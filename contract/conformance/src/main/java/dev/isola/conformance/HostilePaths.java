package dev.isola.conformance;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Generates paths that try to reach a host file outside the workspace: with {@code ..}, absolute,
 * through links, and with components that careless path checks mishandle. The same seed generates
 * the same paths. Every path ends in a harmless name, so that a workspace that leaks does not
 * damage the machine.
 */
public final class HostilePaths implements Supplier<String> {
  private static final List<String> NOISE =
      List.of(
          ".",
          "",
          "..",
          "...",
          ". ",
          " ..",
          "..;",
          "%2e%2e",
          "..%2f",
          "\u2025",
          "\uff0e\uff0e",
          "..\\",
          "\\..",
          "~",
          "-",
          "proc",
          "self",
          "root",
          "cwd",
          "fd",
          "workspace",
          "inside",
          "x".repeat(255),
          "x".repeat(300));

  private final SplittableRandom random;
  private final String outside;
  private final List<String> ends;
  private final List<String> links;

  /**
   * Creates a generator.
   *
   * @param outside the absolute path of the folder that must not be reached
   * @param file the name of a file in that folder
   * @param links paths in the workspace that are links to the outside, or to each other
   */
  public HostilePaths(long seed, String outside, String file, List<String> links) {
    this.random = new SplittableRandom(seed);
    this.outside = outside;
    this.ends = List.of(file, "isola-escape", "");
    this.links = List.copyOf(links);
  }

  @Override
  public String get() {
    String path =
        switch (random.nextInt(8)) {
          case 0 -> outside;
          case 1 -> slashes() + outside.substring(1);
          case 2 -> "../".repeat(1 + random.nextInt(24)) + outside.substring(1);
          case 3 -> "/workspace/" + climb() + outside.substring(1);
          case 4 -> pick(links);
          case 5 -> pick(links) + "/" + climb() + outside.substring(1);
          case 6 ->
              pick(List.of("/proc/self/root", "/proc/1/root", "/dev/fd/3", "/proc/self/cwd"))
                  + outside;
          default -> noise() + "/" + climb() + outside.substring(1);
        };
    path = random.nextInt(3) == 0 ? spoiled(path) : path;
    String end = pick(ends);
    return end.isEmpty() ? path : path + slashes() + end;
  }

  private String climb() {
    StringBuilder path = new StringBuilder();
    int steps = 1 + random.nextInt(20);
    for (int i = 0; i < steps; i++) {
      path.append(random.nextInt(8) == 0 ? pick(NOISE) : "..").append(slashes());
    }
    return path.toString();
  }

  private String noise() {
    StringBuilder path = new StringBuilder(pick(NOISE));
    int steps = random.nextInt(4);
    for (int i = 0; i < steps; i++) {
      path.append(slashes()).append(pick(NOISE));
    }
    return path.toString();
  }

  /** Inserts a random component into the path. */
  private String spoiled(String path) {
    int slash = path.indexOf('/', random.nextInt(path.length()));
    if (slash < 0) {
      return path + "/.";
    }
    String what = random.nextInt(16) == 0 ? "\0" : "/" + pick(NOISE);
    return path.substring(0, slash) + what + path.substring(slash);
  }

  private String slashes() {
    return "/".repeat(random.nextInt(5) == 0 ? 1 + random.nextInt(4) : 1);
  }

  private String pick(List<String> from) {
    return from.get(random.nextInt(from.size()));
  }
}
