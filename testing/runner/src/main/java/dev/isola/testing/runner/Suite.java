package dev.isola.testing.runner;

import java.nio.file.Path;
import java.util.List;

/**
 * Something that is run as a whole: a test class, or a program that counts its own tests.
 *
 * @param seconds how long it took the last time, or a guess
 * @param command the program; empty for a test class
 * @param counts the file in which the program leaves a line {@code N passed, N failed[, N
 *     skipped]}; each line {@code NOT RUN REASON} in it or in its output is one of those skipped
 */
record Suite(Module module, String name, double seconds, List<String> command, Path counts) {
  /** Follows the name of a module whose tests are checked with Error Prone. */
  static final String TESTS = " (tests)";

  static Suite ofClass(Module module, String name, double seconds) {
    return new Suite(module, name, seconds, List.of(), Path.of(""));
  }

  /** Returns the source of a test class, relative to its module. */
  String source() {
    return "src/test/java/" + name.replace('.', '/') + ".java";
  }

  boolean isClass() {
    return command.isEmpty();
  }
}
