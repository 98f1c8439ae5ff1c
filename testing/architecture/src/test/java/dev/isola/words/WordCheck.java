package dev.isola.words;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds banned words in a source file. */
final class WordCheck {
  private static final Pattern WORD = Pattern.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])");
  private static final Pattern TYPE =
      Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w*)");

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
    SourceText text = SourceText.of(fileName, content);
    List<String> prose = words(text.prose()).toList();
    List<String> names = words(text.code()).toList();
    List<String> types =
        TYPE.matcher(text.code()).results().map(match -> lower(match.group(1))).toList();
    List<String> findings = new ArrayList<>();
    for (BannedWord banned : words) {
      List<String> searched =
          switch (banned.place()) {
            case PROSE -> prose;
            case NAME -> names;
            case TYPE -> types;
          };
      if (searched.contains(banned.word())) {
        findings.add(
            "%s: \"%s\" (%s): write %s"
                .formatted(fileName, banned.word(), banned.reason(), banned.instead()));
      }
    }
    return findings;
  }

  /** Splits identifiers into words, and prose at every character that is not a letter. */
  private static Stream<String> words(String text) {
    Matcher matcher = WORD.matcher(text);
    return matcher
        .results()
        .map(match -> lower(match.group()))
        .collect(Collectors.toSet())
        .stream();
  }

  private static String lower(String word) {
    return word.toLowerCase(Locale.ROOT);
  }
}
