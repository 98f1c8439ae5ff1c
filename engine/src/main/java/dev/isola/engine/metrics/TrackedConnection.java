package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.capability.PortDialing.Connection;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection to a port of a sandbox that counts as activity until it is closed. */
record TrackedConnection(Connection inner, ActivityTracker.Activity use) implements Connection {
  @Override
  public void shutdownOutput() {
    inner.shutdownOutput();
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    return inner.read(into);
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    return inner.write(from);
  }

  @Override
  public boolean isOpen() {
    return inner.isOpen();
  }

  @Override
  public void close() throws IOException {
    try (use) {
      inner.close();
    }
  }
}
