package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Warnings about content that was skipped or changed during import: one line per kind, with the
 * number of occurrences.
 */
final class ImportWarnings {
  private static final class Count {
    private final String example;
    private long times;

    Count(String example) {
      this.example = example;
    }
  }

  /** Bounds the number of kinds, because some texts come from the archive. */
  private static final int MAX_KINDS = 40;

  private final Map<String, Count> counts = new LinkedHashMap<>();

  /**
   * @param what in the plural, such as "devices are left out"
   */
  void add(String what, String path) {
    String kind = counts.containsKey(what) || counts.size() < MAX_KINDS ? what : "other changes";
    counts.computeIfAbsent(kind, ignored -> new Count(path)).times++;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    counts.forEach(
        (what, count) ->
            lines.add(
                count.times
                    + " "
                    + what
                    + (count.times == 1 ? ": " : ", such as ")
                    + ArchivePaths.display(count.example)));
    return lines;
  }
}
