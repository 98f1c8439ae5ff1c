package dev.isola.app;

import java.util.Collection;
import java.util.Optional;

/** Finds what somebody probably meant. */
final class Nearest {
  private Nearest() {}

  /** Returns the candidate that needs the fewest changes, if a third of the letters or less. */
  static Optional<String> to(String word, Collection<String> candidates) {
    Optional<String> best = Optional.empty();
    int least = Math.max(2, word.length() / 3) + 1;
    for (String candidate : candidates) {
      int changes = candidate.startsWith(word) && word.length() > 1 ? 1 : distance(word, candidate);
      if (changes < least) {
        least = changes;
        best = Optional.of(candidate);
      }
    }
    return best;
  }

  /** Counts letters to add, remove or replace (Levenshtein). */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
