package dev.isola.server.terminal;

import dev.isola.codec.json.Json;
import dev.isola.server.error.ErrorStatus;
import dev.isola.server.route.WebSocket;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Connects a WebSocket client to a terminal. At most one piece of output is buffered: a client that
 * does not read holds the terminal back and is disconnected after a minute. The command continues
 * after the socket is closed.
 */
public final class TerminalSession implements WebSocket.Session {
  /** The subprotocol that a client must offer. */
  public static final String PROTOCOL = "isola.terminal.v1";

  private static final int NORMAL = 1000;
  private static final int GOING_AWAY = 1001;
  private static final int ERROR_BASE = 4000;
  private static final int CHUNK = 32 * 1024;
  private static final long POLL_INTERVAL_MS = 250;
  private static final Duration PING = Duration.ofSeconds(20);
  private static final Duration PING_TIMEOUT = Duration.ofSeconds(65);

  private sealed interface Item {
    record Piece(Output output) implements Item {}

    record End(Exit exit) implements Item {}

    record Failed(Fault fault) implements Item {}
  }

  private final Terminal terminal;
  private final long offset;
  private final BooleanSupplier ending;
  private final Function<Exit, Map<String, Object>> exits;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(1);
  private volatile boolean closed;
  private volatile @Nullable Fault failure;

  /**
   * @param terminal attached at {@code offset}; closed together with the session
   * @param ending returns whether the server is shutting down
   * @param exits renders the exit status of a command
   */
  public TerminalSession(
      Terminal terminal,
      long offset,
      BooleanSupplier ending,
      Function<Exit, Map<String, Object>> exits) {
    this.terminal = terminal;
    this.offset = offset;
    this.ending = ending;
    this.exits = exits;
  }

  @Override
  public void run(WebSocket socket) throws InterruptedException {
    Thread reader = Thread.ofVirtual().name("isola-terminal-output").start(this::read);
    Thread inputReader =
        Thread.ofVirtual().name("isola-terminal-input").start(() -> readInput(socket));
    try {
      follow(socket);
    } catch (IOException e) {
      // The client disconnected and can attach again at its offset.
    } finally {
      closed = true;
      reader.interrupt();
      inputReader.interrupt();
      terminal.close();
      inputReader.join();
    }
  }

  private void read() {
    try {
      try {
        items.put(new Item.End(terminal.follow(output -> items.put(new Item.Piece(output)))));
      } catch (SandboxException e) {
        items.put(new Item.Failed(e.fault()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the session has ended
    }
  }

  private void follow(WebSocket socket) throws IOException, InterruptedException {
    socket.send(text("attached", Map.of("offset", offset)));
    long lastSent = System.nanoTime();
    while (!closed) {
      Fault invalidInput = failure;
      if (invalidInput != null) {
        fail(socket, invalidInput);
        return;
      }
      if (ending.getAsBoolean()) {
        socket.close(GOING_AWAY, "the server is shutting down; attach again");
        return;
      }
      switch (items.poll(POLL_INTERVAL_MS, TimeUnit.MILLISECONDS)) {
        case null -> {
          if (System.nanoTime() - lastSent > PING.toNanos()) {
            socket.ping();
            lastSent = System.nanoTime();
          }
        }
        case Item.Piece(Output output) -> send(socket, output);
        case Item.End(Exit exit) -> {
          Map<String, Object> data = exits.apply(exit);
          data.put("exitCode", exit.shellCode());
          socket.send(text("exit", data));
          socket.close(NORMAL, "the command has ended");
          return;
        }
        case Item.Failed(Fault fault) -> {
          fail(socket, fault);
          return;
        }
      }
      if (socket.idleTime().compareTo(PING_TIMEOUT) > 0) {
        socket.abort();
        return;
      }
    }
  }

  private static void send(WebSocket socket, Output output) throws IOException {
    switch (output) {
      case Output.Data data -> {
        Bytes bytes = data.bytes();
        for (int at = 0; at < bytes.size(); at += CHUNK) {
          socket.send(bytes.buffer(at, Math.min(CHUNK, bytes.size() - at)));
        }
      }
      case Output.Gap gap ->
          socket.send(text("gap", Map.of("lost", gap.lost(), "offset", gap.end())));
    }
  }

  private static void fail(WebSocket socket, Fault fault) throws IOException {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("code", fault.code().name());
    data.put("detail", fault.problem());
    data.put("remedy", fault.remedy());
    socket.send(text("error", data));
    socket.close(ERROR_BASE + ErrorStatus.of(fault.code()), fault.code().name());
  }

  private static String text(String type, Map<String, ?> data) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("type", type);
    all.putAll(data);
    return Json.text(all);
  }

  private void readInput(WebSocket socket) {
    try {
      while (!closed) {
        switch (socket.receive()) {
          case WebSocket.Message.Binary(byte[] bytes) -> writeInput(bytes);
          case WebSocket.Message.Text(String text) -> handleControl(text);
          case WebSocket.Message.Closed() -> closed = true;
        }
      }
    } catch (SandboxException e) {
      failure = e.fault();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the session has ended
    }
  }

  private void writeInput(byte[] bytes) {
    try {
      terminal.stdin().write(bytes);
      terminal.stdin().flush();
    } catch (IOException e) {
      // The terminal has ended; the output stream reports how.
    }
  }

  private void handleControl(String text) {
    switch (TerminalControl.parse(text)) {
      case TerminalControl.Resize(var size) -> terminal.resize(size);
      case TerminalControl.SendSignal(Signal signal) -> {
        if (signal.equals(Signal.KILL)) {
          terminal.kill();
        } else {
          terminal.signal(signal);
        }
      }
      case TerminalControl.Invalid(String fault) ->
          throw Fault.of(
                  ErrorCode.INVALID_REQUEST,
                  "invalid control message: " + fault,
                  "send {\"type\":\"resize\",\"rows\":R,\"cols\":C} or"
                      + " {\"type\":\"signal\",\"signal\":\"INT\"}; input is binary")
              .exception();
    }
  }
}
