package dev.isola.engine.api.snapshot;

import dev.isola.engine.snapshot.CaptureProgress;
import dev.isola.engine.snapshot.TimeLimit;
import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.SnapshotArchives.KnownFiles;
import dev.isola.snapshot.SnapshotWriter;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.CaptureResult;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.file.TreeLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Captures the files of one sandbox. If commands are running, it first reads everything while they
 * run, then freezes them and reads what has changed. Commands are thus frozen only while the tree
 * is scanned, not while its content is read.
 */
final class SnapshotCapturer {
  private final Snapshotting snapshotting;
  private final Sandbox sandbox;
  private final CaptureProgress progress;
  private final TimeLimit time;
  private final CaptureWatchdog watchdog;

  SnapshotCapturer(
      Sandbox sandbox,
      Snapshotting snapshotting,
      CaptureProgress progress,
      TimeLimit time,
      CaptureWatchdog watchdog) {
    this.sandbox = sandbox;
    this.snapshotting = snapshotting;
    this.progress = progress;
    this.time = time;
    this.watchdog = watchdog;
  }

  /**
   * The result of a capture. Closing it removes the list of files.
   *
   * @param moment the starting point of the next incremental capture
   */
  record Result(
      SnapshotArchives.ArchiveContents files,
      long moment,
      Duration held,
      boolean incremental,
      long readBytes)
      implements AutoCloseable {
    @Override
    public void close() {
      files.close();
    }
  }

  /**
   * Stores the content of all files in the snapshot writer, without adding entries to the snapshot.
   *
   * @param previous the files of the previous snapshot; empty for a capture of all files
   */
  Result capture(CaptureRequest request, SnapshotWriter writer, Optional<KnownFiles> previous) {
    if (previous.isEmpty()) {
      return captureConsistently(request.since(0), writer, Optional.empty());
    }
    try {
      return captureConsistently(request, writer, previous);
    } catch (SnapshotArchives.UnknownMarkException moved) {
      // A file that is older than the previous snapshot was moved into the folder.
      return captureConsistently(request.since(0), writer, Optional.empty());
    }
  }

  private Result captureConsistently(
      CaptureRequest request, SnapshotWriter writer, Optional<KnownFiles> previous) {
    if (!hasRunningExecutions()) {
      return captureOnce(request.frozen(), writer, previous, 0);
    }
    try (Result first = captureOnce(request, writer, previous, 0)) {
      if (first.moment() == 0 || !first.files().entries().index()) {
        return captureOnce(request.frozen(), writer, previous, first.readBytes());
      }
      try {
        KnownFiles known =
            mark ->
                first
                    .files()
                    .entries()
                    .find(mark)
                    .or(() -> previous.flatMap(files -> files.find(mark)));
        Result second =
            captureOnce(
                request.since(first.moment()).frozen(),
                writer,
                Optional.of(known),
                first.readBytes());
        return new Result(
            second.files(),
            second.moment(),
            second.held(),
            previous.isPresent(),
            second.readBytes());
      } catch (SnapshotArchives.UnknownMarkException moved) {
        return captureOnce(request.since(0).frozen(), writer, Optional.empty(), first.readBytes());
      }
    }
  }

  private Result captureOnce(
      CaptureRequest request,
      SnapshotWriter writer,
      Optional<KnownFiles> previous,
      long readBefore) {
    try (Capture capture = snapshotting.capture(request.withoutHoles())) {
      SnapshotArchives.ArchiveContents read =
          SnapshotArchives.readArchive(
              progress.wrap(time.wrap(watchdog.wrap(capture.archive()))),
              writer,
              previous.orElse(KnownFiles.NONE),
              TreeLimits.DEFAULT);
      try {
        CaptureResult result = capture.result();
        return new Result(
            read,
            result.capturedAt(),
            result.frozenFor(),
            previous.isPresent(),
            readBefore + read.bytes());
      } catch (RuntimeException e) {
        read.close();
        throw e;
      }
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
