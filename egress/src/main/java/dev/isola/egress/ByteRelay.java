package dev.isola.egress;

import dev.isola.egress.Bandwidth.Direction;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.atomic.LongAdder;

/**
 * Copies bytes between a guest process and another host until both sides have ended. Each side can
 * end its output alone. An error on one side closes both.
 */
final class ByteRelay {
  private final PortDialing.Connection client;
  private final SocketChannel host;
  private final TrafficBudget budget;
  private final Bandwidth bandwidth;
  private final LongAdder sent;
  private final LongAdder received;

  ByteRelay(
      PortDialing.Connection client,
      SocketChannel host,
      TrafficBudget budget,
      Bandwidth bandwidth,
      LongAdder sent,
      LongAdder received) {
    this.client = client;
    this.host = host;
    this.budget = budget;
    this.bandwidth = bandwidth;
    this.sent = sent;
    this.received = received;
  }

  /** Returns when both directions have ended. */
  void run() throws Refusal, IOException, InterruptedException {
    Thread toHost = Thread.ofVirtual().name("isola-egress-send").start(this::send);
    boolean complete = false;
    try {
      copy(host, client, Direction.RECEIVED);
      client.shutdownOutput();
      toHost.join();
      complete = true;
    } finally {
      if (!complete) {
        close();
        toHost.join();
      }
    }
  }

  private void send() {
    boolean complete = false;
    try {
      copy(client, host, Direction.SENT);
      host.shutdownOutput();
      complete = true;
    } catch (IOException | Refusal e) {
      // Ends both directions, which the other thread reports.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  private void copy(ReadableByteChannel from, WritableByteChannel to, Direction direction)
      throws IOException, Refusal, InterruptedException {
    LongAdder count = direction == Direction.SENT ? sent : received;
    ByteBuffer buffer = CopyBuffers.take();
    try {
      while (from.read(buffer.clear()) >= 0) {
        buffer.flip();
        budget.spend(buffer.remaining());
        bandwidth.spend(direction, buffer.remaining());
        count.add(buffer.remaining());
        while (buffer.hasRemaining()) {
          to.write(buffer);
        }
      }
    } finally {
      CopyBuffers.giveBack(buffer);
    }
  }

  private void close() {
    try {
      host.close();
      client.close();
    } catch (IOException e) {
      throw new UncheckedIOException("a connection cannot be closed", e);
    }
  }
}
