package dev.isola.store;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Small tables stored in one column: one line per row, fields separated by tabs, both escaped in
 * the text. They are always read and written as a whole, so separate tables would only add joins.
 */
final class TabSeparatedText {
  private TabSeparatedText() {}

  static String write(List<List<String>> rows) {
    return rows.stream()
        .map(
            row ->
                row.stream().map(TabSeparatedText::escape).collect(Collectors.joining("\t")) + "\n")
        .collect(Collectors.joining());
  }

  static List<List<String>> read(String text) {
    List<List<String>> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\\' -> field.append(unescape(text.charAt(++i)));
        case '\t' -> {
          row.add(field.toString());
          field.setLength(0);
        }
        case '\n' -> {
          row.add(field.toString());
          field.setLength(0);
          rows.add(row);
          row = new ArrayList<>();
        }
        default -> field.append(c);
      }
    }
    return rows;
  }

  private static String escape(String field) {
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
  }

  private static char unescape(char c) {
    return switch (c) {
      case 't' -> '\t';
      case 'n' -> '\n';
      default -> c;
    };
  }
}
