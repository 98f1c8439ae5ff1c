package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpHead.Field;
import dev.isola.codec.http.HttpReader;
import dev.isola.codec.http.MalformedHttpException;
import dev.isola.spi.capability.PortDialing;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sends the responses of a connection by HTTP/1.1 in the order of their requests: those of the
 * server, and those of the proxy in between. A thread waits for the server even if no response is
 * due, so that the client learns that the server closed an idle connection.
 */
final class Http1Responses {
  private static final int PIECE = 16 * 1024;
  private static final int MAX_PIPELINED = 16;
  private static final int MAX_INTERIM = 32;
  private static final String NO_RESPONSE = "the server ended the connection without a response";
  private static final Pattern STATUS_LINE =
      Pattern.compile("HTTP/1\\.([01]) ([1-5][0-9]{2})( .*)?");

  /** A response that is due. */
  static final class Exchange {
    private final String method;
    private final String path;
    private final boolean upgrade;
    private final CompletableFuture<Boolean> upgraded = new CompletableFuture<>();

    Exchange(String method, String path, boolean upgrade) {
      this.method = method;
      this.path = path;
      this.upgrade = upgrade;
    }

    /** Waits for the response to an upgrade. Returns whether the server accepted. */
    boolean awaitUpgrade() {
      return upgraded.join();
    }
  }

  /** A response of the proxy that waits for its turn. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Answer(byte[] bytes, boolean last) {}

  private final ProxiedConnection connection;
  private final SecretSubstitution secrets;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** Elements are {@link Exchange}s and {@link Answer}s; the first element is an exchange. */
  private final Deque<Object> due = new ArrayDeque<>();

  private boolean ended;

  /** Whether a part of the first response that is due was sent. */
  private boolean begun;

  private int completed;
  private @Nullable Thread thread;

  Http1Responses(ProxiedConnection connection, SecretSubstitution secrets) {
    this.connection = connection;
    this.secrets = secrets;
  }

