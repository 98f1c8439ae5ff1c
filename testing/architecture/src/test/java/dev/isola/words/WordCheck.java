package dev.isola.words;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds banned words in a source file. */
final class WordCheck {
  private static final Pattern WORD = Pattern.compile("\\p{Alpha}+");

  private final List<BannedWord> words;

  WordCheck(List<BannedWord> words) {
    this.words = List.copyOf(words);
  }

  /** Returns the words of {@code banned-words.tsv}. */
  static List<BannedWord> bannedWords() throws IOException {
    try (InputStream table =
        Objects.requireNonNull(WordCheck.class.getResourceAsStream("/banned-words.tsv"))) {
      return new String(table.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(BannedWord::parse)
          .toList();
    }
  }

  /** Returns one line per banned word in this file, with what to write instead. */
  List<String> findings(String fileName, String content) {
    Set<String> written =
        WORD.matcher(Prose.of(fileName, content))
            .results()
            .map(match -> match.group().toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());
    return words.stream()
        .filter(banned -> written.contains(banned.word()))
        .map(
            banned ->
                "%s: \"%s\" (%s): write %s"
                    .formatted(fileName, banned.word(), banned.reason(), banned.instead()))
        .toList();
  }
}
