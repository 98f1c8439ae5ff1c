package dev.isola.document.field;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Suggests a known name for an unknown one ("did you mean"). */
public final class Suggestion {
  private static final int MAX_LENGTH = 64;

  /** More problems than these are counted in a message, and not named. */
  private static final int MAX_NAMED = 50;

  private Suggestion() {}

  /** Returns {@code , did you mean 'image'?} or an empty string. */
  public static String hint(String wrong, Collection<String> names) {
    return closest(wrong, names).map(name -> ", did you mean '" + name + "'?").orElse("");
  }

  /**
   * Returns a hint, or an empty string if there are many problems before this one: a hint costs
   * much more than the wrong name, and a document may have any number of them.
   */
  public static String hint(String wrong, Collection<String> names, Collection<?> problems) {
    return problems.size() < MAX_NAMED ? hint(wrong, names) : "";
  }

  /** Returns the known name closest to {@code wrong}, if it is close enough to suggest. */
  public static Optional<String> closest(String wrong, Collection<String> names) {
    return candidates(wrong, names, 1).stream().findFirst();
  }

  /** Returns the known names that are close enough to suggest, closest first. */
  public static List<String> candidates(String wrong, Collection<String> names, int most) {
    if (wrong.isEmpty() || wrong.length() > MAX_LENGTH) {
      return List.of();
    }
    Map<String, Integer> near = new LinkedHashMap<>();
    for (String name : names) {
      int distance = isOtherForm(wrong, name) ? 0 : distance(plain(wrong), plain(name));
      if (distance <= Math.max(1, wrong.length() / 3)) {
        near.put(name, distance);
      }
    }
    return near.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .limit(most)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Matches names of which one is a prefix of the other, such as {@code cpuCount} and {@code cpu}.
   */
  private static boolean isOtherForm(String wrong, String name) {
    String text = plain(wrong);
    String other = plain(name);
    return Math.min(text.length(), other.length()) >= 3
        && (text.startsWith(other) || other.startsWith(text));
  }

  private static String plain(String name) {
    return name.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
  }

  /** Counts the insertions, deletions, substitutions and swaps of adjacent letters. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int replaced = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(replaced, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        if (swapped(a, i, b, j)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }

  private static boolean swapped(String a, int i, String b, int j) {
    return i > 1
        && j > 1
        && a.charAt(i - 1) == b.charAt(j - 2)
        && a.charAt(i - 2) == b.charAt(j - 1);
  }
}
