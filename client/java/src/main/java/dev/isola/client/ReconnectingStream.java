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
final class ReconnectingStream implements AutoCloseable {

  /** Makes something of an event. What it cannot read breaks the connection. */
  interface EventDecoder<T> {
    T decode(SseReader.Event event) throws IOException;
  }

  private final Transport transport;
  private final Supplier<ApiPath> address;
  private final String what;
  private final ReconnectBackoff patience;
  private volatile @Nullable SseReader stream;
  private volatile boolean closed;

  /**
   * @param address where to go on now
   * @param what is followed, for who closes it while another thread reads
   */
  ReconnectingStream(Transport transport, Supplier<ApiPath> address, String what) {
    this.transport = transport;
    this.address = address;
    this.what = what;
    patience = new ReconnectBackoff(transport.options().reconnectFor());
  }

  SseReader connect() {
    SseReader opened = new SseReader(transport.openOnce(address.get()));
    stream = opened;
    patience.connected();
    return opened;
  }

  /** Waits for the next event and returns what is made of it. */
  <T> T next(EventDecoder<T> reading) {
    while (true) {
      try {
        SseReader from = stream;
        if (from == null) {
          from = connect();
        }
        SseReader.Event event = from.next().orElseThrow(() -> new EOFException("the stream ended"));
        patience.dataReceived();
        return reading.decode(event);
      } catch (IOException e) {
        again(transport.unreachable(e));
      } catch (IsolaException e) {
        if (!Transport.isTransient(e)) {
          throw e;
        }
        again(e);
      }
    }
  }

  private void again(IsolaException failure) {
    disconnect();
    if (closed) {
      throw Problem.clientSide("CANCELLED", what + " closed", "follow it again").exception();
    }
    patience.awaitRetry(failure);
  }

  void disconnect() {
    SseReader old = stream;
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
