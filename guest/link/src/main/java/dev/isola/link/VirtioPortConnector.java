package dev.isola.link;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.time.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the init of a virtual machine through one of its virtio ports, whose other end is a
 * unix socket of the machine monitor. The port transfers bytes only, so each side may miss that the
 * other one has gone and come back.
 */
public final class VirtioPortConnector implements AgentConnector {
  /** What an init sends while it waits for its boot record. */
  static final String WAITING = "isola-waiting-1\n";

  /** Ends the connection that the agent may believe to have; see PROTOCOL.md. */
  private static final byte[] RESET = new byte[Wire.HEADER];

  /** More than the interval at which an agent repeats its CHALLENGE. */
  private static final Duration SILENCE = Duration.ofSeconds(2);

  private static final int PIECE = 4096;
  private static final int READ_MAX = 1 << 20;

  static {
    Arrays.fill(RESET, (byte) 0xff);
  }

  /** Connects to the port of a machine. A monitor may be asked to give up another connection. */
  @FunctionalInterface
  public interface PortOpener {
    /**
     * @param timeout how long to try at most
     * @throws AgentAbsentException when the machine does not run
     */
    SocketChannel connect(Duration timeout) throws IOException;
  }

  private final PortOpener socket;

  /** The connection over which the machine got its boot record, for the first {@link #open}. */
  private final AtomicReference<@Nullable AgentChannel> booted = new AtomicReference<>();

  public VirtioPortConnector(PortOpener socket) {
    this.socket = socket;
  }

  /**
   * Creates a connector to a monitor that listens.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the path is too long for a socket
   */
  VirtioPortConnector(Path socket) {
    this(new UnixSocketConnector(socket)::connect);
  }

  /**
   * Waits until the init of the machine waits for its boot record, and hangs up: the machine can be
   * saved then, and its copies can be given records.
   *
   * @throws IOException if that takes too long, or the machine ends
   */
  public void awaitWaiting(Duration timeout) throws IOException {
    try (SocketChannel channel = socket.connect(timeout)) {
      awaitText(channel, WAITING, timeout);
    }
  }

  /**
   * Gives the init of the machine its boot record, and waits until the machine is set up. The next
   * {@link #open} uses the same connection.
   *
   * @param record an encoded {@link BootRecord}
   * @throws IOException if that takes too long, or the machine ends
   */
  public void boot(byte[] record, Duration timeout) throws IOException {
    SocketChannel channel = socket.connect(timeout);
    try {
      write(channel, record);
      byte[] seen = awaitText(channel, Wire.MAGIC_TEXT, timeout); // the first field of a CHALLENGE
      keep(new ReplayingChannel(new SocketAgentChannel(channel, false), ByteBuffer.wrap(seen)));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private void keep(@Nullable AgentChannel channel) {
    AgentChannel unused = booted.getAndSet(channel);
    if (unused != null) {
      unused.close();
    }
  }

  /** Connects, repeatedly if the agent is silent, since it may have missed the end of a frame. */
  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    AgentChannel first = booted.getAndSet(null);
    return first == null ? connect(timeout) : first;
  }

  @Override
  public void close() {
    keep(null);
  }

  private AgentChannel connect(Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      Duration left = deadline.left();
      SocketChannel channel = socket.connect(left);
      boolean answered = false;
      try {
        write(channel, RESET);
        answered = awaitBytes(channel, left.compareTo(SILENCE) < 0 ? left : SILENCE);
        if (answered) {
          return new SocketAgentChannel(channel, false);
        }
      } finally {
        if (!answered) {
          channel.close();
        }
      }
      if (deadline.over()) {
        throw new SocketTimeoutException(
            "the agent was silent on " + socket + " for " + timeout.toMillis() + " ms");
      }
    }
  }

  private static void write(SocketChannel channel, byte[] bytes) throws IOException {
    ByteBuffer source = ByteBuffer.wrap(bytes);
    while (source.hasRemaining()) {
      channel.write(source);
    }
  }

  /** Reads up to a text that the init sends, whatever comes before it; returns what it read. */
  private byte[] awaitText(SocketChannel channel, String text, Duration timeout)
      throws IOException {
    Deadline deadline = Deadline.in(timeout);
    ByteBuffer piece = ByteBuffer.allocate(PIECE);
    StringBuilder seen = new StringBuilder();
    while (seen.length() < READ_MAX) {
      if (!awaitBytes(channel, deadline.left())) {
        throw new SocketTimeoutException(
            "the init of the machine was not ready on "
                + socket
                + " within "
                + timeout.toMillis()
                + " ms");
      }
      if (channel.read(piece.clear()) < 0) {
        throw new EOFException("the machine at " + socket + " ended");
      }
      int from = Math.max(0, seen.length() - text.length());
      seen.append(new String(piece.array(), 0, piece.position(), ISO_8859_1));
      if (seen.indexOf(text, from) >= 0) {
        return seen.toString().getBytes(ISO_8859_1);
      }
    }
    throw new IOException("the init of the machine sent something else on " + socket);
  }

  /** Returns whether bytes, or the end of the channel, arrive in time. */
  private static boolean awaitBytes(SocketChannel channel, Duration timeout) throws IOException {
    channel.configureBlocking(false);
    try (Selector selector = Selector.open()) {
      SelectionKey unused = channel.register(selector, SelectionKey.OP_READ);
      return unused.isValid() && selector.select(Math.max(1, timeout.toMillis())) > 0;
    } finally {
      channel.configureBlocking(true);
    }
  }

  @Override
  public String toString() {
    return "virtio port at " + socket;
  }
}
