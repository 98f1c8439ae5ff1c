package dev.isola.link;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.codec.time.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the init of a virtual machine that dials the host for its boot record, through a unix
 * socket of the machine monitor. When the init has its record, the agent dials the same address for
 * the usual protocol, so that a listener is closed before an {@link UnixSocketAcceptor} is bound or
 * reclaimed there.
 */
public final class InitListener implements AutoCloseable {
  private static final byte[] WAITING = VirtioPortConnector.WAITING.getBytes(US_ASCII);
  private static final int MAX_CONNECTIONS = 4;
  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  private final Path path;
  private final UnixSocketAcceptor acceptor;
  private final BlockingQueue<AgentChannel> accepted = new ArrayBlockingQueue<>(MAX_CONNECTIONS);
  private final AtomicBoolean closed = new AtomicBoolean();

  private InitListener(Path path, UnixSocketAcceptor acceptor) {
    this.path = path;
    this.acceptor = acceptor;
  }

  /**
   * Listens, instead of any earlier listener on the same path.
   *
   * @param access makes the socket accessible to the machine monitor
   * @param alive reports whether the machine runs, so that it is worth waiting
   * @throws dev.isola.spi.error.InvalidRequest when the path is too long for a socket
   */
  public static InitListener bind(
      Path path, UnixSocketAcceptor.Access access, BooleanSupplier alive) throws IOException {
    InitListener listener = new InitListener(path, UnixSocketAcceptor.bind(path, access, alive));
    listener.acceptor.listen(listener::offer);
    return listener;
  }

  private void offer(AgentChannel channel) {
    if (closed.get() || !accepted.offer(channel)) {
      channel.close();
    }
  }

  /**
   * Waits until the init of the machine waits for its boot record: the machine can be saved then,
   * and its copies can be given records.
   *
   * @return the connection of the init. While it is open, the init does not dial; in a copy of the
   *     machine it is lost, and the init dials at once
   * @throws IOException if that takes too long
   */
  public AgentChannel awaitWaiting(Duration timeout) throws IOException {
    return awaitInit(Deadline.in(timeout));
  }

  /**
   * Gives the init of the machine its boot record, and waits until it hangs up, which it does when
   * it has read the record.
   *
   * @param record an encoded {@link BootRecord}
   * @throws IOException if that takes too long
   */
  public void boot(byte[] record, Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    try (AgentChannel channel = awaitInit(deadline)) {
      Thread watchdog = closeAt(channel, deadline);
      channel.write(ByteBuffer.wrap(record));
      if (read(channel, 1).length > 0) {
        throw new IOException("the init of the machine answered its boot record");
      }
      watchdog.interrupt();
    }
  }

  /** An init whose connection was lost dials again, so that a lost connection is no failure. */
  private AgentChannel awaitInit(Deadline deadline) throws IOException {
    IOException last = null;
    while (true) {
      AgentChannel channel = next(deadline);
      if (channel == null) {
        IOException late =
            new SocketTimeoutException(
                "the init of the machine did not ask for its boot record on "
                    + path
                    + " within "
                    + deadline.whole().toMillis()
                    + " ms");
        if (last != null) {
          late.addSuppressed(last);
        }
        throw late;
      }
      try {
        awaitLine(channel, deadline);
        return channel;
      } catch (IOException e) {
        channel.close();
        last = e;
      }
    }
  }

  private @Nullable AgentChannel next(Deadline deadline) throws IOException {
    try {
      AgentChannel channel = null;
      while (channel == null && !deadline.over()) {
        boolean alive = acceptor.isAgentAlive();
        channel = accepted.poll(POLL_INTERVAL.toNanos(), TimeUnit.NANOSECONDS);
        if (channel == null && !alive) {
          throw new EOFException("the machine ended before its init asked for its boot record");
        }
      }
      return channel;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the machine booted", e);
    }
  }

  private static void awaitLine(AgentChannel channel, Deadline deadline) throws IOException {
    Thread watchdog = closeAt(channel, deadline);
    byte[] line = read(channel, WAITING.length);
    watchdog.interrupt();
    if (!Arrays.equals(line, WAITING)) {
      throw new IOException("the machine sent something else than its init sends");
    }
  }

  /** Returns fewer bytes if the other end hangs up. */
  private static byte[] read(AgentChannel channel, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // Reads on until there is nothing more.
    }
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  /** Closes a channel at the deadline, unless the thread is interrupted before. */
  private static Thread closeAt(AgentChannel channel, Deadline deadline) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                Thread.sleep(deadline.left());
                channel.close();
              } catch (InterruptedException inTime) {
                // The init answered.
              }
            });
  }

  /** Removes the socket, so that the agent dials until there is another one. */
  @Override
  public void close() throws IOException {
    closed.set(true);
    try {
      acceptor.suspend();
    } finally {
      acceptor.close();
      for (AgentChannel channel = accepted.poll(); channel != null; channel = accepted.poll()) {
        channel.close();
      }
    }
  }
}
