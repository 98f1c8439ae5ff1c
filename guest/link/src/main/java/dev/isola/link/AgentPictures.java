package dev.isola.link;

import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;

/** Pictures of a sandbox's files, taken by its agent. */
record AgentPictures(AgentClient client, AgentFiles files) implements Snapshotting {
  private static final int FLAGS = Wire.TAR_EXACT_TIMES | Wire.TAR_MARKS;

  @Override
  public Picture take(Wanted wanted) {
    FieldsBuilder request =
        new FieldsBuilder(Operation.TAR_OUT)
            .add(Tag.PATH, wanted.path())
            .add(Tag.INCLUDE, wanted.includes())
            .add(Tag.EXCLUDE, wanted.excludes())
            .add(Tag.FLAGS, wanted.hold() ? FLAGS | Wire.TAR_HOLD : FLAGS);
    if (wanted.since() > 0) {
      request.add(Tag.TIME_NS, wanted.since());
    }
    LinkStream stream = client.open(Operation.TAR_OUT, request, DataInput.WINDOW);
    return new Taking(stream, DataInput.open(stream, client.options().longAnswer()));
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
}
