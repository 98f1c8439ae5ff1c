package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import java.io.EOFException;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A stream of events that is connected again after the connection broke or the server was
 * restarted, at wherever the follower is by then. One thread follows; any may close.
 */
final class Following implements AutoCloseable {

  /** Makes something of an event. What it cannot read breaks the connection. */
  interface Reading<T> {
    T of(Sse.Event event) throws IOException;
  }

  private final Transport transport;
  private final Supplier<Address> address;
  private final String what;
  private final Patience patience;
  private volatile @Nullable Sse stream;
  private volatile boolean closed;

  /**
   * @param address where to go on now
   * @param what is followed, for who closes it while another thread reads
   */
  Following(Transport transport, Supplier<Address> address, String what) {
    this.transport = transport;
    this.address = address;
    this.what = what;
    patience = new Patience(transport.options().reconnectFor());
  }

  Sse connect() {
    Sse opened = new Sse(transport.openOnce(address.get()));
    stream = opened;
    patience.connected();
    return opened;
  }

  /** Waits for the next event and returns what is made of it. */
  <T> T next(Reading<T> reading) {
    while (true) {
      try {
        Sse from = stream;
        if (from == null) {
          from = connect();
        }
        Sse.Event event = from.next().orElseThrow(() -> new EOFException("the stream ended"));
        patience.heard();
        return reading.of(event);
      } catch (IOException e) {
        again(transport.unreachable(e));
      } catch (IsolaException e) {
        if (!Transport.passing(e)) {
          throw e;
        }
        again(e);
      }
    }
  }

  private void again(IsolaException failure) {
    disconnect();
    if (closed) {
      throw Problem.here("CANCELLED", what + " closed", "follow it again").exception();
    }
    patience.pause(failure);
  }

  void disconnect() {
    Sse old = stream;
    stream = null;
    if (old != null) {
      old.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }
}
