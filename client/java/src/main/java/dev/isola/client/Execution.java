package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A command running in the background. The output stream resumes by itself after a broken
 * connection or a restart of the server. No output is delivered twice; output that the server no
 * longer retains is reported as an {@link Output.Gap}.
 *
 * <p>Only one thread may read; {@link #stdin()}, {@link #signal} and {@link #kill} are thread-safe.
 * Closing stops reading, not the command.
 */
public final class Execution implements AutoCloseable {
  private final Transport transport;
  private final ApiPath endpoint;
  private final String id;
  private final ReconnectingStream stream;
  private final OutputCallbacks callbacks = new OutputCallbacks();
  private long offset;
  private @Nullable Exit exit;

  Execution(Transport transport, ApiPath sandbox, String id, long offset) {
    this.transport = transport;
    this.id = id;
    this.endpoint = sandbox.resolve("executions", id);
    this.offset = offset;
    this.stream =
        new ReconnectingStream(
            transport,
            () -> endpoint.resolve("output").query("offset", this.offset),
            "the execution was");
  }

  /**
   * Returns the id, unique within the sandbox. Pass it to {@link Sandbox#execution} to continue
   * later.
   */
  public String id() {
    return id;
  }

  /** Returns the offset of the next output. */
  public long offset() {
    return offset;
  }

  public ExecutionInfo info() {
    return ExecutionInfo.read(transport.get(endpoint));
  }

  /**
   * Waits for the next output. Returns empty once the command has exited and all output is read.
   */
  public Optional<Output> read() {
    while (exit == null) {
      Optional<Output> piece = stream.next(this::decode);
      if (piece.isPresent()) {
        return piece;
      }
    }
    return Optional.empty();
  }

  private Optional<Output> decode(SseReader.Event event) throws IOException {
    JsonFields fields = fields(event);
    switch (event.type()) {
      case "output" -> {
        Output.Data data =
            new Output.Data(channel(fields), fields.integer("offset"), bytes(fields)).from(offset);
        if (data.end() <= offset) {
          return Optional.empty(); // already read
        }
        return Optional.of(advance(data));
      }
      case "gap" -> {
        Output.Gap gap = new Output.Gap(fields.integer("offset"), fields.integer("lost"));
        return gap.end() <= offset ? Optional.empty() : Optional.of(advance(gap));
      }
      case "exit" -> {
        exit = Exit.read(fields.all());
        stream.disconnect();
      }
      case "error" -> throw streamError(fields).exception();
      default -> {} // event type of a newer server
    }
    return Optional.empty();
  }

  private Output advance(Output piece) {
    offset = piece.end();
    return piece;
  }

  private static JsonFields fields(SseReader.Event event) throws IOException {
    try {
      return JsonFields.parse(event.data());
    } catch (MalformedJson e) {
      throw new IOException("an event is malformed", e);
    }
  }

  private static Output.Channel channel(JsonFields fields) throws IOException {
    try {
      return Output.Channel.valueOf(fields.text("channel").toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IOException("an output event has an unknown channel", e);
    }
  }

  private static byte[] bytes(JsonFields fields) throws IOException {
    String data = fields.text("data");
    if (!fields.text("encoding").equals("base64")) {
      return data.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(data);
    } catch (IllegalArgumentException e) {
      throw new IOException("an output event has invalid base64 data", e);
    }
  }

  /**
   * Returns the problem for an error event within a stream: the sandbox is unreachable or
   * destroyed.
   */
  static Problem streamError(JsonFields fields) {
    String code = fields.text("code");
    boolean temporary = code.equals("PROVIDER_UNAVAILABLE") || code.equals("OUTCOME_UNKNOWN");
    return new Problem(
        code,
        Problem.category(code, temporary ? 503 : 0),
        temporary ? 503 : 0,
        fields.optionalText("detail").orElse(code),
        fields.optionalText("remedy").orElse(""),
        Optional.empty(),
        "",
        Map.of());
  }

  /**
   * Returns the remaining output as a stream, which ends when the command does and all output is
   * read. Reads when the stream asks for an element: a slow consumer slows down the command.
   * Closing the stream stops reading, not the command; after the end, {@link #await()} returns the
   * exit.
   */
  public Stream<Output> output() {
    return BlockingStream.of(this::read, this::close);
  }

  /**
   * Sets a callback for text on standard output; {@link #await()} calls it, in its thread. Text is
   * decoded as UTF-8, and no character is cut. Returns this execution.
   */
  public Execution onStdout(Consumer<String> action) {
    callbacks.on(Output.Channel.STDOUT, action);
    return this;
  }

  /** Sets a callback for text on standard error; see {@link #onStdout}. */
  public Execution onStderr(Consumer<String> action) {
    callbacks.on(Output.Channel.STDERR, action);
    return this;
  }

  /** Sets a callback for output that the server no longer retains; see {@link #onStdout}. */
  public Execution onGap(Consumer<Output.Gap> action) {
    callbacks.onGap(action);
    return this;
  }

  /**
   * Passes the remaining output to the callbacks, discards what has none, and returns how the
   * command ended. An exception of a callback ends the wait; the command keeps running.
   */
  public Exit await() {
    // Unread output would block the command.
    for (Optional<Output> piece = read(); piece.isPresent(); piece = read()) {
      callbacks.accept(piece.get());
    }
    callbacks.end();
    return ended();
  }

  /** Copies the remaining output, each channel to its stream, and returns how the command ended. */
  public Exit copyTo(OutputStream out, OutputStream err) throws IOException {
    for (Optional<Output> piece = read(); piece.isPresent(); piece = read()) {
      if (piece.get() instanceof Output.Data data) {
        OutputStream to = data.channel() == Output.Channel.STDERR ? err : out;
        data.writeTo(to);
        to.flush();
      }
    }
    return ended();
  }

  private Exit ended() {
    Exit end = exit;
    if (end == null) {
      throw new IllegalStateException("the output ended before the command exited");
    }
    return end;
  }

  /**
   * Returns the standard input of a command that was started with it. Every write is one request,
   * which returns when the command's side has accepted the bytes. Closing the stream closes the
   * input.
   */
  public OutputStream stdin() {
    return new Stdin();
  }

  /**
   * Sends {@code content} as standard input of a command that was started with it, in one request,
   * and closes the input at the end. Blocks while the command does not read.
   */
  public void send(InputStream content) {
    transport.upload(
        "POST",
        endpoint.resolve("stdin").query("close", true),
        "application/octet-stream",
        BodyPublishers.fromPublisher(new StreamPublisher(content)),
        System::nanoTime); // no timeout: the command may read slowly
  }

  /** Sends a signal such as TERM, SIGTERM or 15. */
  public void signal(String signal) {
    transport.post(endpoint.resolve("signal"), Map.of("signal", signal));
  }

  /** Kills the command and all its descendants. */
  public void kill() {
    signal("KILL");
  }

  @Override
  public void close() {
    stream.close();
  }

  private final class Stdin extends OutputStream {
    private boolean ended;

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      if (length > 0) {
        send(endpoint.resolve("stdin"), bytes, from, length);
      }
    }

    private void send(ApiPath to, byte[] bytes, int from, int length) throws IOException {
      if (ended) {
        throw new IOException("standard input is closed");
      }
      try {
        transport.upload(
            "POST",
            to,
            "application/octet-stream",
            BodyPublishers.ofByteArray(bytes, from, length),
            System::nanoTime); // no timeout: the command may read slowly
      } catch (IsolaException e) {
        throw new IOException(e.getMessage(), e);
      }
    }

    @Override
    public void close() throws IOException {
      if (!ended) {
        send(endpoint.resolve("stdin").query("close", true), new byte[0], 0, 0);
        ended = true;
      }
    }
  }
}