  /** Sends a response of the proxy after all that are due. */
  void answer(byte[] response, boolean last) throws IOException {
    lock.lock();
    try {
      awaitRoom(); // Meanwhile the last response that was due may be sent.
      if (due.isEmpty()) {
        send(response);
      } else {
        due.add(new Answer(response, last));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Announces a request that is about to be sent to the server. */
  void expect(Exchange exchange, PortDialing.Connection server) throws IOException {
    lock.lock();
    try {
      awaitRoom();
      due.add(exchange);
      if (thread == null) {
        thread = Thread.startVirtualThread(() -> run(server));
      }
    } finally {
      lock.unlock();
    }
  }

  private void awaitRoom() throws IOException {
    while (due.size() >= MAX_PIPELINED && !ended) {
      changed.awaitUninterruptibly();
    }
    if (ended) {
      throw new EOFException("the server ended the connection");
    }
  }

  /** Waits until all responses are sent, since no more requests follow. */
  void finish() {
    lock.lock();
    try {
      while (!due.isEmpty() && !ended) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
    connection.client().shutdownOutput();
  }

  private void run(PortDialing.Connection server) {
    try {
      HttpReader reader = new HttpReader(server);
      while (reader.awaitByte() && relay(reader)) {}
    } catch (IOException e) {
      // Reported as a response that is missing, below.
    } finally {
      end();
    }
  }

  /** Ends the connection after the last response, or because the server ended it. */
  private void end() {
    lock.lock();
    try {
      ended = true;
      boolean missing = !due.isEmpty();
      discard();
      changed.signalAll();
      if (missing) {
        connection.observer().failed(NO_RESPONSE);
        if (begun || completed > 0) {
          // A reset: the client must not believe in a complete response, and may repeat a request
          // that met the end of an idle connection.
          connection.monitor().close();
          return;
        }
        sendLast(Denial.badGateway(NO_RESPONSE).response(true, true));
      }
    } finally {
      lock.unlock();
    }
    connection.client().shutdownOutput();
    // The thread that reads requests ends by this, if the client does not end them.
    connection.monitor().deadline(connection.limits().linger());
  }

  private void sendLast(byte[] response) {
    try {
      send(response);
    } catch (IOException e) {
      connection.monitor().close(); // The client is gone.
    }
  }

  /** Passes one response on. Returns false if it was the last. */
  private boolean relay(HttpReader reader) throws IOException {
    Exchange exchange = first();
    HttpHead head;
    int status;
    boolean keptAlive;
    try {
      int interim = 0;
      while (true) {
        try (ConnectionMonitor.Deadline _ =
            connection.monitor().deadline(connection.limits().head())) {
          head = reader.head(HttpGate.MAX_HEAD);
        }
        Matcher line = STATUS_LINE.matcher(head.startLine());
        if (!line.matches()) {
          throw new MalformedHttpException("the status line is invalid");
        }
        status = Integer.parseInt(line.group(2));
        keptAlive = isKeptAlive(head, line.group(1).equals("0"));
        if (status >= 200 || status == 101) {
          break;
        }
        if (++interim > MAX_INTERIM) {
          throw new MalformedHttpException("there are too many interim responses");
        }
        begun = true;
        send(masked(head).toBytes());
      }
    } catch (MalformedHttpException e) {
      return fail(exchange, "the response of the server is malformed: " + e.getMessage());
    }
    if (status == 101) {
      return tunnel(exchange, head, reader);
    }
    exchange.upgraded.complete(false);
    return relayFinal(exchange, head, status, keptAlive, reader);
  }

  private Exchange first() throws IOException {
    lock.lock();
    try {
      if (due.peek() instanceof Exchange exchange) {
        return exchange;
      }
      throw new MalformedHttpException("the server sent a response without a request");
    } finally {
      lock.unlock();
    }
  }

  private boolean relayFinal(
      Exchange exchange, HttpHead head, int status, boolean keptAlive, HttpReader reader)
      throws IOException {
    boolean empty = exchange.method.equals("HEAD") || status == 204 || status == 304;
    boolean chunked;
    OptionalLong length;
    try {
      chunked = HttpReader.isChunked(head);
      length = HttpReader.contentLength(head);
    } catch (MalformedHttpException e) {
      return fail(exchange, "the response of the server is malformed: " + e.getMessage());
    }
    Optional<String> problem = empty ? Optional.empty() : unsearchable(status, head);
    if (problem.isPresent()) {
      return fail(exchange, problem.get());
    }
    connection.observer().allowed(exchange.method, exchange.path, status);
    begun = true;
    send(masked(head).toBytes());
    if (!empty) {
      relayBody(reader, chunked, length);
    }
    boolean delimited = empty || chunked || length.isPresent();
    return complete(delimited && keptAlive);
  }

  /** Returns why a response cannot be searched for secrets although it has to be. */
  private Optional<String> unsearchable(int status, HttpHead head) {
    return secrets.masksResponses()
        ? ResponseForm.problem(status, head.fields())
        : Optional.empty();
  }

  private static boolean isKeptAlive(HttpHead head, boolean http10) {
    List<String> options = head.elements("connection");
    return !options.contains("close") && (!http10 || options.contains("keep-alive"));
  }

  private HttpHead masked(HttpHead head) {
    if (!secrets.masksResponses()) {
      return head;
    }
    String line = new String(secrets.mask(head.startLine().getBytes(ISO_8859_1)), ISO_8859_1);
    return new HttpHead(line, secrets.mask(head.fields()));
  }

  private void relayBody(HttpReader reader, boolean chunked, OptionalLong length)
      throws IOException {
    SwappingSink sink =
        SwappingSink.ofResponse(
            secrets.responseBody(),
            bytes -> send(chunked ? Http1Proxy.chunk(bytes) : bytes),
            connection.monitor());
    if (!chunked) {
      copy(reader, length.orElse(Long.MAX_VALUE), sink, length.isPresent());
      sink.end();
      return;
    }
    for (long size = reader.chunkSize(); size > 0; size = reader.chunkSize()) {
      copy(reader, size, sink, true);
      reader.chunkEnd();
    }
    sink.end();
    List<Field> trailers = reader.trailers(HttpGate.MAX_HEAD);
    send("0\r\n".getBytes(ISO_8859_1));
    send(HttpHead.fieldBytes(secrets.mask(trailers)));
  }

  private static void copy(HttpReader reader, long length, SwappingSink sink, boolean exactly)
      throws IOException {
    byte[] piece = new byte[PIECE];
    for (long left = length; left > 0; ) {
      int count = reader.read(piece, 0, (int) Math.min(PIECE, left));
      if (count < 0) {
        if (exactly) {
          throw new EOFException("the server ended the connection within a response");
        }
        return;
      }
      left -= count;
      sink.write(piece, 0, count);
    }
  }

  /** Passes all further data of the server on, after it accepted an upgrade. */
  private boolean tunnel(Exchange exchange, HttpHead head, HttpReader reader) throws IOException {
    if (!exchange.upgrade) {
      return fail(exchange, "the server changed the protocol without being asked to");
    }
    Optional<String> problem = unsearchable(101, head);
    if (problem.isPresent()) {
      return fail(exchange, problem.get());
    }
    connection.observer().allowed(exchange.method, exchange.path, 101);
    begun = true;
    send(masked(head).toBytes());
    exchange.upgraded.complete(true);
    SwappingSink sink =
        SwappingSink.ofResponse(secrets.responseBody(), this::send, connection.monitor());
    copy(reader, Long.MAX_VALUE, sink, false);
    sink.end();
    complete(false);
    return false;
  }

  /** Answers in place of the server, whose response is not passed on, and ends the connection. */
  private boolean fail(Exchange exchange, String problem) throws IOException {
    connection.observer().failed(problem);
    send(Denial.badGateway(problem).response(!exchange.method.equals("HEAD"), true));
    exchange.upgraded.complete(false);
    complete(false);
    return false;
  }

  /** Removes the response that was sent, and sends those of the proxy that follow it. */
  private boolean complete(boolean goesOn) throws IOException {
    lock.lock();
    try {
      due.remove();
      begun = false;
      completed++;
      if (!goesOn) {
        discard(); // The client repeats what was not answered.
      }
      while (due.peek() instanceof Answer answer) {
        send(answer.bytes());
        due.remove();
        goesOn &= !answer.last();
      }
      changed.signalAll();
      return goesOn;
    } finally {
      lock.unlock();
    }
  }

  private void discard() {
    for (Object one : due) {
      if (one instanceof Exchange exchange) {
        exchange.upgraded.complete(false);
      }
    }
    due.clear();
  }

  private void send(byte[] bytes) throws IOException {
    ByteBuffer source = ByteBuffer.wrap(bytes);
    while (source.hasRemaining()) {
      connection.client().write(source);
    }
  }
}
