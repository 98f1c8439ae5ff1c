package dev.isola.client;

import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Changes in a folder of a sandbox. After a broken connection or a restart of the server, the watch
 * is established again and an {@link FileChange.Kind#OVERFLOW} reports that changes may be missing.
 *
 * <p>Only one thread may read; any thread may close.
 */
public final class FileWatch implements AutoCloseable {
  private final ReconnectingStream stream;
  private boolean established;
  private boolean ended;
  private volatile boolean closed;

  private FileWatch(Transport transport, ApiPath endpoint) {
    stream = new ReconnectingStream(transport, () -> endpoint, "the watch was");
  }

  /** Opens a watch and waits until it is established. */
  static FileWatch open(Transport transport, ApiPath endpoint) {
    FileWatch watch = new FileWatch(transport, endpoint);
    try {
      while (!watch.established) {
        watch.stream.next(watch::decode);
      }
      return watch;
    } catch (RuntimeException e) {
      watch.close();
      throw e;
    }
  }

  /**
   * Waits for the next change. Returns empty once the watch is closed or the folder was removed.
   */
  public Optional<FileChange> next() {
    while (!ended && !closed) {
      try {
        Optional<FileChange> change = stream.next(this::decode);
        if (change.isPresent()) {
          return change;
        }
      } catch (RuntimeException e) {
        if (!closed) {
          throw e;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the changes as a stream, which ends when the folder is removed or the watch is closed.
   * Closing the stream closes the watch.
   */
  public Stream<FileChange> changes() {
    return BlockingStream.of(this::next, this::close);
  }

  /** Calls {@code action} with each change, until the folder is removed or the watch is closed. */
  public void forEach(Consumer<FileChange> action) {
    for (Optional<FileChange> change = next(); change.isPresent(); change = next()) {
      action.accept(change.get());
    }
  }

  private Optional<FileChange> decode(SseReader.Event event) throws IOException {
    JsonFields fields = fields(event);
    return switch (event.type()) {
      case "watching" -> {
        boolean again = established;
        established = true;
        yield again ? Optional.of(FileChange.OVERFLOW) : Optional.empty();
      }
      case "change" -> Optional.of(FileChange.read(fields));
      case "overflow" -> Optional.of(FileChange.OVERFLOW);
      case "gone" -> {
        ended = true;
        stream.disconnect();
        yield Optional.of(FileChange.GONE);
      }
      case "error" -> throw Execution.streamError(fields).exception();
      default -> Optional.empty(); // event type of a newer server
    };
  }

  private static JsonFields fields(SseReader.Event event) throws IOException {
    try {
      return JsonFields.parse(event.data());
    } catch (MalformedJson e) {
      throw new IOException("an event is malformed", e);
    }
  }

  @Override
  public void close() {
    closed = true;
    stream.close();
  }
}
