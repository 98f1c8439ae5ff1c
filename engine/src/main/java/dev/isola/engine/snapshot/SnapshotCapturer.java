package dev.isola.engine.snapshot;

import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.SnapshotWriter;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.CaptureResult;
import dev.isola.spi.exec.ExecutionInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Captures the files of one sandbox. If commands are running, it first reads everything while they
 * run, then freezes them and reads what has changed. Commands are thus frozen only while the tree
 * is scanned, not while its content is read.
 */
final class SnapshotCapturer {
  private final Snapshotting snapshotting;
  private final Sandbox sandbox;
  private final CaptureProgress progress;

  SnapshotCapturer(Sandbox sandbox, Snapshotting pictures, CaptureProgress progress) {
    this.sandbox = sandbox;
    this.snapshotting = pictures;
    this.progress = progress;
  }

  /**
   * The result of a capture.
   *
   * @param moment the starting point of the next incremental capture
   */
  record Result(
      SnapshotArchives.ArchiveContents files,
      long moment,
      Duration held,
      boolean incremental,
      long readBytes) {}

  /**
   * Stores the content of all files in the snapshot writer, without adding entries to the snapshot.
   */
  Result capture(
      CaptureRequest wanted, SnapshotWriter taking, Map<String, SnapshotWriter.StagedFile> before) {
    if (before.isEmpty()) {
      return captureConsistently(wanted.since(0), taking, Map.of());
    }
    try {
      return captureConsistently(wanted, taking, before);
    } catch (SnapshotArchives.UnknownMarkException moved) {
      // A file that is older than the previous snapshot was moved into the folder.
      return captureConsistently(wanted.since(0), taking, Map.of());
    }
  }

  private Result captureConsistently(
      CaptureRequest wanted, SnapshotWriter taking, Map<String, SnapshotWriter.StagedFile> before) {
    if (!hasRunningExecutions()) {
      return captureOnce(wanted.frozen(), taking, before, 0);
    }
    Result first = captureOnce(wanted, taking, before, 0);
    if (first.moment() == 0) {
      return captureOnce(wanted.frozen(), taking, Map.of(), first.readBytes());
    }
    Map<String, SnapshotWriter.StagedFile> known = new HashMap<>(before);
    known.putAll(first.files().byMark());
    try {
      Result second =
          captureOnce(wanted.since(first.moment()).frozen(), taking, known, first.readBytes());
      return new Result(
          second.files(), second.moment(), second.held(), !before.isEmpty(), second.readBytes());
    } catch (SnapshotArchives.UnknownMarkException moved) {
      return captureOnce(wanted.since(0).frozen(), taking, Map.of(), first.readBytes());
    }
  }

  private Result captureOnce(
      CaptureRequest wanted,
      SnapshotWriter taking,
      Map<String, SnapshotWriter.StagedFile> before,
      long readBefore) {
    try (Capture picture = snapshotting.capture(wanted)) {
      SnapshotArchives.ArchiveContents read =
          SnapshotArchives.readArchive(progress.wrap(picture.archive()), taking, before);
      CaptureResult taken = picture.result();
      return new Result(
          read,
          taken.capturedAt(),
          taken.frozenFor(),
          !before.isEmpty(),
          readBefore + read.bytes());
    }
  }

  /**
   * Returns whether executions are running. Background processes of ended commands are not listed,
   * but they are frozen all the same.
   */
  private boolean hasRunningExecutions() {
    List<ExecutionInfo> all =
        sandbox.as(Attaching.class).map(Attaching::executions).orElse(List.of());
    return all.stream().anyMatch(one -> one.exit().isEmpty());
  }
}
