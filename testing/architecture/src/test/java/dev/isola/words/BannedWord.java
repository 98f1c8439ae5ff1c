package dev.isola.words;

import java.util.List;

/**
 * A word that comments and documents of this repository do not use.
 *
 * @param word the word in lower case
 * @param instead what to write
 * @param reason why the word is banned
 */
record BannedWord(String word, String instead, String reason) {
  /** Parses one line of {@code banned-words.tsv}. */
  static BannedWord parse(String line) {
    List<String> columns = List.of(line.split("\t", -1));
    if (columns.size() != 3 || columns.stream().anyMatch(String::isBlank)) {
      throw new IllegalArgumentException("banned-words.tsv takes three columns: " + line);
    }
    return new BannedWord(columns.get(0), columns.get(1), columns.get(2));
  }
}
