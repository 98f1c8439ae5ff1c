package dev.isola.words;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Separates a source file into code and prose.
 *
 * @param code the code without comments and strings; empty for a document
 * @param prose the comments or the text of a document, without text in code font
 */
record SourceText(String code, String prose) {
  private static final Pattern COMMENT_OR_STRING =
      Pattern.compile(
          "(?s)\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n"
              + "]|\\\\.)*\"|'(?:[^'\\\\\n"
              + "]|\\\\.)+'|/\\*.*?\\*/|//[^\n"
              + "]*");
  private static final Pattern CODE_FONT =
      Pattern.compile("(?s)```.*?```|`[^`\n]*`|\\{@(?:code|link)[^}]*}|\\[[^\\]\n]*]\\([^)\n]*\\)");

  static SourceText of(String fileName, String content) {
    return fileName.endsWith(".md") ? document(content) : program(content);
  }

  private static SourceText document(String content) {
    return new SourceText("", withoutCodeFont(content));
  }

  private static SourceText program(String content) {
    List<String> comments = new ArrayList<>();
    Matcher matcher = COMMENT_OR_STRING.matcher(content);
    StringBuilder code = new StringBuilder();
    while (matcher.find()) {
      if (matcher.group().startsWith("/")) {
        comments.add(matcher.group());
      }
      matcher.appendReplacement(code, " ");
    }
    matcher.appendTail(code);
    return new SourceText(code.toString(), withoutCodeFont(String.join("\n", comments)));
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
