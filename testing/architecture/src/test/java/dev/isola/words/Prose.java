package dev.isola.words;

import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds the prose of a source file: the comments, or the text of a document. */
final class Prose {
  private static final Pattern COMMENT_OR_STRING =
      Pattern.compile(
          "(?s)\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n"
              + "]|\\\\.)*\"|'(?:[^'\\\\\n"
              + "]|\\\\.)+'|/\\*.*?\\*/|//[^\n"
              + "]*");
  private static final Pattern CODE_FONT =
      Pattern.compile("(?s)```.*?```|`[^`\n]*`|\\{@(?:code|link)[^}]*}|\\[[^\\]\n]*]\\([^)\n]*\\)");

  private Prose() {}

  /** Returns the prose without text in code font. */
  static String of(String fileName, String content) {
    return withoutCodeFont(fileName.endsWith(".md") ? content : comments(content));
  }

  private static String comments(String program) {
    return COMMENT_OR_STRING
        .matcher(program)
        .results()
        .map(MatchResult::group)
        .filter(part -> part.startsWith("/"))
        .collect(Collectors.joining("\n"));
  }

  /** Keeps the text of a link and drops its address. */
  private static String withoutCodeFont(String text) {
    return CODE_FONT
        .matcher(text)
        .replaceAll(
            match ->
                match.group().startsWith("[")
                    ? Matcher.quoteReplacement(
                        match.group().substring(1, match.group().indexOf(']')))
                    : " ");
  }
}
