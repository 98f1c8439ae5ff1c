package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What was left out or changed on the way in: a line for each kind, however often it happened. */
final class ImportWarnings {
  private static final class Count {
    private final String example;
    private long times;

    Count(String example) {
      this.example = example;
    }
  }

  /** The words come from an archive, at times, and an archive has many. */
  private static final int MOST_KINDS = 40;

  private final Map<String, Count> counts = new LinkedHashMap<>();

  /**
   * @param what in the plural: "devices are left out"
   */
  void add(String what, String path) {
    String kind = counts.containsKey(what) || counts.size() < MOST_KINDS ? what : "other changes";
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
