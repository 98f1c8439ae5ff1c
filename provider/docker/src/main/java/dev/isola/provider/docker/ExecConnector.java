package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import dev.isola.provider.docker.http.HijackedConnection;
import dev.isola.spi.error.SandboxException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Connects to an agent whose socket is not on this host: the engine starts a process in the
 * container that relays its standard input and output to the socket. A connection costs one exec of
 * the engine; commands cost the same as with a local socket.
 */
record ExecConnector(EngineApi engine, String container) implements AgentConnector {
  /** How long the engine may take to report whether an unreachable container has ended. */
  private static final Duration STATE_TIMEOUT = Duration.ofSeconds(2);

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

  /** Returns false if the engine does not respond; the next call asks again. */
  private boolean ended() {
    try {
      return engine
          .inspect(container, Deadline.in(STATE_TIMEOUT))
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

  /** The engine's stream: input is raw, output is framed. */
  private static final class ExecChannel implements AgentChannel {
    private static final int HEADER = 8;
    private static final int STDOUT = 1;
    private static final int PIECE = 64 * 1024;
    private static final int MAX_ERROR = 200;

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
        throw new EOFException("the engine closed the stream within a frame");
      }
      if (!begun && piece[0] != 0) {
        throw new IOException("the exec failed: " + command(count));
      }
      begun = true;
      target.put(piece, 0, count);
      left -= count;
      return count;
    }

    /**
     * Returns the error message of an exec that failed after it started. It arrives in place of the
     * agent's first bytes, as one short frame.
     */
    private String command(int count) {
      return new String(piece, 0, Math.min(count, MAX_ERROR), US_ASCII)
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
