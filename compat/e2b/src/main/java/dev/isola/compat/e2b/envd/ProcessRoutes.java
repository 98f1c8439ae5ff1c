package dev.isola.compat.e2b.envd;

import dev.isola.server.content.Feeding;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The service {@code process.Process}: commands and terminals. */
record ProcessRoutes(Inside inside) {
  private static final Calls CALLS = new Calls("process.Process");
  private static final Duration SILENCE = Duration.ofSeconds(90);

  /** What every command of these clients has. */
  static final Map<String, String> MARK = Map.of(Inside.MARK, "true");

  private static final Duration DYING = Duration.ofSeconds(5);

  /** How long one that has ended can be connected to, as E2B has it. */
  private static final Duration LATELY = Duration.ofSeconds(30);

  List<Route> routes() {
    return List.of(
        CALLS.streaming("Start", "Starts a process and follows it.", this::start),
        CALLS.streaming("Connect", "Follows a process from now on.", this::connect),
        CALLS.unary("List", "Lists what runs.", this::list),
        CALLS.unary("Update", "Changes the window of a terminal.", this::update),
        CALLS.unary("SendInput", "Writes to the input of a process.", this::input),
        CALLS.streaming("StreamInput", "Writes as it comes.", this::inputs),
        CALLS.unary("SendSignal", "Signals a process.", this::signal),
        CALLS.unary("CloseStdin", "Ends the input of a process.", this::close));
  }

  private Calls.Streaming.Rest start(Exchange exchange) throws IOException {
    Message message = Frames.only(exchange);
    Sandbox sandbox = inside.sandbox(exchange);
    Command command = command(message, exchange, sandbox);
    Execution execution =
        message
            .message("pty")
            .map(pty -> (Execution) terminal(sandbox, command, pty))
            .orElseGet(() -> sandbox.start(command));
    ProcessEvents events = new ProcessEvents(sandbox, execution, true, silence(exchange));
    return () -> events.send(exchange);
  }

  private Command command(Message message, Exchange exchange, Sandbox sandbox) {
    Message process = message.neededMessage("process");
    Optional<String> user = Inside.user(exchange);
    Home home = inside.guest(sandbox, user).home();
    Command command =
        Command.argv(process.needed("cmd"), process.texts("args"))
            .withEnv(MARK)
            .withEnv(process.textsByName("envs"))
            .withCwd(home.absolute(process.text("cwd").orElse("")));
    command = user.map(command::withUser).orElse(command);
    command = message.text("tag").map(command::withTag).orElse(command);
    command = patience(exchange).map(command::withTimeout).orElse(command);
    return message.flag("stdin", true) && message.message("pty").isEmpty()
        ? command.withStdin()
        : command;
  }

  static Optional<Duration> patience(Exchange exchange) {
    return exchange
        .header("Connect-Timeout-Ms")
        .filter(text -> text.matches("[0-9]{1,10}"))
        .map(Long::parseLong)
        .filter(millis -> millis > 0)
        .map(Duration::ofMillis);
  }

  static Duration silence(Exchange exchange) {
    return exchange
        .header("Keepalive-Ping-Interval")
        .filter(text -> text.matches("[0-9]{1,5}"))
        .map(Long::parseLong)
        .filter(seconds -> seconds > 0)
        .map(Duration::ofSeconds)
        .orElse(SILENCE);
  }

  private Terminal terminal(Sandbox sandbox, Command command, Message pty) {
    return inside.able(sandbox, Terminals.class).open(command, size(pty));
  }

  private static TerminalSize size(Message pty) {
    Optional<Message> size = pty.message("size");
    long columns = size.flatMap(one -> one.whole("cols")).orElse(80L);
    long rows = size.flatMap(one -> one.whole("rows")).orElse(24L);
    if (columns < 1 || columns > 65_535 || rows < 1 || rows > 65_535) {
      throw Message.refused("a terminal has 1 to 65535 columns and rows");
    }
    return new TerminalSize((int) columns, (int) rows);
  }

  private Calls.Streaming.Rest connect(Exchange exchange) throws IOException {
    Message message = Frames.only(exchange);
    Sandbox sandbox = inside.sandbox(exchange);
    Execution execution = attached(sandbox, info(sandbox, message, true));
    ProcessEvents events = new ProcessEvents(sandbox, execution, false, silence(exchange));
    return () -> events.send(exchange);
  }

  private Map<String, ?> list(Exchange exchange, Message message) {
    List<Map<String, Object>> processes = new ArrayList<>();
    for (ExecutionInfo info : inside.able(inside.sandbox(exchange), Attaching.class).executions()) {
      if (info.running()) {
        processes.add(described(info));
      }
    }
    return Map.of("processes", processes);
  }

