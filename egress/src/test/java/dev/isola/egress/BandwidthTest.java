package dev.isola.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.egress.Bandwidth.Direction;
import org.junit.jupiter.api.Test;

/** S2: the bandwidth of a sandbox whose connections the server carries. */
class BandwidthTest {
  private static long nanosFor(Bandwidth bandwidth, Direction direction, int count)
      throws InterruptedException {
    long start = System.nanoTime();
    bandwidth.spend(direction, count);
    return System.nanoTime() - start;
  }

  @Test
  void eachDirectionHasItsOwn() throws Exception {
    for (Direction direction : Direction.values()) {
      Bandwidth bandwidth = new Bandwidth(100_000);
      assertThat(nanosFor(bandwidth, direction, 30_000)).isGreaterThanOrEqualTo(250_000_000L);
      assertThat(nanosFor(bandwidth, direction, 20_000)).isGreaterThanOrEqualTo(150_000_000L);
    }
  }

  @Test
  void bytesOfAllConnectionsCountTogether() throws Exception {
    Bandwidth bandwidth = new Bandwidth(100_000);
    long start = System.nanoTime();
    Thread[] connections = new Thread[4];
    for (int i = 0; i < connections.length; i++) {
      connections[i] =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      bandwidth.spend(Direction.SENT, 10_000);
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  });
    }
    for (Thread connection : connections) {
      connection.join();
    }
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(300_000_000L);
  }
}
