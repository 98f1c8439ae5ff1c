package dev.isola.link;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Captures and restores the files of a sandbox through its agent. */
record AgentSnapshotting(
    AgentClient client, AgentFiles files, Supplier<Optional<ChangeTracking>> changeTracking)
    implements Snapshotting {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int FLAGS = Wire.TAR_EXACT_TIMES | Wire.TAR_MARKS;

  @Override
  public Capture capture(CaptureRequest wanted) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.TAR_OUT)
            .add(FieldTag.PATH, wanted.path())
            .add(FieldTag.INCLUDE, wanted.includes())
            .add(FieldTag.EXCLUDE, wanted.excludes())
            .add(FieldTag.FLAGS, flags(wanted));
    wanted.written().ifPresent(coverage -> add(coverage, request));
    if (wanted.since() > 0) {
      request.add(FieldTag.TIME_NS, wanted.since());
    }
    LinkStream stream = client.open(AgentOperation.TAR_OUT, request, DataFrameInputStream.WINDOW);
    return new AgentCapture(
        stream, DataFrameInputStream.open(stream, client.timeouts().longResponseTimeout()));
  }

  private static int flags(CaptureRequest wanted) {
    return FLAGS
        | (wanted.freeze() ? Wire.TAR_FREEZE : 0)
        | (wanted.sparse() ? Wire.TAR_WITHOUT_HOLES : 0);
  }

  private void add(Coverage coverage, WireFieldsBuilder request) {
    request.add(FieldTag.FOLDER, coverage.folders());
    if (coverage.image().isPresent()) {
      ChangeTracking.ImageDiff changes =
          changeTracking
              .get()
              .flatMap(ChangeTracking::imageDiff)
              .orElseThrow(
                  () -> Capability.unsupported("this provider", "detecting changes of an image"));
      switch (changes) {
        case ChangeTracking.OverlayDiff(var upper, var image, var _) ->
            request.add(FieldTag.LAYER, upper).add(FieldTag.IMAGE, image);
        case ChangeTracking.TimestampDiff(var from, var _) ->
            request.add(
                FieldTag.CHANGED_NS, from.getEpochSecond() * NANOS_PER_SECOND + from.getNano());
      }
    }
  }

  @Override
  public Optional<Coverage> coverage() {
    return changeTracking.get().map(ChangeTracking::coverage);
  }

  private record AgentCapture(LinkStream stream, DataFrameInputStream content) implements Capture {
    @Override
    public InputStream archive() {
      return content;
    }

    @Override
    public CaptureResult result() {
      WireFields end = content.result();
      try {
        return new CaptureResult(
            end.count(FieldTag.TIME_NS, 0), Duration.ofNanos(end.count(FieldTag.DURATION_NS, 0)));
      } catch (ProtocolViolation e) {
        throw stream.protocolViolation(e.getMessage());
      }
    }

    @Override
    public void close() {
      content.close();
    }
  }

  @Override
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return files.unpack(path, archive, limits, Wire.TAR_OWNERS | Wire.TAR_OWNERS_IF_ALLOWED);
  }

  @Override
  public TreeSummary restoreChanges(InputStream archive, TreeLimits limits) {
    return files.unpack(
        "/", archive, limits, Wire.TAR_OWNERS | Wire.TAR_OWNERS_IF_ALLOWED | Wire.TAR_LAYER);
  }
}
