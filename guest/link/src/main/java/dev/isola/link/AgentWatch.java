package dev.isola.link;

import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A watch served by the agent. After a dropped connection it watches again and reports an overflow,
 * since changes may have been missed.
 */
final class AgentWatch implements Watch {
  private static final int WINDOW = 256 * 1024;

  private final AgentClient client;
  private final String path;
  private final boolean recursive;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile LinkStream stream;
  private volatile boolean ended;

  private AgentWatch(AgentClient client, String path, boolean recursive) {
    this.client = client;
    this.path = path;
    this.recursive = recursive;
    this.stream = request(client, path, recursive);
  }

  /** Returns once the agent is watching. */
  static Watch open(AgentClient client, String path, boolean recursive) {
    return new AgentWatch(client, path, recursive);
  }

  @Override
  public Optional<FileChange> next(Duration timeout) {
    reading.lock();
    try {
      return nextLocked(timeout);
    } finally {
      reading.unlock();
    }
  }

  private Optional<FileChange> nextLocked(Duration timeout) {
    if (ended) {
      return Optional.empty();
    }
    LinkStream current = stream;
    CloseReason closeReason = current.closeReason();
    if (closeReason != null && closeReason.isRecoverable()) {
      return Optional.of(watchAgain());
    }
    Frame frame;
    try {
      frame = current.next(timeout.isPositive() ? timeout : Duration.ofNanos(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(client.id(), "watching");
    } catch (RuntimeException e) {
      closeReason = current.closeReason();
      if (ended) {
        return Optional.empty();
      }
      if (closeReason == null || !closeReason.isRecoverable()) {
        ended = true;
        throw e;
      }
      return Optional.of(watchAgain());
    }
    return frame == null ? Optional.empty() : change(current, frame);
  }

  @Override
  public boolean ended() {
    return ended;
  }

  @Override
  public void close() {
    ended = true;
    stream.cancel();
  }

  private FileChange watchAgain() {
    stream = request(client, path, recursive);
    return new FileChange(FileChange.Kind.OVERFLOW, path, true);
  }

  private static LinkStream request(AgentClient client, String path, boolean recursive) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.WATCH)
            .add(FieldTag.PATH, path)
            .flag(FieldTag.RECURSIVE, recursive);
    LinkStream stream = client.open(AgentOperation.WATCH, request, WINDOW);
    stream.awaitResponse(client.timeouts().responseTimeout());
    return stream;
  }

  private Optional<FileChange> change(LinkStream from, Frame frame) {
    if (frame.type() == Wire.ITEM) {
      return Optional.of(item(from, frame));
    }
    boolean closed = ended;
    ended = true;
    if (frame.type() == Wire.ERROR && !closed) {
      throw from.error(frame).exception(client.id());
    }
    return Optional.empty();
  }

  private FileChange item(LinkStream from, Frame frame) {
    try {
      WireFields fields = WireFields.parse(frame.payload());
      FileChange.Kind kind = kind(fields.range(FieldTag.EVENT, 1, 8));
      ended |= kind == FileChange.Kind.ROOT_GONE;
      return new FileChange(
          kind,
          fields.optionalText(FieldTag.PATH).orElse(path),
          (fields.number(FieldTag.FLAGS, 0) & Wire.WATCH_FOLDER) != 0);
    } catch (ProtocolViolation e) {
      throw from.protocolViolation(e.getMessage());
    }
  }

  private static FileChange.Kind kind(int event) {
    return switch (event) {
      case 1 -> FileChange.Kind.CREATED;
      case 2 -> FileChange.Kind.MODIFIED;
      case 3 -> FileChange.Kind.REMOVED;
      case 4 -> FileChange.Kind.MOVED_FROM;
      case 5 -> FileChange.Kind.MOVED_TO;
      case 6 -> FileChange.Kind.ATTRIBUTES;
      case 7 -> FileChange.Kind.OVERFLOW;
      default -> FileChange.Kind.ROOT_GONE;
    };
  }
}
