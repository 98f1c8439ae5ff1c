package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a connection is retried, and what ends the retries. */
@Timeout(20)
class AgentClientConnectTest {
  private static final LinkTimeouts SHORT =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofMillis(300))
          .withHandshakeTimeout(Duration.ofMillis(300));

  /** Accepts the connection and sends nothing until it is closed. */
  private static final class SilentChannel implements AgentChannel {
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public int read(ByteBuffer target) throws IOException {
      try {
        closed.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return -1;
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      source.position(source.limit());
    }

    @Override
    public boolean isConnectionOriented() {
      return true;
    }

    @Override
    public boolean supportsVirtualThreads() {
      return true;
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  private static AgentClient client(AgentConnector connector, LinkTimeouts options) {
    return new AgentClient(new SandboxId("abc"), connector, BootRecord.newSecret(), options);
  }

  @Test
  void noAttemptIsMadeWithoutTimeLeft() {
    List<Duration> timeouts = new CopyOnWriteArrayList<>();
    AgentConnector mute =
        left -> {
          timeouts.add(left);
          return new SilentChannel();
        };
    try (AgentClient client = client(mute, SHORT)) {
      assertThatThrownBy(client::connection)
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("no handshake within");
    }
    // A timer that fires early can cause one more attempt, whose timeout is not a nanosecond.
    assertThat(timeouts).isNotEmpty().allMatch(left -> left.compareTo(Duration.ofNanos(1)) > 0);
  }

  @Test
  void sandboxEndingDuringHandshakeIsGoneAtOnce() {
    CountDownLatch opened = new CountDownLatch(1);
    AgentConnector mute =
        left -> {
          opened.countDown();
          return new SilentChannel();
        };
    LinkTimeouts patient =
        SHORT.withConnectTimeout(Duration.ofHours(1)).withHandshakeTimeout(Duration.ofHours(1));
    try (AgentClient client = client(mute, patient)) {
      Thread.startVirtualThread(
          () -> {
            try {
              opened.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            client.markGone("its container ended");
          });
      assertThatThrownBy(client::connection)
          .isInstanceOf(Gone.class)
          .hasMessageContaining("its container ended");
    }
  }

  @Test
  void permanentlyAbsentAgentIsNotRetried() {
    List<Duration> timeouts = new CopyOnWriteArrayList<>();
    AgentConnector ended =
        left -> {
          timeouts.add(left);
          throw AgentAbsentException.permanent("its container has ended", null);
        };
    try (AgentClient client =
        client(ended, LinkTimeouts.DEFAULT.withConnectTimeout(Duration.ofHours(1)))) {
      assertThatThrownBy(client::connection).isInstanceOf(Gone.class);
      assertThatThrownBy(client::connection).isInstanceOf(Gone.class);
      assertThat(client.goneReason()).isPresent();
    }
    assertThat(timeouts).as("number of attempts").hasSize(1);
  }
}
