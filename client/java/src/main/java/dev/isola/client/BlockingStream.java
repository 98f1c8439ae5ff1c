package dev.isola.client;

import java.util.Optional;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads a source one element at a time, when the stream asks for it: nothing is buffered, so a slow
 * consumer slows down the sender. Never splits, because only one thread may read.
 *
 * @param source returns the next element, or empty at the end; may block
 */
record BlockingStream<T>(Supplier<Optional<T>> source) implements Spliterator<T> {
  /** Returns a stream of the elements; closing it runs {@code close}. */
  static <T> Stream<T> of(Supplier<Optional<T>> source, Runnable close) {
    return StreamSupport.stream(new BlockingStream<>(source), false).onClose(close);
  }

  @Override
  public boolean tryAdvance(Consumer<? super T> action) {
    Optional<T> next = source.get();
    next.ifPresent(action);
    return next.isPresent();
  }

  @Override
  public @Nullable Spliterator<T> trySplit() {
    return null;
  }

  @Override
  public long estimateSize() {
    return Long.MAX_VALUE;
  }

  @Override
  public int characteristics() {
    return ORDERED | NONNULL;
  }
}
