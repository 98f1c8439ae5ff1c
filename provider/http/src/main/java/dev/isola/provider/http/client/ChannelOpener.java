package dev.isola.provider.http.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.StreamAgentChannel;
import dev.isola.spi.Secret;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * Opens the channel of a sandbox: an HTTP request that asks for an upgrade, on a socket of its own.
 *
 * @param channelSecret the header {@code Isola-Channel-Secret}; none if empty
 */
public record ChannelOpener(
    BackendAddress address,
    String path,
    Optional<Secret> key,
    Optional<Secret> channelSecret,
    Optional<SSLContext> tls) {
  private static final Set<String> GONE = Set.of("SANDBOX_NOT_FOUND", "SANDBOX_DESTROYED");
  private static final int MAX_HEAD = 16 << 10;
  private static final int MAX_PROBLEM = 16 << 10;
  private static final int BUFFER = 64 << 10;

  /**
   * Opens a channel and waits for the first byte of the agent.
   *
   * @param watch wraps the bytes of the agent
   * @throws AgentAbsentException if the sandbox does not exist, or no agent answers in it
   */
  public AgentChannel open(Duration timeout, UnaryOperator<InputStream> watch) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    Socket plain = new Socket();
    boolean open = false;
    try {
      plain.connect(new InetSocketAddress(address.host(), address.port()), millis(deadline));
      plain.setTcpNoDelay(true);
      plain.setSoTimeout(millis(deadline));
      Socket socket = address.tls() ? secure(plain) : plain;
      socket.getOutputStream().write(head(timeout).getBytes(ISO_8859_1));
      socket.getOutputStream().flush();
      TimedInput timed = new TimedInput(socket, deadline);
      BufferedInputStream in = new BufferedInputStream(timed, BUFFER);
      upgrade(in);
      in.mark(1);
      if (in.read() < 0) {
        throw new AgentAbsentException("no agent answers in the sandbox", null);
      }
      in.reset();
      timed.withoutDeadline();
      open = true;
      return StreamAgentChannel.overSocket(
          watch.apply(in), socket.getOutputStream(), () -> close(plain));
    } catch (AgentAbsentException e) {
      throw e;
    } catch (SocketTimeoutException e) {
      throw new IOException(
          "channel at " + address + ": no response within " + timeout.toMillis() + " ms", e);
    } catch (IOException e) {
      throw new IOException(
          "channel at " + address + ": " + BackendText.line(String.valueOf(e.getMessage())), e);
    } finally {
      if (!open) {
        close(plain);
      }
    }
  }

  private Socket secure(Socket plain) throws IOException {
    SSLContext context;
    try {
      context = tls.isPresent() ? tls.get() : SSLContext.getDefault();
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IOException("no TLS: " + e.getMessage(), e);
    }
    SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(plain, address.host(), address.port(), true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private String head(Duration timeout) {
    StringBuilder head = new StringBuilder();
    head.append("GET ").append(address.at(path).getRawPath()).append(" HTTP/1.1\r\n");
    head.append("Host: ").append(address).append("\r\n");
    head.append("Connection: Upgrade\r\nUpgrade: isola-channel\r\n");
    head.append("Isola-Timeout-Ms: ").append(timeout.toMillis()).append("\r\n");
    key.ifPresent(
        secret ->
            head.append("Authorization: ").append(BackendClient.bearer(secret)).append("\r\n"));
    channelSecret.ifPresent(
        secret ->
            head.append("Isola-Channel-Secret: ")
                .append(Base64.getEncoder().encodeToString(secret.reveal()))
                .append("\r\n"));
    return head.append("\r\n").toString();
  }

  /** Reads the head of the response, which must be that of an upgrade. */
  private static void upgrade(InputStream in) throws IOException {
    String head = readHead(in);
    String[] lines = head.split("\r?\n", -1);
    if (!lines[0].matches("HTTP/1\\.1 [0-9]{3}( .*)?")) {
      throw new IOException("the response is not HTTP/1.1");
    }
    int status = Integer.parseInt(lines[0].substring(9, 12));
    if (status != 101) {
      throw refused(status, head, in);
    }
    if (!"isola-channel".equalsIgnoreCase(header(lines, "upgrade"))) {
      throw new IOException("status 101 without the upgrade to isola-channel");
    }
  }

  private static String readHead(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("the backend closed the connection within a response");
      }
      if (head.length() == MAX_HEAD) {
        throw new IOException("the head of the response is longer than " + MAX_HEAD + " bytes");
      }
      head.append((char) next);
    }
    return head.toString();
  }

  private static String header(String[] lines, String name) {
    for (String line : lines) {
      int colon = line.indexOf(':');
      if (colon > 0 && line.substring(0, colon).toLowerCase(Locale.ROOT).equals(name)) {
        return line.substring(colon + 1).strip();
      }
    }
    return "";
  }

  /** Only a problem document tells that the sandbox is gone: any web server has a 404. */
  private static IOException refused(int status, String head, InputStream in) throws IOException {
    String type = header(head.split("\r?\n", -1), "content-type");
    String text = "status " + status;
    if (status >= 400 && type.toLowerCase(Locale.ROOT).startsWith("application/problem+json")) {
      String length = header(head.split("\r?\n", -1), "content-length");
      int count = length.matches("[0-9]{1,5}") ? Integer.parseInt(length) : MAX_PROBLEM;
      byte[] body = in.readNBytes(Math.min(count, MAX_PROBLEM));
      try {
        Map<String, Object> problem = Json.parseObject(new String(body, UTF_8));
        text += ": " + BackendText.line(String.valueOf(problem.get("detail")));
        if (problem.get("code") instanceof String code && GONE.contains(code)) {
          return AgentAbsentException.permanent(text, null);
        }
      } catch (MalformedJson e) {
        text += " with a problem document that is not valid";
      }
    }
    return new IOException(text + " instead of 101");
  }

  private static int millis(Deadline deadline) throws SocketTimeoutException {
    Duration left = deadline.leftOrElseThrow(() -> new SocketTimeoutException("the time is over"));
    return (int) Math.min(left.toMillis(), Integer.MAX_VALUE);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing else can be done.
    }
  }

  /** Applies one deadline to all reads together, until it is removed. */
  private static final class TimedInput extends InputStream {
    private final Socket socket;
    private final InputStream in;
    private final Deadline deadline;
    private volatile boolean timed = true;

    TimedInput(Socket socket, Deadline deadline) throws IOException {
      this.socket = socket;
      this.in = socket.getInputStream();
      this.deadline = deadline;
    }

    void withoutDeadline() throws IOException {
      timed = false;
      socket.setSoTimeout(0);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (timed) {
        socket.setSoTimeout(millis(deadline));
      }
      return in.read(target, offset, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
