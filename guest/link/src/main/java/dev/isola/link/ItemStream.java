package dev.isola.link;

import java.time.Duration;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * ITEM frames as a lazy stream: entries are fetched on demand, and closing the stream cancels the
 * request.
 */
final class ItemStream<T> extends Spliterators.AbstractSpliterator<T> {
  static final int WINDOW = 256 * 1024;

  private final LinkStream stream;
  private final Duration timeout;
  private final Function<WireFields, T> convert;
  private @Nullable Frame ahead;

  private ItemStream(LinkStream stream, Duration timeout, Function<WireFields, T> convert) {
    super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
    this.stream = stream;
    this.timeout = timeout;
    this.convert = convert;
  }

  /** Waits for the first frame, so that a refusal is thrown here and not while consuming. */
  static <T> Stream<T> open(LinkStream stream, Duration timeout, Function<WireFields, T> convert) {
    ItemStream<T> items = new ItemStream<>(stream, timeout, convert);
    items.ahead = items.fetch();
    return StreamSupport.stream(items, false).onClose(stream::cancel);
  }

  @Override
  public boolean tryAdvance(Consumer<? super T> action) {
    Frame frame = ahead == null ? fetch() : ahead;
    ahead = null;
    if (frame.type() == Wire.END) {
      ahead = frame;
      return false;
    }
    T item;
    try {
      item = convert.apply(WireFields.parse(frame.payload()));
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
    action.accept(item);
    return true;
  }

  private Frame fetch() {
    Frame frame = stream.nextOrFail(timeout);
    if (frame.type() == Wire.ERROR) {
      throw stream.error(frame).exception(stream.connection().id());
    }
    return frame;
  }
}
