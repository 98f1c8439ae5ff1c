package dev.isola.link;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

  /** How many marks were requested of the agent, and how many it has sent; guarded by reading. */
  private long requestedMarks;

  private long receivedMarks;

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
      long marks;
      Optional<FileChange> change;
      do {
        marks = receivedMarks;
        change = nextLocked(timeout);
      } while (change.isEmpty() && receivedMarks != marks);
      return change;
    } finally {
      reading.unlock();
    }
  }

  /**
   * Requests a mark of the agent, which follows every change made before this call, and reads up to
   * it. The kernel queues a change before the call that makes it returns, but the agent reads that
   * queue on its own thread: without the mark, changes may still be on their way.
   */
  @Override
  public List<FileChange> drain(int max) {
    reading.lock();
    try {
      if (ended || !requestMark()) {
        return Watch.super.drain(max);
      }
      Duration timeout = client.timeouts().responseTimeout();
      Deadline deadline = Deadline.in(timeout);
      List<FileChange> changes = new ArrayList<>();
      while (changes.size() < max && receivedMarks < requestedMarks && !ended) {
        Duration left = deadline.leftOrElseThrow(() -> stream.timedOut(timeout));
        nextLocked(left).ifPresent(changes::add);
      }
      return changes;
    } finally {
      reading.unlock();
    }
  }

  /** Returns false if the agent does not support marks, or its connection is lost. */
  private boolean requestMark() {
    LinkStream current = stream;
    if (!current.connection().welcome().features().contains(Wire.FEATURE_WATCH_MARKS)) {
      return false;
    }
    try {
      ByteBuffer request = ByteBuffer.allocate(1);
      if (!current.sendWindow().send(request, client.timeouts().responseTimeout())) {
        return false;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(client.id(), "watching");
    }
    requestedMarks++;
    return true;
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
    receivedMarks = requestedMarks; // the lost connection had the outstanding ones
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
      return item(from, frame);
    }
    boolean closed = ended;
    ended = true;
    if (frame.type() == Wire.ERROR && !closed) {
      throw from.error(frame).exception(client.id());
    }
    return Optional.empty();
  }

  /** Returns the change, or empty after a mark. */
  private Optional<FileChange> item(LinkStream from, Frame frame) {
    try {
      WireFields fields = WireFields.parse(frame.payload());
      int event = fields.range(FieldTag.EVENT, 1, Wire.WATCH_MARK);
      if (event == Wire.WATCH_MARK) {
        receivedMarks += marks(fields.number(FieldTag.COUNT));
        return Optional.empty();
      }
      FileChange.Kind kind = kind(event);
      ended |= kind == FileChange.Kind.ROOT_GONE;
      return Optional.of(
          new FileChange(
              kind,
              fields.optionalText(FieldTag.PATH).orElse(path),
              (fields.number(FieldTag.FLAGS, 0) & Wire.WATCH_FOLDER) != 0));
    } catch (ProtocolViolation e) {
      throw from.protocolViolation(e.getMessage());
    }
  }

  private long marks(long count) {
    long outstanding = requestedMarks - receivedMarks;
    if (count < 1 || count > outstanding) {
      throw new ProtocolViolation(
          count + " marks of a watch, of which " + outstanding + " are due");
    }
    return count;
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
