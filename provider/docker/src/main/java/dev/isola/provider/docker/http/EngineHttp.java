package dev.isola.provider.docker.http;

import dev.isola.codec.http.HttpConnection;
import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.http.HttpTransport;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP client for one engine. Every call ends by its deadline, and a request that may have
 * changed state is never sent twice. Thread-safe.
 */
public final class EngineHttp implements AutoCloseable {
  private static final int MAX_IDLE = 4;
  private static final int MAX_RESPONSE = 16 << 20;

  private final EngineAddress address;
  private final ConcurrentLinkedDeque<HttpConnection> idle = new ConcurrentLinkedDeque<>();
  private volatile boolean closed;

  public EngineHttp(EngineAddress address) {
    this.address = address;
  }

  public EngineAddress address() {
    return address;
  }

  /**
   * Sends a request and returns the complete response, which may be an error.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the engine is unreachable, does not respond
   *     in time, or does not respond with HTTP
   * @throws dev.isola.spi.error.OutcomeUnknown if that happens after a mutating request was sent
   * @throws dev.isola.spi.error.DeadlineExceeded if the deadline has already passed; nothing is
   *     sent
   */
  public EngineResponse send(HttpRequest request, Deadline deadline) {
    return new Attempt(request, deadline).ask();
  }

  /** Reads a streamed response; closing the stream ends it. */
  public interface Reader {
    void read(InputStream body) throws IOException;
  }

  /**
   * Sends a request and reads the streamed response. Closing {@code cancel} ends the stream.
   *
   * @return the response if it is an error, otherwise an empty one at the end of the stream
   */
  public EngineResponse stream(
      HttpRequest request, Deadline deadline, Cancellation cancel, Reader reader) {
    return new Attempt(request, deadline).stream(cancel, reader);
  }

  /** Ends a stream from another thread. */
  public static final class Cancellation implements AutoCloseable {
    private final AtomicReference<@Nullable AutoCloseable> target = new AtomicReference<>();
    private volatile boolean cancelled;

    private void of(AutoCloseable socket) {
      target.set(socket);
      if (cancelled) {
        close();
      }
    }

    @Override
    public void close() {
      cancelled = true;
      quietly(target.get());
    }
  }

  /** The result of an upgrade request. */
  public sealed interface Upgrade {
    record Accepted(HijackedConnection connection) implements Upgrade {}

    record Rejected(EngineResponse response) implements Upgrade {}
  }

  /** Requests a connection upgrade. */
  public Upgrade upgrade(HttpRequest request, Deadline deadline) {
    return new Attempt(request, deadline).upgrade();
  }

