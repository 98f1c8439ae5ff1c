package dev.isola.engine.api.snapshot;

import dev.isola.engine.snapshot.TimeLimit;
import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.manifest.Spool;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The files that a sandbox wrote outside its workspace, for forks that share the workspace. They
 * are read once and unpacked into each fork; usually there are few.
 */
final class NonWorkspaceFiles implements AutoCloseable {
  private static final long MEGABYTE = 1 << 20;

  /** Allows for tar headers and files that an archive contains more than once. */
  private static final int SLACK = 2;

  /**
   * One archive.
   *
   * @param folder the folder that it contains; empty for changes to the image
   */
  private record Part(Optional<String> folder, Spool archive) {}

  private final List<Part> parts = new ArrayList<>();
  private final TimeLimit time = new TimeLimit("the files outside of the workspace");

  private NonWorkspaceFiles() {}

  /**
   * Reads the files of a sandbox.
   *
   * @param scratch a folder for archives that do not fit into memory
   */
  static NonWorkspaceFiles of(Sandbox source, SandboxSpec spec, Path scratch) {
    NonWorkspaceFiles files = new NonWorkspaceFiles();
    Optional<Snapshotting> snapshotting = source.as(Snapshotting.class);
    Optional<Coverage> coverage = snapshotting.flatMap(Snapshotting::coverage);
    if (coverage.isEmpty()) {
      return files;
    }
    long max = SLACK * (spec.limits().diskMb() + 1L) * MEGABYTE;
    try {
      if (coverage.get().image().isPresent()) {
        Coverage changes = new Coverage(coverage.get().image(), List.of());
        files.add(
            Optional.empty(),
            snapshotting.get().capture(CaptureRequest.written(changes).frozen().withoutHoles()),
            scratch,
            max);
      }
      for (String folder : coverage.get().withoutFolder(spec.workspaceMount()).folders()) {
        Coverage whole = new Coverage(Optional.empty(), List.of(folder));
        files.add(
            Optional.of(folder),
            snapshotting.get().capture(CaptureRequest.written(whole).frozen().withoutHoles()),
            scratch,
            max);
      }
      return files;
    } catch (IOException e) {
      files.close();
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the files that sandbox "
                  + source.id()
                  + " wrote outside its workspace cannot be read: "
                  + e.getMessage(),
              "check the free disk space of the server, or take a snapshot")
          .sandbox(source.id())
          .exception(e);
    } catch (SandboxException e) {
      files.close();
      throw e;
    }
  }

  private void add(Optional<String> folder, Capture capture, Path scratch, long max)
      throws IOException {
    try (capture) {
      Spool archive = Spool.of(time.wrap(capture.archive()), scratch, max);
      if (isEmpty(folder, archive)) {
        archive.close();
      } else {
        parts.add(new Part(folder, archive));
      }
    }
  }

  /** Returns whether the archive contains nothing but the folder itself. */
  private static boolean isEmpty(Optional<String> folder, Spool archive) throws IOException {
    try (InputStream in = archive.read()) {
      return SnapshotArchives.isEmpty(in, folder.orElse(""));
    }
  }

  /** Unpacks the files into a fork. Thread-safe. */
  void applyTo(Sandbox fork) {
    if (parts.isEmpty()) {
      return;
    }
    Snapshotting snapshotting = fork.as(Snapshotting.class).orElseThrow();
    for (Part part : parts) {
      if (part.folder().isEmpty()) {
        snapshotting.restoreChanges(part.archive().read(), TreeLimits.DEFAULT);
      } else {
        snapshotting.restore("/", part.archive().read(), TreeLimits.DEFAULT);
      }
    }
  }

  @Override
  public void close() {
    parts.forEach(part -> part.archive().close());
  }
}
