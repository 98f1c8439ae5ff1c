package dev.isola.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.Egress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the server reads in a connection, to apply rules of HTTP, counts like other bytes. */
class MeteredConnectionTest {
  private static final int BYTES = 30_000;

  private final MeteredConnection metered =
      new MeteredConnection(
          new EndlessConnection(),
          new TrafficBudget(Egress.Limits.NONE),
          new Bandwidth(1),
          new LongAdder(),
          new LongAdder());

  private interface Transfer {
    int run() throws IOException;
  }

  @Test
  void whatTheGuestProcessSendsWaitsForTheBandwidth() throws Exception {
    assertWaits(() -> metered.read(ByteBuffer.allocate(BYTES)));
  }

  @Test
  void whatTheGuestProcessReceivesWaitsForTheBandwidth() throws Exception {
    assertWaits(() -> metered.write(ByteBuffer.allocate(BYTES)));
  }

  /** At a byte per second the transfer would take hours, so it is interrupted. */
  private static void assertWaits(Transfer transfer) throws InterruptedException {
    AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    Thread thread =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    int _ = transfer.run();
                  } catch (IOException e) {
                    failure.set(e);
                  }
                });
    thread.interrupt();
    thread.join();
    assertThat(failure.get()).hasMessage("interrupted");
  }

  /** A connection that gives and takes all that is asked for. */
  private static final class EndlessConnection implements PortDialing.Connection {
    @Override
    public int read(ByteBuffer target) {
      return take(target);
    }

    @Override
    public int write(ByteBuffer source) {
      return take(source);
    }

    private static int take(ByteBuffer buffer) {
      int count = buffer.remaining();
      buffer.position(buffer.limit());
      return count;
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
