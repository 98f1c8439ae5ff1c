package dev.isola.provider.docker.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A connection that the engine gave over: from now on bytes go both ways, without HTTP. */
public final class HijackedConnection implements AutoCloseable {
  private final HttpConnection exchange;
  private volatile @Nullable Future<?> timer;

  HijackedConnection(HttpConnection exchange) {
    this.exchange = exchange;
  }

  public InputStream in() {
    return exchange.raw();
  }

  /** Writes all that remains in {@code source}. */
  public void write(ByteBuffer source) throws IOException {
    exchange.transport().write(source);
  }

  /** Ends what goes in; what comes out is still read. */
  public void shutdownOutput() throws IOException {
    exchange.transport().shutdownOutput();
  }

  /** Closes it when {@code deadline} passes, unless it was closed before. */
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
