package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import dev.isola.provider.docker.http.Deadline;
import dev.isola.provider.docker.http.HijackedConnection;
import dev.isola.spi.error.SandboxException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Reaches an agent whose socket is not one of this machine: the engine starts a process in the
 * container that joins its standard input and output to the socket. One connection costs an exec of
 * the engine's; commands then cost what they cost elsewhere.
 */
record ExecConnector(EngineApi engine, String container) implements AgentConnector {
  /** How long the engine may take to say whether a container that cannot be reached has ended. */
  private static final Duration LAST_LOOK = Duration.ofSeconds(2);

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    try {
      return new ExecChannel(engine.openAgentRelay(container, Deadline.in(timeout)));
    } catch (SandboxException e) {
      if (ended()) {
        throw AgentAbsentException.permanent("its container has ended", e);
      }
      throw new IOException(e.fault().problem(), e);
    }
  }

  /** An engine that does not say so may be asked again by the next call. */
  private boolean ended() {
    try {
      return engine
          .inspect(container, Deadline.in(LAST_LOOK))
          .filter(node -> node.flag("State", "Running"))
          .isEmpty();
    } catch (SandboxException nobodyKnows) {
      return false;
    }
  }

  @Override
  public String toString() {
    return "exec in " + container;
  }

  /** The engine's stream: what goes in is plain, what comes out is in frames. */
  private static final class ExecChannel implements AgentChannel {
    private static final int HEADER = 8;
    private static final int STDOUT = 1;
    private static final int PIECE = 64 * 1024;
    private static final int LONGEST_WORDS = 200;

    private final HijackedConnection stdio;
    private final InputStream in;
    private final byte[] piece = new byte[PIECE];
    private long left;
    private boolean begun;

    private ExecChannel(HijackedConnection stdio) {
      this.stdio = stdio;
      this.in = stdio.in();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      while (left == 0) {
        byte[] header = in.readNBytes(HEADER);
        if (header.length < HEADER) {
          return -1;
        }
        left = ByteBuffer.wrap(header, 4, 4).getInt() & 0xffffffffL;
        if (header[0] != STDOUT) {
          in.skipNBytes(left);
          left = 0;
        }
      }
      int count = in.read(piece, 0, (int) Math.min(left, Math.min(PIECE, target.remaining())));
      if (count < 0) {
        throw new EOFException("the engine ended in the middle of a frame");
      }
      if (!begun && piece[0] != 0) {
        throw new IOException("the engine said: " + words(count));
      }
      begun = true;
      target.put(piece, 0, count);
      left -= count;
      return count;
    }

    /**
     * An exec that fails after all is told in words where the agent's first bytes should be, the
     * length of a short frame.
     */
    private String words(int count) {
      return new String(piece, 0, Math.min(count, LONGEST_WORDS), US_ASCII)
          .replaceAll("[^ -~]", " ")
          .strip();
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      stdio.write(source);
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
      stdio.close();
    }
  }
}
