package dev.isola.engine.config;

import java.nio.file.Path;

/** The origin of a configuration value. */
public sealed interface ValueOrigin {
  record Default() implements ValueOrigin {}

  record File(Path path, int line) implements ValueOrigin {}

  record Environment(String variable) implements ValueOrigin {}

  record Flag(String flag) implements ValueOrigin {}

  /**
   * Returns the origin for display, such as {@code isola.yaml:3} or {@code environment
   * ISOLA_FLOOR}.
   */
  default String description() {
    return switch (this) {
      case Default() -> "default";
      case File(Path path, int line) -> path + ":" + line;
      case Environment(String variable) -> "environment " + variable;
      case Flag(String flag) -> "flag " + flag;
    };
  }
}
