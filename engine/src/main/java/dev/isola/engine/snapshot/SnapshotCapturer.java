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

  SnapshotCapturer(Sandbox sandbox, Snapshotting snapshotting, CaptureProgress progress) {
    this.sandbox = sandbox;
    this.snapshotting = snapshotting;
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
      CaptureRequest request,
      SnapshotWriter writer,
      Map<String, SnapshotWriter.StagedFile> previous) {
    if (previous.isEmpty()) {
      return captureConsistently(request.since(0), writer, Map.of());
    }
    try {
      return captureConsistently(request, writer, previous);
    } catch (SnapshotArchives.UnknownMarkException moved) {
      // A file that is older than the previous snapshot was moved into the folder.
      return captureConsistently(request.since(0), writer, Map.of());
    }
  }

  private Result captureConsistently(
      CaptureRequest request,
      SnapshotWriter writer,
      Map<String, SnapshotWriter.StagedFile> previous) {
    if (!hasRunningExecutions()) {
      return captureOnce(request.frozen(), writer, previous, 0);
    }
    Result first = captureOnce(request, writer, previous, 0);
    if (first.moment() == 0) {
      return captureOnce(request.frozen(), writer, Map.of(), first.readBytes());
    }
    Map<String, SnapshotWriter.StagedFile> staged = new HashMap<>(previous);
    staged.putAll(first.files().byMark());
    try {
      Result second =
          captureOnce(request.since(first.moment()).frozen(), writer, staged, first.readBytes());
      return new Result(
          second.files(), second.moment(), second.held(), !previous.isEmpty(), second.readBytes());
    } catch (SnapshotArchives.UnknownMarkException moved) {
      return captureOnce(request.since(0).frozen(), writer, Map.of(), first.readBytes());
    }
  }

  private Result captureOnce(
      CaptureRequest request,
      SnapshotWriter writer,
      Map<String, SnapshotWriter.StagedFile> previous,
      long readBefore) {
    try (Capture capture = snapshotting.capture(request)) {
      SnapshotArchives.ArchiveContents read =
          SnapshotArchives.readArchive(progress.wrap(capture.archive()), writer, previous);
      CaptureResult result = capture.result();
      return new Result(
          read,
          result.capturedAt(),
          result.frozenFor(),
          !previous.isEmpty(),
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
