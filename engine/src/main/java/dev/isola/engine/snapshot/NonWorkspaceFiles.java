package dev.isola.engine.snapshot;

import dev.isola.snapshot.SnapshotArchives;
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
 * What a sandbox wrote outside of its workspace, for forks whose workspace is shared. It is read
 * once and unpacked in each fork; mostly it is small, or nothing.
 */
final class NonWorkspaceFiles implements AutoCloseable {
  private static final long MEGABYTE = 1 << 20;

  /** Archives have heads, and a file may be in one more than once. */
  private static final int SLACK = 2;

  /**
   * One archive.
   *
   * @param folder that it is of; empty for changes of the image
   */
  private record Part(Optional<String> folder, Spool archive) {}

  private final List<Part> parts = new ArrayList<>();

  private NonWorkspaceFiles() {}

  /**
   * Reads it.
   *
   * @param scratch a folder for what does not fit into memory
   */
  static NonWorkspaceFiles of(Sandbox source, SandboxSpec spec, Path scratch) {
    NonWorkspaceFiles rest = new NonWorkspaceFiles();
    Optional<Snapshotting> pictures = source.as(Snapshotting.class);
    Optional<Coverage> coverage = pictures.flatMap(Snapshotting::coverage);
    if (coverage.isEmpty()) {
      return rest;
    }
    long most = SLACK * (spec.limits().diskMb() + 1L) * MEGABYTE;
    try {
      if (coverage.get().image().isPresent()) {
        Coverage changes = new Coverage(coverage.get().image(), List.of());
        rest.add(
            Optional.empty(),
            pictures.get().capture(CaptureRequest.written(changes).frozen()),
            scratch,
            most);
      }
      for (String folder : coverage.get().withoutFolder(spec.workspaceMount()).folders()) {
        Coverage whole = new Coverage(Optional.empty(), List.of(folder));
        rest.add(
            Optional.of(folder),
            pictures.get().capture(CaptureRequest.written(whole).frozen()),
            scratch,
            most);
      }
      return rest;
    } catch (IOException e) {
      rest.close();
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "what sandbox " + source.id() + " wrote cannot be read: " + e.getMessage(),
              "look at the space on the server's disk, or take a snapshot")
          .sandbox(source.id())
          .exception(e);
    } catch (SandboxException e) {
      rest.close();
      throw e;
    }
  }

  private void add(Optional<String> folder, Capture picture, Path scratch, long most)
      throws IOException {
    try (picture) {
      Spool archive = Spool.of(picture.archive(), scratch, most);
      if (isEmpty(folder, archive)) {
        archive.close();
      } else {
        parts.add(new Part(folder, archive));
      }
    }
  }

  /** Tells whether there is nothing but the folder itself. */
  private static boolean isEmpty(Optional<String> folder, Spool archive) throws IOException {
    try (InputStream in = archive.read()) {
      return SnapshotArchives.isEmpty(in, folder.orElse(""));
    }
  }

  /** Makes it in a fork. May be called by several threads at once. */
  void applyTo(Sandbox fork) {
    if (parts.isEmpty()) {
      return;
    }
    Snapshotting pictures = fork.as(Snapshotting.class).orElseThrow();
    for (Part part : parts) {
      if (part.folder().isEmpty()) {
        pictures.restoreChanges(part.archive().read(), TreeLimits.DEFAULT);
      } else {
        pictures.restore("/", part.archive().read(), TreeLimits.DEFAULT);
      }
    }
  }

  @Override
  public void close() {
    parts.forEach(part -> part.archive().close());
  }
}
