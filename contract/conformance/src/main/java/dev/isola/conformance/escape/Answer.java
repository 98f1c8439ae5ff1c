package dev.isola.conformance.escape;

import java.util.Locale;
import java.util.Optional;

/** How one attempt went, as the program says it in its one line. */
public record Answer(Word word, String detail) {
  private static final int LONGEST = 600;

  /** What the line starts with. */
  public enum Word {
    /** It got through. */
    GOT,
    /** The attempt failed. */
    REFUSED,
    /** There is nothing here to attack. */
    ABSENT
  }

  public static Answer got(String detail) {
    return new Answer(Word.GOT, detail);
  }

  public static Answer refused(String detail) {
    return new Answer(Word.REFUSED, detail);
  }

  /** Reads what the program wrote; empty when that is no answer. */
  public static Optional<Answer> parse(String output) {
    String line = output.strip();
    if (line.length() > LONGEST || line.indexOf('\n') >= 0) {
      return Optional.empty();
    }
    for (Word word : Word.values()) {
      String start = word.name().toLowerCase(Locale.ROOT) + ": ";
      if (line.startsWith(start)) {
        return Optional.of(new Answer(word, line.substring(start.length())));
      }
    }
    return Optional.empty();
  }

  public boolean gotThrough() {
    return word == Word.GOT;
  }

  @Override
  public String toString() {
    return word.name().toLowerCase(Locale.ROOT) + ": " + detail;
  }
}