  private static void quietly(@Nullable AutoCloseable socket) {
    if (socket != null) {
      try {
        socket.close();
      } catch (Exception ignored) {
        // The socket is discarded anyway.
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    for (HttpConnection one = idle.poll(); one != null; one = idle.poll()) {
      one.transport().close();
    }
  }

  /** One request on one connection, with its timer. */
  private final class Attempt {
    private final HttpRequest request;
    private final Deadline deadline;
    private final AtomicBoolean expired = new AtomicBoolean();
    private final AtomicReference<@Nullable AutoCloseable> open = new AtomicReference<>();
    private boolean sent;

    private Attempt(HttpRequest request, Deadline deadline) {
      this.request = request;
      this.deadline = deadline;
    }

    EngineResponse ask() {
      ScheduledFuture<?> timer = Watchdog.at(deadline, this::abort);
      try {
        HttpConnection exchange = connection();
        sent = true;
        exchange.send(request, false);
        return whole(exchange);
      } catch (IOException e) {
        quietly(open.get());
        throw failed(e);
      } finally {
        timer.cancel(false);
      }
    }

    private EngineResponse whole(HttpConnection exchange) throws IOException {
      int status = exchange.head();
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      InputStream in = exchange.body(status);
      byte[] piece = new byte[8192];
      for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
        if (body.size() + count > MAX_RESPONSE) {
          throw new IOException("its response is longer than " + MAX_RESPONSE + " bytes");
        }
        body.write(piece, 0, count);
      }
      if (exchange.keepsAlive(status) && !expired.get()) {
        keep(exchange);
      } else {
        exchange.transport().close();
      }
      return new EngineResponse(status, Bytes.of(body.toByteArray()));
    }

    EngineResponse stream(Cancellation cancel, Reader reader) {
      ScheduledFuture<?> timer = Watchdog.at(deadline, this::abort);
      try {
        HttpConnection exchange = connection();
        cancel.of(exchange.transport());
        sent = true;
        exchange.send(request, false);
        int status = exchange.head();
        if (status < 200 || status >= 300) {
          byte[] why = exchange.body(status).readNBytes(MAX_RESPONSE);
          exchange.transport().close();
          return new EngineResponse(status, Bytes.of(why));
        }
        reader.read(exchange.body(status));
        exchange.transport().close();
        return new EngineResponse(status, Bytes.of(new byte[0]));
      } catch (IOException e) {
        quietly(open.get());
        throw failed(e);
      } finally {
        timer.cancel(false);
      }
    }

    Upgrade upgrade() {
      ScheduledFuture<?> timer = Watchdog.at(deadline, this::abort);
      try {
        HttpConnection exchange = connection();
        sent = true;
        exchange.send(request, true);
        int status = exchange.head();
        if (status == 101 || status == 200) { // Engines differ.
          return new Upgrade.Accepted(new HijackedConnection(exchange));
        }
        byte[] why = exchange.body(status).readNBytes(MAX_RESPONSE);
        exchange.transport().close();
        return new Upgrade.Rejected(new EngineResponse(status, Bytes.of(why)));
      } catch (IOException e) {
        quietly(open.get());
        throw failed(e);
      } finally {
        timer.cancel(false);
      }
    }

    private void abort() {
      expired.set(true);
      quietly(open.get());
    }

    private void opened(AutoCloseable socket) {
      open.set(socket);
      if (expired.get()) {
        quietly(socket);
      }
    }

    private HttpConnection connection() throws IOException {
      if (deadline.over()) { // A request cut off at once has an unknown outcome.
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "the deadline of "
                    + deadline.whole().toMillis()
                    + " ms passed before a request to the engine at "
                    + address
                    + ": "
                    + request.pathWithoutQuery(),
                "use a longer timeout")
            .exception();
      }
      for (HttpConnection one = idle.pollLast(); one != null; one = idle.pollLast()) {
        if (!one.transport().isStale()) {
          opened(one.transport());
          return one;
        }
        one.transport().close();
      }
      HttpTransport made = address.connect(this::opened);
      opened(made);
      return new HttpConnection(made);
    }

    private SandboxException failed(IOException e) {
      if (e instanceof ClosedByInterruptException || Thread.currentThread().isInterrupted()) {
        return Fault.of(
                ErrorCode.CANCELLED,
                request.pathWithoutQuery() + " was interrupted",
                "repeat the request if needed")
            .exception(e);
      }
      if (!sent) {
        return expired.get() ? timedOut(ErrorCode.PROVIDER_UNAVAILABLE, e) : unreachable(e);
      }
      ErrorCode code =
          request.isMutating() ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.PROVIDER_UNAVAILABLE;
      if (expired.get()) {
        return timedOut(code, e);
      }
      return Fault.of(
              code,
              "the engine at "
                  + address
                  + " did not respond to "
                  + request.pathWithoutQuery()
                  + ": "
                  + why(e),
              "check that it runs and is a container engine (docker version)")
          .exception(e);
    }

    private SandboxException timedOut(ErrorCode code, IOException e) {
      return Fault.of(
              code,
              "the engine at "
                  + address
                  + " did not respond to "
                  + request.pathWithoutQuery()
                  + " within "
                  + deadline.whole().toMillis()
                  + " ms",
              "check the engine's log, and restart it if it hangs")
          .exception(e);
    }
  }

  private void keep(HttpConnection exchange) {
    idle.addLast(exchange);
    while (idle.size() > (closed ? 0 : MAX_IDLE)) {
      HttpConnection surplus = idle.pollFirst();
      if (surplus != null) {
        surplus.transport().close();
      }
    }
  }

  private SandboxException unreachable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the engine at " + address + " is unreachable: " + why(e),
            remedy(e))
        .exception(e);
  }

  private static String why(IOException e) {
    String text = e.getMessage();
    return text == null || text.isBlank() ? e.getClass().getSimpleName() : text;
  }

  private String remedy(IOException e) {
    String why = why(e);
    if (why.contains("Permission denied")) {
      return "run Isola as root or as a member of the socket's group (usermod -aG docker USER)";
    }
    if (address instanceof EngineAddress.Unix(Path path) && !Files.exists(path)) {
      if (path.endsWith("podman.sock")) {
        return "start Podman's service (systemctl start podman.socket), or set its address"
            + " (setting host, or CONTAINER_HOST)";
      }
      return "start the engine, or set its address (setting host, or DOCKER_HOST)";
    }
    return e instanceof ConnectException
        ? "start the engine (systemctl start docker)"
        : "check that the engine runs and is reachable from this host";
  }
}
