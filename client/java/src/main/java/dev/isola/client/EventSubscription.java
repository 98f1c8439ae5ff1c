package dev.isola.client;

import dev.isola.client.error.IsolaException;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes events to a handler until it is closed, on a thread of its own and over a connection of
 * its own. The handler gets one event at a time, in order. A slow handler delays only its own
 * events: they stay in the server's ledger, and no client buffers them. After a broken connection
 * or a restart of the server, the subscription continues behind the last event.
 *
 * <p>An exception of the handler is passed to the uncaught exception handler of the thread; the
 * subscription continues with the next event.
 */
public final class EventSubscription implements AutoCloseable {
  private final EventStream events;
  private final Consumer<EventStream.Event> handler;
  private final Transport transport;
  private volatile boolean closed;
  private volatile boolean open = true;
  private volatile @Nullable IsolaException failure;

  private EventSubscription(
      Transport transport, EventStream events, Consumer<EventStream.Event> handler) {
    this.transport = transport;
    this.events = events;
    this.handler = handler;
  }

  /** Connects and starts to deliver events: none that happens after the return is missed. */
  static EventSubscription start(
      Transport transport, EventFilter filter, Consumer<EventStream.Event> handler) {
    EventSubscription subscription =
        new EventSubscription(transport, new EventStream(transport, filter).connect(), handler);
    transport.register(subscription);
    Thread.ofVirtual().name("isola-events").start(subscription::deliverAll);
    return subscription;
  }

  private void deliverAll() {
    try {
      while (!closed) {
        deliver(events.next());
      }
    } catch (IsolaException e) {
      if (!closed) {
        failure = e;
      }
    } finally {
      open = false;
      close();
    }
  }

  private void deliver(EventStream.Event event) {
    if (closed) {
      return;
    }
    try {
      handler.accept(event);
    } catch (RuntimeException e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** Returns whether events are delivered. */
  public boolean isOpen() {
    return open && !closed;
  }

  /**
   * Returns why no more events are delivered: the key was revoked, or the server did not answer for
   * longer than {@link IsolaOptions#reconnectFor()}. Empty while the subscription is open, and if
   * it was closed.
   */
  public Optional<IsolaException> failure() {
    return Optional.ofNullable(failure);
  }

  /** Ends the subscription. A call of the handler that has begun may still be in progress. */
  @Override
  public void close() {
    closed = true;
    events.close();
    transport.unregister(this);
  }
}
