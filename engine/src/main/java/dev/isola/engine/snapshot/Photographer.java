package dev.isola.engine.snapshot;

import dev.isola.snapshot.Taking;
import dev.isola.snapshot.Trees;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Picture;
import dev.isola.spi.capability.Snapshotting.Taken;
import dev.isola.spi.capability.Snapshotting.Wanted;
import dev.isola.spi.exec.ExecutionInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes the files of one sandbox. Where commands run, everything is read once while they go on, and
 * then, while they are held, what has changed meanwhile: they are held for a look at the tree and
 * not for the reading of it.
 */
final class Photographer {
  private final Snapshotting pictures;
  private final Sandbox sandbox;
  private final Progress progress;

  Photographer(Sandbox sandbox, Snapshotting pictures, Progress progress) {
    this.sandbox = sandbox;
    this.pictures = pictures;
    this.progress = progress;
  }

  /**
   * What came of it.
   *
   * @param moment for the next one
   */
  record Result(
      Trees.Read files, long moment, Duration held, boolean incremental, long readBytes) {}

  /** Stores the content of all files in {@code taking}, and adds nothing to it. */
  Result take(Wanted wanted, Taking taking, Map<String, Taking.Held> before) {
    if (before.isEmpty()) {
      return look(wanted.since(0), taking, Map.of());
    }
    try {
      return look(wanted, taking, before);
    } catch (Trees.UnknownMarkException moved) {
      // Something came into the folder that is older than the last picture.
      return look(wanted.since(0), taking, Map.of());
    }
  }

  private Result look(Wanted wanted, Taking taking, Map<String, Taking.Held> before) {
    if (!busy()) {
      return shot(wanted.held(), taking, before, 0);
    }
    Result first = shot(wanted, taking, before, 0);
    if (first.moment() == 0) {
      return shot(wanted.held(), taking, Map.of(), first.readBytes());
    }
    Map<String, Taking.Held> known = new HashMap<>(before);
    known.putAll(first.files().byMark());
    try {
      Result second = shot(wanted.since(first.moment()).held(), taking, known, first.readBytes());
      return new Result(
          second.files(), second.moment(), second.held(), !before.isEmpty(), second.readBytes());
    } catch (Trees.UnknownMarkException moved) {
      return shot(wanted.since(0).held(), taking, Map.of(), first.readBytes());
    }
  }

  private Result shot(
      Wanted wanted, Taking taking, Map<String, Taking.Held> before, long readBefore) {
    try (Picture picture = pictures.take(wanted)) {
      Trees.Read read = Trees.read(progress.around(picture.archive()), taking, before);
      Taken taken = picture.taken();
      return new Result(
          read, taken.moment(), taken.held(), !before.isEmpty(), readBefore + read.bytes());
    }
  }

  /** What runs on its own after its command ended is not seen here; it is held all the same. */
  private boolean busy() {
    List<ExecutionInfo> all =
        sandbox.as(Attaching.class).map(Attaching::executions).orElse(List.of());
    return all.stream().anyMatch(one -> one.exit().isEmpty());
  }
}
