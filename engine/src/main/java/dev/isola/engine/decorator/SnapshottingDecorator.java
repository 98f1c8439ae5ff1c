package dev.isola.engine.decorator;

import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.util.Optional;

/** Captures and restores files; captures are streams, whose reader has the time limit. */
record SnapshottingDecorator(Snapshotting inner, ProviderGuard guard) implements Snapshotting {
  @Override
  public Capture capture(CaptureRequest request) {
    return new CaptureDecorator(guard.direct("capture", () -> inner.capture(request)), guard);
  }

  @Override
  public Optional<Coverage> coverage() {
    return guard.direct("coverage", inner::coverage);
  }

  @Override
  public TreeSummary restoreChanges(InputStream archive, TreeLimits limits) {
    return guard.direct("restoreChanges", () -> inner.restoreChanges(archive, limits));
  }

  @Override
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return guard.direct("restore", () -> inner.restore(path, archive, limits));
  }

  /** A capture in progress. */
  private record CaptureDecorator(Capture inner, ProviderGuard guard) implements Capture {
    @Override
    public InputStream archive() {
      return guard.direct("archive", inner::archive);
    }

    @Override
    public CaptureResult result() {
      return guard.direct("result", inner::result);
    }

    @Override
    public void close() {
      guard.runDirect("close", inner::close);
    }
  }
}
