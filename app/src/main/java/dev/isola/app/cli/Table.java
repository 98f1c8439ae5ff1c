package dev.isola.app.cli;

import java.util.ArrayList;
import java.util.List;

/** Aligns columns, and wraps or truncates them to a width. */
public final class Table {
  /** Below this width, wrapping makes the text less readable. */
  private static final int NARROWEST = 20;

  /** Narrower than this, a truncated cell says nothing. */
  private static final int NARROWEST_CELL = 6;

  /** Up to this width a column is truncated only if nothing else helps. */
  private static final int SHORT_CELL = 12;

  private final List<List<String>> rows = new ArrayList<>();
  private int shortIds = Integer.MAX_VALUE;

  public Table row(String... cells) {
    rows.add(List.of(cells));
    return this;
  }

  /**
   * Allows the first column to be cut to {@code characters} without an ellipsis, because commands
   * accept the beginning of an id.
   */
  public Table withShortIds(int characters) {
    shortIds = characters;
    return this;
  }

  public String text() {
    return text(Integer.MAX_VALUE);
  }

  /** Returns the lines, with the last column wrapped between words to fit the given width. */
  public String text(int columns) {
    List<Integer> widths = widths(rows);
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

  /**
   * Returns one line for each row, at most {@code columns} wide: cells are truncated with an
   * ellipsis, first those of wide columns, then those of the last one, at last those of the first.
   */
  public String fitted(int columns) {
    List<List<String>> cells = rows;
    if (total(widths(cells)) > columns && shortIds < Integer.MAX_VALUE) {
      cells = rows.stream().map(this::withShortId).toList();
    }
    List<Integer> widths = widths(cells);
    int last = widths.size() - 1;
    shrink(widths, columns, 1, last, SHORT_CELL);
    shrink(widths, columns, Math.max(1, last), last, NARROWEST_CELL);
    shrink(widths, columns, 1, last, NARROWEST_CELL);
    shrink(widths, columns, 0, 0, NARROWEST_CELL);
    StringBuilder text = new StringBuilder();
    for (List<String> row : cells) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = truncated(row.get(column), widths.get(column));
        line.append(cell).repeat(' ', widths.get(column) - width(cell) + 2);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private List<String> withShortId(List<String> row) {
    List<String> shorter = new ArrayList<>(row);
    shorter.set(0, row.getFirst().substring(0, Math.min(shortIds, row.getFirst().length())));
    return shorter;
  }

  /**
   * Makes the widest of some columns narrower until the table fits, but none narrower than its
   * heading or {@code narrowest}.
   */
  private void shrink(List<Integer> widths, int columns, int from, int to, int narrowest) {
    while (total(widths) > columns) {
      int widest = -1;
      for (int column = from; column <= to; column++) {
        int heading = width(rows.getFirst().get(column));
        if (widths.get(column) > Math.max(heading, narrowest)
            && (widest < 0 || widths.get(column) > widths.get(widest))) {
          widest = column;
        }
      }
      if (widest < 0) {
        return;
      }
      widths.set(widest, widths.get(widest) - 1);
    }
  }

  private static List<Integer> widths(List<List<String>> rows) {
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
    return widths;
  }

  private static int total(List<Integer> widths) {
    return widths.stream().mapToInt(width -> width + 2).sum() - 2;
  }

  private static String truncated(String cell, int width) {
    return width(cell) <= width || cell.indexOf('\u001b') >= 0
        ? cell
        : cell.substring(0, width - 1) + "…";
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
