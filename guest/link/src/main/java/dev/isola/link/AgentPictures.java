package dev.isola.link;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Pictures of a sandbox's files, taken by its agent. */
record AgentPictures(AgentClient client, AgentFiles files, Supplier<Optional<WrittenFiles>> written)
    implements Snapshotting {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int FLAGS = Wire.TAR_EXACT_TIMES | Wire.TAR_MARKS;

  @Override
  public Picture take(Wanted wanted) {
    FieldsBuilder request =
        new FieldsBuilder(Operation.TAR_OUT)
            .add(Tag.PATH, wanted.path())
            .add(Tag.INCLUDE, wanted.includes())
            .add(Tag.EXCLUDE, wanted.excludes())
            .add(Tag.FLAGS, wanted.hold() ? FLAGS | Wire.TAR_HOLD : FLAGS);
    wanted.written().ifPresent(coverage -> add(coverage, request));
    if (wanted.since() > 0) {
      request.add(Tag.TIME_NS, wanted.since());
    }
    LinkStream stream = client.open(Operation.TAR_OUT, request, DataInput.WINDOW);
    return new Taking(stream, DataInput.open(stream, client.options().longAnswer()));
  }

  private void add(Coverage coverage, FieldsBuilder request) {
    request.add(Tag.FOLDER, coverage.folders());
    if (coverage.image().isPresent()) {
      WrittenFiles.Changes changes =
          written
              .get()
              .flatMap(WrittenFiles::changes)
              .orElseThrow(
                  () -> Capability.unsupported("this provider", "telling changes of an image"));
      switch (changes) {
        case WrittenFiles.Overlay(var upper, var image, var _) ->
            request.add(Tag.LAYER, upper).add(Tag.IMAGE, image);
        case WrittenFiles.Since(var from, var _) ->
            request.add(Tag.CHANGED_NS, from.getEpochSecond() * NANOS_PER_SECOND + from.getNano());
      }
    }
  }

  @Override
  public Optional<Coverage> coverage() {
    return written.get().map(WrittenFiles::coverage);
  }

  private record Taking(LinkStream stream, DataInput content) implements Picture {
    @Override
    public InputStream archive() {
      return content;
    }

    @Override
    public Taken taken() {
      Fields end = content.result();
      try {
        return new Taken(
            end.count(Tag.TIME_NS, 0), Duration.ofNanos(end.count(Tag.DURATION_NS, 0)));
      } catch (ProtocolViolation e) {
        throw stream.violated(e.getMessage());
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
