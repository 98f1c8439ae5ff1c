package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.E2bError;
import dev.isola.server.content.OutputFeed;
import dev.isola.server.route.Exchange;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Streams the events of a process: start, output and end. The process continues when the client
 * stops listening. When the sandbox is lost, the stream is cut.
 *
 * @param sandboxEnded whether the sandbox has ended or is being destroyed
 * @param startedHere whether the process was started for this stream, so that its timeout is
 *     reported as an error of the call
 * @param keepaliveInterval the idle time after which a keepalive is sent
 */
record ProcessEvents(
    BooleanSupplier sandboxEnded,
    Execution execution,
    boolean startedHere,
    Duration keepaliveInterval) {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** Long enough for a short command to end, so that one packet holds all of its events. */
  private static final Duration GATHER = Duration.ofMillis(2);

  void send(Exchange exchange) throws IOException {
    try (OutputFeed feed = OutputFeed.of(execution);
        ConnectStream frames = ConnectStream.begin(exchange)) {
      follow(exchange, feed, frames);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("the client disconnected");
    }
  }

  private void follow(Exchange exchange, OutputFeed feed, ConnectStream frames)
      throws IOException, InterruptedException {
    frames.add(event("start", Map.of("pid", execution.pid())));
    Duration wait = GATHER;
    long lastSent = System.nanoTime();
    while (!exchange.isShuttingDown()) {
      switch (feed.next(wait)) {
        case null -> {
          boolean idle = System.nanoTime() - lastSent > keepaliveInterval.toNanos();
          if (!frames.hasBuffered() && idle) {
            frames.add(event("keepalive", Map.of()));
          }
          if (frames.hasBuffered()) {
            frames.flush();
            lastSent = System.nanoTime();
          }
          wait = POLL_INTERVAL;
        }
        case OutputFeed.Item.Piece(Output output) -> {
          if (output instanceof Output.Data data) {
            frames.add(event("data", Map.of(streamName(data.channel()), data.bytes().base64())));
          }
          wait = Duration.ZERO; // send output that is already available in the same packet
        }
        case OutputFeed.Item.End(Exit exit) -> {
          end(frames, exit);
          return;
        }
        case OutputFeed.Item.Failed(var why) -> throw why;
      }
    }
    throw new EOFException("the server is shutting down");
  }

  private void end(ConnectStream frames, Exit exit) throws IOException {
    // The destruction of a sandbox kills its processes: that is no exit of the command. Clients
    // recognize it by a stream without an end, and by the health of the sandbox.
    if (exit instanceof Exit.Lost
        || (!(exit instanceof Exit.Exited) && sandboxEnded.getAsBoolean())) {
      throw Fault.of(
              ErrorCode.SANDBOX_DESTROYED,
              "the sandbox ended, and the process with it",
              "create a new sandbox")
          .exception();
    }
    if (startedHere && exit instanceof Exit.TimedOut(Duration after)) {
      Fault timeout =
          Fault.of(
              ErrorCode.EXEC_TIMEOUT,
              "the command was killed after " + after.toMillis() + " ms",
              "use a longer timeout");
      frames.fail(E2bError.connect(timeout, ""));
      return;
    }
    frames.add(event("end", ended(exit)));
    frames.finish();
  }

  /** Describes the exit in the format of Go's os/exec, which clients parse. */
  static Map<String, Object> ended(Exit exit) {
    Map<String, Object> end = new LinkedHashMap<>();
    boolean exited = exit instanceof Exit.Exited;
    int code = exit instanceof Exit.Exited(int number) ? number : -1;
    String status = exited ? "exit status " + code : "signal: " + signal(exit);
    end.put("exitCode", code);
    end.put("exited", exited);
    end.put("status", status);
    if (code != 0) {
      end.put("error", status);
    }
    return end;
  }

  private static String signal(Exit exit) {
    Signal signal = exit instanceof Exit.Signaled(Signal received) ? received : Signal.KILL;
    return switch (signal.number()) {
      case 1 -> "hangup";
      case 2 -> "interrupt";
      case 3 -> "quit";
      case 4 -> "illegal instruction";
      case 6 -> "aborted";
      case 7 -> "bus error";
      case 8 -> "floating point exception";
      case 9 -> "killed";
      case 11 -> "segmentation fault";
      case 13 -> "broken pipe";
      case 14 -> "alarm clock";
      case 15 -> "terminated";
      default -> "signal " + signal.number();
    };
  }

  private static String streamName(Channel channel) {
    return switch (channel) {
      case STDOUT -> "stdout";
      case STDERR -> "stderr";
      case TERMINAL -> "pty";
    };
  }

  private static Map<String, Object> event(String name, Map<String, ?> value) {
    return Map.of("event", Map.of(name, value));
  }
}
