package dev.isola.app.documentation;

import java.util.Optional;

/**
 * A fenced block of a page.
 *
 * @param page path of the page, relative to the root of the repository
 * @param line number of the opening fence, from 1
 * @param language tag after the opening fence, empty if there is none
 * @param text content, without the fences
 * @param marks instructions in HTML comments before the block
 */
record FencedBlock(String page, int line, String language, String text, Marks marks) {
  /**
   * Instructions in HTML comments before a block.
   *
   * @param notRun why the block cannot run in a test
   * @param typed what the test types on the terminal of the block
   * @param output whether the block is the output of the block before it
   * @param java imports and declarations for a block of Java
   * @param prints a line that the block prints, among others
   * @param excerptOf the source file that contains the block, relative to the root of the
   *     repository
   */
  record Marks(
      Optional<String> notRun,
      Optional<String> typed,
      boolean output,
      Optional<String> java,
      Optional<String> prints,
      Optional<String> excerptOf) {
    static final Marks NONE =
        new Marks(
            Optional.empty(),
            Optional.empty(),
            false,
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    Marks withNotRun(String reason) {
      return new Marks(Optional.of(reason), typed, output, java, prints, excerptOf);
    }

    Marks withTyped(String input) {
      return new Marks(notRun, Optional.of(input), output, java, prints, excerptOf);
    }

    Marks asOutput() {
      return new Marks(notRun, typed, true, java, prints, excerptOf);
    }

    Marks withJava(String context) {
      return new Marks(notRun, typed, output, Optional.of(context), prints, excerptOf);
    }

    Marks withExcerptOf(String file) {
      return new Marks(notRun, typed, output, java, prints, Optional.of(file));
    }

    Marks withPrints(String line) {
      return new Marks(notRun, typed, output, java, Optional.of(line), excerptOf);
    }
  }

  /** Whether the block runs and prints something. */
  boolean isProgram() {
    return switch (language) {
      case "sh", "python", "js", "ts", "java" -> true;
      default -> false;
    };
  }

  /** Position and kind, such as {@code docs/cli.md:12 sh}. */
  String title() {
    return page + ":" + line + " " + (language.isEmpty() ? "(no language)" : language);
  }

  /** A finding in this block, as an error of the test. */
  AssertionError fault(String problem) {
    return new AssertionError(page + ":" + line + ": " + problem);
  }
}
