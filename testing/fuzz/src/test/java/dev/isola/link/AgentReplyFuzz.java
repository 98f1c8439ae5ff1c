package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An agent authenticates, answers the first request with the input and hangs up. Every call ends
 * with a result or a {@link SandboxException}, the threads of the connection end, and all pooled
 * buffers are returned. The first byte selects the call.
 */
public final class AgentReplyFuzz {
  private static final SandboxId ID = new SandboxId("fuzz");
  private static final Secret SECRET = BootRecord.newSecret();
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LinkTimeouts TIMEOUTS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(LONG)
          .withHandshakeTimeout(LONG)
          .withResponseTimeout(LONG)
          .withLongResponseTimeout(LONG);
  private static final TreeLimits LIMITS = new TreeLimits(1 << 20, 1000);
  private static final AtomicReference<@Nullable Throwable> UNCAUGHT = new AtomicReference<>();

  static {
    Thread.setDefaultUncaughtExceptionHandler((_, failure) -> UNCAUGHT.set(failure));
  }

  /** The agent's side of a connection. */
  private static final class HostileChannel implements AgentChannel {
    private final PeerHandshake handshake = new PeerHandshake(SECRET);
    private final PeerFrames requests = new PeerFrames(this::take);
    private final byte[] reply;
    private ByteBuffer readable;
    private boolean replied;
    private boolean closed;

    HostileChannel(byte[] reply) {
      this.reply = reply;
      readable = ByteBuffer.wrap(handshake.challenge());
    }

    @Override
    public synchronized int read(ByteBuffer target) throws IOException {
      while (!readable.hasRemaining() && !replied && !closed) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new ClosedChannelException();
        }
      }
      if (closed) {
        throw new ClosedChannelException();
      }
      if (!readable.hasRemaining()) {
        return -1;
      }
      int count = Math.min(readable.remaining(), target.remaining());
      target.put(readable.slice(readable.position(), count));
      readable.position(readable.position() + count);
      return count;
    }

    @Override
    public synchronized void write(ByteBuffer source) throws IOException {
      if (closed) {
        throw new ClosedChannelException();
      }
      requests.add(source);
    }

    private void take(Frame frame) {
      if (frame.type() == Wire.HELLO) {
        append(
            handshake.welcome(
                frame.payload(), new Handshake.Welcome("fuzz", "fuzz", 1, 65_536, List.of())));
      } else if (!replied) {
        replied = true;
        append(reply);
      }
    }

    private void append(byte[] bytes) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.write(readable.array(), readable.position(), readable.remaining());
      all.writeBytes(bytes);
      readable = ByteBuffer.wrap(all.toByteArray());
      notifyAll();
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
    public synchronized void close() {
      closed = true;
      notifyAll();
    }
  }

  private AgentReplyFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    if (input.length == 0) {
      return;
    }
    byte[] reply = new byte[input.length - 1];
    System.arraycopy(input, 1, reply, 0, reply.length);
    boolean[] opened = new boolean[1];
    AgentConnector connector =
        _ -> {
          if (opened[0]) {
            throw AgentAbsentException.permanent("the agent has ended", null);
          }
          opened[0] = true;
          return new HostileChannel(reply);
        };
    try (AgentClient client = new AgentClient(ID, connector, SECRET, TIMEOUTS)) {
      AgentConnection connection = client.connection();
      try {
        call(client, input[0] & 0xff);
      } catch (SandboxException | UncheckedIOException e) {
        // How a call may fail.
      } finally {
        connection.close();
      }
      requireEnd(connection);
    }
  }

  private static void requireEnd(AgentConnection connection) throws InterruptedException {
    for (Thread thread : connection.threads()) {
      if (!thread.join(LONG)) {
        throw new AssertionError("the thread " + thread.getName() + " has not ended");
      }
    }
    Throwable uncaught = UNCAUGHT.getAndSet(null);
    if (uncaught != null) {
      throw new AssertionError("a thread of the connection failed", uncaught);
    }
    if (BufferPool.SHARED.inUse() != 0) {
      throw new AssertionError(BufferPool.SHARED.inUse() + " buffers were not returned");
    }
  }

  private static void call(AgentClient client, int number) throws IOException {
    AgentFiles files = new AgentFiles(client);
    switch (number % 10) {
      case 0 -> files.stat("/x");
      case 1 -> {
        try (Stream<?> list = files.list("/x", 3)) {
          list.forEach(_ -> {});
        }
      }
      case 2 -> {
        try (InputStream in = files.read("/x", ReadRange.ALL)) {
          in.readAllBytes();
        } catch (IOException e) {
          // The sandbox went away while its file was read.
        }
      }
      case 3 -> files.attributes("/x");
      case 4 -> files.importTree("/x", new ByteArrayInputStream(new byte[10_240]), LIMITS);
      case 5 -> {
        try (Execution run =
            new AgentExecutions(client, Optional.empty()).start(Command.argv("true").withStdin())) {
          while (run.read().isPresent()) {
            // Discards output.
          }
          run.await();
        }
      }
      case 6 -> new AgentExecutions(client, Optional.empty()).executions();
      case 7 -> AgentWatch.open(client, "/x", true).next(Duration.ofSeconds(1));
      case 8 ->
          new AgentExecutions(client, Optional.empty()).attach(new ExecutionId("1"), 0).await();
      default -> client.connection().ping(LONG);
    }
  }
}