  private static Map<String, Object> described(ExecutionInfo info) {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("cmd", info.argv().isEmpty() ? "" : info.argv().getFirst());
    config.put("args", info.argv().stream().skip(1).toList());
    config.put("envs", Map.of());
    info.cwd().ifPresent(cwd -> config.put("cwd", cwd));
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("config", config);
    process.put("pid", info.pid());
    info.tag().ifPresent(tag -> process.put("tag", tag));
    return process;
  }

  private Map<String, ?> update(Exchange exchange, Message message) {
    try (Execution execution = attached(exchange, message)) {
      if (!(execution instanceof Terminal terminal)) {
        throw Message.refused("the process is not on a terminal");
      }
      message.message("pty").ifPresent(pty -> terminal.resize(size(pty)));
    }
    return Map.of();
  }

  private Map<String, ?> input(Exchange exchange, Message message) throws IOException {
    Sandbox sandbox = inside.sandbox(exchange);
    ExecutionInfo info = info(sandbox, message, false);
    byte[] bytes = Input.of(message.neededMessage("input"), info);
    try (Execution execution = attached(sandbox, info)) {
      Input.feed(execution, bytes);
    }
    return Map.of();
  }

  /** A message that names the process, others with input, and a single answer. */
  private Calls.Streaming.Rest inputs(Exchange exchange) throws IOException {
    Message first = Frames.first(exchange);
    Sandbox sandbox = inside.sandbox(exchange);
    ExecutionInfo info = info(sandbox, first.neededMessage("start"), false);
    try (Execution execution = attached(sandbox, info);
        Feeding feeding = new Feeding(execution)) {
      for (Optional<Message> next = Frames.read(exchange.content());
          next.isPresent();
          next = Frames.read(exchange.content())) {
        Optional<Message> data = next.get().message("data");
        if (data.isPresent()) {
          Input.feed(feeding, Input.of(data.get().neededMessage("input"), info));
        }
      }
    }
    return () -> {
      try (Frames frames = Frames.begin(exchange)) {
        frames.add(Map.of());
        frames.finish();
      }
    };
  }

  /** Returns when a process that was killed is gone: clients look for it at once. */
  private Map<String, ?> signal(Exchange exchange, Message message) {
    String name = message.text("signal").orElse("");
    Signal signal =
        Signal.parse(name.replaceFirst("^SIGNAL_", ""))
            .orElseThrow(() -> Message.refused("the signal is not known"));
    try (Execution execution = attached(exchange, message)) {
      if (signal.equals(Signal.KILL)) {
        execution.kill();
        execution.await(DYING);
      } else {
        execution.signal(signal);
      }
    }
    return Map.of();
  }

  private Map<String, ?> close(Exchange exchange, Message message) throws IOException {
    try (Execution execution = attached(exchange, message)) {
      if (execution instanceof Terminal) {
        throw Fault.of(
                ErrorCode.OUTCOME_UNKNOWN,
                "a terminal has no end of file",
                "send the byte 4 as input instead")
            .exception();
      }
      Feeding.feed(execution, InputStream.nullInputStream(), true);
    }
    return Map.of();
  }

  private Execution attached(Exchange exchange, Message message) {
    Sandbox sandbox = inside.sandbox(exchange);
    return attached(sandbox, info(sandbox, message, false));
  }

  /** Attaches behind all output. */
  private Execution attached(Sandbox sandbox, ExecutionInfo info) {
    return inside.able(sandbox, Attaching.class).attach(info.id(), info.endOffset());
  }

  /**
   * Finds what a message selects by number or by tag.
   *
   * @param ended whether one that has ended lately will do
   */
  private ExecutionInfo info(Sandbox sandbox, Message message, boolean ended) {
    Message wanted = message.neededMessage("process");
    Optional<Long> pid = wanted.whole("pid");
    Optional<String> tag = wanted.text("tag");
    Instant since = Instant.now().minus(LATELY);
    return inside.able(sandbox, Attaching.class).executions().stream()
        .filter(one -> one.running() || (ended && isSince(since, one)))
        .filter(
            one ->
                pid.isPresent() ? one.pid() == pid.get() : tag.isPresent() && one.tag().equals(tag))
        .max(Comparator.comparing(ExecutionInfo::running).thenComparing(ExecutionInfo::startedAt))
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.EXECUTION_NOT_FOUND,
                        "process with "
                            + pid.map(number -> "pid " + number).orElse("this tag")
                            + " not found",
                        "list the processes")
                    .exception());
  }

  /** Tells whether it has ended, but not before a moment. */
  static boolean isSince(Instant moment, ExecutionInfo info) {
    return info.endedAt().filter(end -> !end.isBefore(moment)).isPresent();
  }
}
