package dev.isola.egress;

import dev.isola.egress.Bandwidth.Direction;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a guest process sends and receives, and applies the limits of its sandbox. */
record MeteredConnection(
    PortDialing.Connection inner,
    TrafficBudget budget,
    Bandwidth bandwidth,
    LongAdder sent,
    LongAdder received)
    implements PortDialing.Connection {
  @Override
  public int read(ByteBuffer target) throws IOException {
    int count = inner.read(target);
    if (count > 0) {
      spend(Direction.SENT, count);
      sent.add(count);
    }
    return count;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int count = inner.write(source);
    spend(Direction.RECEIVED, count);
    received.add(count);
    return count;
  }

  private void spend(Direction direction, int count) throws IOException {
    try {
      budget.spend(count);
      bandwidth.spend(direction, count);
    } catch (Refusal e) {
      throw new IOException(e.reason(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void shutdownOutput() {
    inner.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return inner.isOpen();
  }

  @Override
  public void close() throws IOException {
    inner.close();
  }
}
