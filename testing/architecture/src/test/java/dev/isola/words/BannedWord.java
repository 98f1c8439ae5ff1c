package dev.isola.words;

import java.util.List;
import java.util.Locale;

/**
 * A word that sources and documents of this repository do not use.
 *
 * @param word the word in lower case
 * @param instead what to write
 * @param reason why the word is banned
 */
record BannedWord(String word, Place place, String instead, String reason) {
  /** The part of a source in which the word is banned. */
  enum Place {
    /** Comments and documents. */
    PROSE,
    /** Identifiers, word by word: {@code Patience} in {@code DEFAULT_PATIENCE}. */
    NAME,
    /** The whole name of a declared class. */
    TYPE
  }

  /** Parses one line of {@code banned-words.tsv}. */
  static BannedWord parse(String line) {
    List<String> columns = List.of(line.split("\t", -1));
    if (columns.size() != 4 || columns.stream().anyMatch(String::isBlank)) {
      throw new IllegalArgumentException("banned-words.tsv takes four columns: " + line);
    }
    return new BannedWord(
        columns.get(0),
        Place.valueOf(columns.get(1).toUpperCase(Locale.ROOT)),
        columns.get(2),
        columns.get(3));
  }
}
