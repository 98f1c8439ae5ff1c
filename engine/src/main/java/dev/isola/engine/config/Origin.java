package dev.isola.engine.config;

import java.nio.file.Path;

/** Where a value came from. */
public sealed interface Origin {
  record Default() implements Origin {}

  record File(Path path, int line) implements Origin {}

  record Environment(String variable) implements Origin {}

  record Flag(String flag) implements Origin {}

  /** Returns it for a person: {@code isola.yaml:3}, {@code environment ISOLA_FLOOR}. */
  default String words() {
    return switch (this) {
      case Default() -> "default";
      case File(Path path, int line) -> path + ":" + line;
      case Environment(String variable) -> "environment " + variable;
      case Flag(String flag) -> "flag " + flag;
    };
  }
}
