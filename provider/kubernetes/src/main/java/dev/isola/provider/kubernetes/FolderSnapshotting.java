package dev.isola.provider.kubernetes;

import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/**
 * Declares that snapshots cover folders only: a cluster does not tell which files of an image a
 * sandbox removed.
 */
record FolderSnapshotting(Snapshotting agent, List<String> folders) implements Snapshotting {
  @Override
  public Capture capture(CaptureRequest request) {
    return agent.capture(request);
  }

  @Override
  public Optional<Coverage> coverage() {
    return Optional.of(new Coverage(Optional.empty(), folders));
  }

  @Override
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return agent.restore(path, archive, limits);
  }

  @Override
  public TreeSummary restoreChanges(InputStream archive, TreeLimits limits) {
    return agent.restoreChanges(archive, limits);
  }
}
