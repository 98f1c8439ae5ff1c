package dev.isola.provider.docker.http;

import dev.isola.codec.http.HttpConnection;
import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A hijacked connection: after the upgrade, raw bytes flow in both directions. */
public final class HijackedConnection implements AutoCloseable {
  private final HttpConnection exchange;
  private volatile @Nullable Future<?> timer;

  HijackedConnection(HttpConnection exchange) {
    this.exchange = exchange;
  }

  public InputStream in() {
    return exchange.raw();
  }

  /** Writes all remaining bytes of {@code source}. */
  public void write(ByteBuffer source) throws IOException {
    exchange.transport().write(source);
  }

  /** Half-closes the connection; output can still be read. */
  public void shutdownOutput() throws IOException {
    exchange.transport().shutdownOutput();
  }

  /** Closes the connection at {@code deadline} unless closed before. */
  public void closeAt(Deadline deadline) {
    timer = Watchdog.at(deadline, this::close);
  }

  @Override
  public void close() {
    Future<?> waiting = timer;
    if (waiting != null) {
      waiting.cancel(false);
    }
    exchange.transport().close();
  }
}
