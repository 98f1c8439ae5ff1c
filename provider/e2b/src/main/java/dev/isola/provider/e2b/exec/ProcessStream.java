package dev.isola.provider.e2b.exec;

import dev.isola.codec.json.JsonValue;
import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.provider.e2b.rpc.MessageStream;
import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.TerminalSize;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The event stream of a process at envd. */
final class ProcessStream implements AutoCloseable {
  /** An event of the process. */
  sealed interface Event {
    record Started(long pid) implements Event {}

    record Data(Channel channel, Bytes bytes) implements Event {}

    record Ended(Exit exit) implements Event {}
  }

  /**
   * A process to start.
   *
   * @param timeout after which envd kills the process, even if this server is gone
   */
  record Start(
      List<String> words,
      Map<String, String> env,
      boolean stdin,
      Optional<TerminalSize> terminal,
      Optional<String> tag,
      Optional<Duration> timeout) {
    Object message() {
      Map<String, Object> process = new LinkedHashMap<>();
      process.put("cmd", words.getFirst());
      process.put("args", words.subList(1, words.size()));
      process.put("envs", env);
      process.put("cwd", "/");
      Map<String, Object> message = new LinkedHashMap<>();
      message.put("process", process);
      message.put("stdin", stdin);
      terminal.ifPresent(
          size ->
              message.put(
                  "pty", Map.of("size", Map.of("cols", size.columns(), "rows", size.rows()))));
      tag.ifPresent(text -> message.put("tag", text));
      return message;
    }
  }

  private final MessageStream frames;

  private ProcessStream(MessageStream frames) {
    this.frames = frames;
  }

  static ProcessStream start(EnvdClient envd, Start start, Optional<String> user) throws RpcError {
    return new ProcessStream(
        envd.stream("process.Process/Start", start.message(), user, start.timeout()));
  }

  /** Follows a running process from now on. */
  static ProcessStream connect(EnvdClient envd, long pid) throws RpcError {
    return new ProcessStream(
        envd.stream(
            "process.Process/Connect",
            Map.of("process", Map.of("pid", pid)),
            Optional.empty(),
            Optional.empty()));
  }

  /**
   * Waits for the next event.
   *
   * @throws IOException if the stream was cut off; the fate of the process is then unknown
   */
  Event next() throws IOException, RpcError {
    while (true) {
      JsonValue event =
          frames
              .next()
              .orElseThrow(() -> new EOFException("the stream ended before the process"))
              .at("event");
      if (event.has("start")) {
        return new Event.Started(event.number("start", "pid"));
      }
      if (event.has("end")) {
        frames.finish();
        return new Event.Ended(ExitParser.parse(event.at("end")));
      }
      Optional<Event> data = data(event.at("data"));
      if (data.isPresent()) {
        return data.get();
      }
    }
  }

  private static Optional<Event> data(JsonValue data) throws IOException {
    for (Channel channel : Channel.values()) {
      Optional<String> text = data.optionalText(word(channel));
      if (text.isPresent()) {
        try {
          return Optional.of(
              new Event.Data(channel, Bytes.wrap(Base64.getDecoder().decode(text.get()))));
        } catch (IllegalArgumentException e) {
          throw new IOException("the output in the stream is not valid base64", e);
        }
      }
    }
    return Optional.empty();
  }

  private static String word(Channel channel) {
    return switch (channel) {
      case STDOUT -> "stdout";
      case STDERR -> "stderr";
      case TERMINAL -> "pty";
    };
  }

  @Override
  public void close() {
    frames.close();
  }
}
