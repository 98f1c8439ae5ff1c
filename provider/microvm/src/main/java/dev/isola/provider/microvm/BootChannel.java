package dev.isola.provider.microvm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The channel to the agent of a machine. An agent without a boot record sends a line again and
 * again until it gets one; after that the channel carries the usual protocol.
 */
public final class BootChannel implements AgentConnector {
  /** What an agent without a boot record sends. */
  public static final String WAITING = "isola-waiting-1\n";

  private final AgentConnector connector;
  private final AtomicReference<@Nullable AgentChannel> opened = new AtomicReference<>();

  /**
   * @param connector opens the channel
   */
  public BootChannel(AgentConnector connector) {
    this.connector = connector;
  }

  /** Waits until the agent asks for its boot record; returns the channel on which it did. */
  public AgentChannel awaitAgent(Duration timeout) throws IOException {
    AgentChannel channel = connector.open(timeout);
    Thread watchdog = Thread.ofVirtual().start(() -> closeAfter(channel, timeout));
    try {
      awaitLine(channel);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    } finally {
      watchdog.interrupt();
    }
  }

  private static void closeAfter(AgentChannel channel, Duration timeout) {
    try {
      Thread.sleep(timeout);
      channel.close();
    } catch (InterruptedException inTime) {
      // The agent answered.
    }
  }

  private static void awaitLine(AgentChannel channel) throws IOException {
    byte[] line = WAITING.getBytes(US_ASCII);
    ByteBuffer one = ByteBuffer.allocate(1);
    int matched = 0;
    while (matched < line.length) {
      one.clear();
      if (channel.read(one) < 0) {
        throw new IOException("the machine closed the channel before its agent was ready");
      }
      byte next = one.get(0);
      matched = next == line[matched] ? matched + 1 : next == line[0] ? 1 : 0;
    }
  }

  /** Sends a boot record; the next {@link #open} continues on the same channel. */
  public void boot(byte[] record, Duration timeout) throws IOException {
    AgentChannel channel = awaitAgent(timeout);
    try {
      channel.write(ByteBuffer.wrap(record));
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    AgentChannel previous = opened.getAndSet(channel);
    if (previous != null) {
      previous.close();
    }
  }

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    AgentChannel first = opened.getAndSet(null);
    return first != null ? first : connector.open(timeout);
  }

  @Override
  public void close() {
    AgentChannel first = opened.getAndSet(null);
    if (first != null) {
      first.close();
    }
    connector.close();
  }
}
