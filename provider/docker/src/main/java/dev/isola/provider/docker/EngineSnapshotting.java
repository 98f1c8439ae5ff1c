package dev.isola.provider.docker;

import dev.isola.codec.tar.TarStream;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.List;
import java.util.Optional;

/**
 * Captures the files of a container through the agent, preceded by the deletions from the image,
 * which only the engine knows.
 */
record EngineSnapshotting(EngineApi engine, String container, Snapshotting agent)
    implements Snapshotting {

  @Override
  public Capture capture(CaptureRequest request) {
    boolean changes = request.written().flatMap(Coverage::image).isPresent();
    List<String> removed = changes ? engine.deletedImagePaths(container) : List.of();
    Capture files = agent.capture(request);
    return removed.isEmpty()
        ? files
        : new CaptureWithDeletions(
            files, new SequenceInputStream(TarStream.removals(removed), files.archive()));
  }

  private record CaptureWithDeletions(Capture agentCapture, InputStream archive)
      implements Capture {
    @Override
    public CaptureResult result() {
      return agentCapture.result();
    }

    @Override
    public void close() {
      agentCapture.close();
    }
  }

  @Override
  public Optional<Coverage> coverage() {
    return agent.coverage();
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
