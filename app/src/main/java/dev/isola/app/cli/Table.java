package dev.isola.app.cli;

import java.util.ArrayList;
import java.util.List;

/** Aligns columns. The last column is unbounded, or wrapped. */
public final class Table {
  /** Below this width, wrapping makes the text less readable. */
  private static final int NARROWEST = 20;

  private final List<List<String>> rows = new ArrayList<>();

  public Table row(String... cells) {
    rows.add(List.of(cells));
    return this;
  }

  public String text() {
    return text(Integer.MAX_VALUE);
  }

  /** Returns the lines, with the last column wrapped between words to fit the given width. */
  public String text(int columns) {
    List<Integer> widths = new ArrayList<>();
    for (List<String> row : rows) {
      for (int column = 0; column < row.size(); column++) {
        int width = width(row.get(column));
        if (column == widths.size()) {
          widths.add(width);
        } else if (widths.get(column) < width) {
          widths.set(column, width);
        }
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = row.get(column);
        if (column == row.size() - 1) {
          line.append(folded(cell, width(line.toString()), columns));
        } else {
          line.append(cell).repeat(' ', widths.get(column) - width(cell) + 2);
        }
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static String folded(String cell, int indent, int columns) {
    int room = columns - indent;
    if (room < NARROWEST || width(cell) <= room) {
      return cell;
    }
    StringBuilder text = new StringBuilder();
    int used = 0;
    for (String word : cell.split(" ", -1)) {
      if (used > 0 && used + 1 + width(word) > room) {
        text.append('\n').repeat(' ', indent);
        used = 0;
      } else if (used > 0) {
        text.append(' ');
        used++;
      }
      text.append(word);
      used += width(word);
    }
    return text.toString();
  }

  /** Returns the visible width: ANSI codes do not count. */
  private static int width(String cell) {
    int width = 0;
    boolean code = false;
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      if (code) {
        code = c != 'm';
      } else if (c == '\u001b') {
        code = true;
      } else {
        width++;
      }
    }
    return width;
  }
}
