package dev.isola.server.peer;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.engine.api.SandboxHome;
import dev.isola.server.forward.ConnectionReader;
import dev.isola.server.forward.ResponseBody;
import dev.isola.server.forward.ResponseHead;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Connects to a port of a sandbox through the server that owns it. */
final class PeerDialer {
  static final String METHOD = "GET";

  private static final int MAX_ERROR = 64 * 1024;

  private final PeerConnections connections;
  private final String target;
  private PortDialing.@Nullable Connection connection;

  PeerDialer(PeerConnections connections, String target) {
    this.connections = connections;
    this.target = target;
  }

  static String target(SandboxId sandbox, int port) {
    return PeerServers.PORT_TEMPLATE
        .replace("{id}", sandbox.value())
        .replace("{port}", Integer.toString(port));
  }

  /** Returns the connection, after an attempt that was answered. */
  PortDialing.Connection connection() {
    return Objects.requireNonNull(connection, "not connected");
  }

  /** Tries to connect. Connecting changes nothing, so it can always be repeated. */
  PeerOutcome attempt(SandboxHome.At home, String statement) throws IOException {
    PeerConnection opened;
    try {
      opened = connections.connect(home);
    } catch (IOException e) {
      return PeerOutcome.UNREACHABLE;
    }
    boolean established = false;
    try {
      ConnectionReader in = new ConnectionReader(opened);
      String head =
          METHOD
              + " "
              + target
              + " HTTP/1.1\r\nHost: "
              + home.url().getAuthority()
              + "\r\nConnection: Upgrade\r\nUpgrade: "
              + PeerServers.PORT_PROTOCOL
              + "\r\n"
              + PeerServers.HEADER
              + ": "
              + statement
              + "\r\n\r\n";
      opened.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.ISO_8859_1)));
      ResponseHead response = ResponseHead.read(in);
      if (response.isSwitchingProtocols()) {
        connection = new BufferedConnection(opened, ByteBuffer.wrap(in.buffered()));
        established = true;
        return PeerOutcome.ANSWERED;
      }
      if (PeerHeaders.isMoved(response)) {
        return PeerOutcome.MOVED;
      }
      throw error(new ResponseBody(in, response.framing(METHOD)), home);
    } catch (IOException e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e; // the client disconnected, or the server is shutting down
      }
      return PeerOutcome.UNREACHABLE;
    } finally {
      if (!established) {
        opened.close();
      }
    }
  }

  /** Returns the error that the owner answered. */
  private static SandboxException error(ResponseBody body, SandboxHome.At home) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    byte[] buffer = new byte[8 * 1024];
    for (int read = body.read(buffer);
        read >= 0 && text.size() < MAX_ERROR;
        read = body.read(buffer)) {
      text.write(buffer, 0, read);
    }
    try {
      Map<String, Object> problem = Json.parseObject(text.toString(StandardCharsets.UTF_8));
      return Fault.of(
              ErrorCode.valueOf(String.valueOf(problem.get("code"))),
              String.valueOf(problem.get("detail")),
              String.valueOf(problem.getOrDefault("remedy", "")))
          .exception();
    } catch (MalformedJson | IllegalArgumentException e) {
      return Fault.of(
              ErrorCode.INTERNAL,
              "the server " + home.server() + " sent an unknown response",
              "run versions of Isola that are next to each other")
          .exception(e);
    }
  }

  /** A connection whose first bytes were read already. */
  private record BufferedConnection(PortDialing.Connection connection, ByteBuffer early)
      implements PortDialing.Connection {
    @Override
    public int read(ByteBuffer target) throws IOException {
      if (!early.hasRemaining()) {
        return connection.read(target);
      }
      int count = Math.min(early.remaining(), target.remaining());
      target.put(early.slice(early.position(), count));
      early.position(early.position() + count);
      return count;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      return connection.write(source);
    }

    @Override
    public void shutdownOutput() {
      connection.shutdownOutput();
    }

    @Override
    public boolean isOpen() {
      return connection.isOpen();
    }

    @Override
    public void close() throws IOException {
      connection.close();
    }
  }
}
