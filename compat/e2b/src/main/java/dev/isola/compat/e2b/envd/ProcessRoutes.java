package dev.isola.compat.e2b.envd;

import dev.isola.server.content.StdinAttachment;
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
record ProcessRoutes(SandboxAccess access) {
  private static final ConnectService CALLS = new ConnectService("process.Process");
  private static final Duration DEFAULT_KEEPALIVE = Duration.ofSeconds(90);

  /** Environment variables that are set for every command of E2B's clients. */
  static final Map<String, String> SANDBOX_ENV = Map.of(SandboxAccess.SANDBOX_VARIABLE, "true");

  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

  /** How long after its end a process can still be connected to, as in E2B. */
  private static final Duration RECONNECT_WINDOW = Duration.ofSeconds(30);

  List<Route> routes() {
    return List.of(
        CALLS.streaming("Start", "Starts a process and streams its events.", this::start),
        CALLS.streaming("Connect", "Streams the events of a running process.", this::connect),
        CALLS.unary("List", "Lists running processes.", this::list),
        CALLS.unary("Update", "Resizes a terminal.", this::update),
        CALLS.unary("SendInput", "Writes to the stdin of a process.", this::sendInput),
        CALLS.streaming("StreamInput", "Streams input to a process.", this::streamInput),
        CALLS.unary("SendSignal", "Sends a signal to a process.", this::signal),
        CALLS.unary("CloseStdin", "Closes the stdin of a process.", this::close));
  }

  private ConnectService.Streaming.ResponseStream start(Exchange exchange) throws IOException {
    ConnectMessage message = ConnectStream.readSingle(exchange);
    Sandbox sandbox = access.sandbox(exchange);
    Command command = command(message, exchange, sandbox);
    Execution execution =
        message
            .message("pty")
            .map(pty -> LoginShell.<Execution>start(command, one -> terminal(sandbox, one, pty)))
            .orElseGet(() -> LoginShell.start(command, sandbox::start));
    ProcessEvents events =
        new ProcessEvents(
            () -> access.hasEnded(sandbox), execution, true, keepaliveInterval(exchange));
    return () -> events.send(exchange);
  }

  private Command command(ConnectMessage message, Exchange exchange, Sandbox sandbox) {
    ConnectMessage process = message.requiredMessage("process");
    Optional<String> user = SandboxAccess.user(exchange);
    UserHome home = access.sandboxUser(sandbox, user).home();
    Command command =
        Command.argv(process.requiredText("cmd"), process.texts("args"))
            .withEnv(SANDBOX_ENV)
            .withEnv(process.textsByName("envs"))
            .withCwd(home.absolute(process.text("cwd").orElse("")));
    command = user.map(command::withUser).orElse(command);
    command = message.text("tag").map(command::withTag).orElse(command);
    command = timeout(exchange).map(command::withTimeout).orElse(command);
    return message.flag("stdin", true) && message.message("pty").isEmpty()
        ? command.withStdin()
        : command;
  }

  static Optional<Duration> timeout(Exchange exchange) {
    return exchange
        .header("Connect-Timeout-Ms")
        .filter(text -> text.matches("[0-9]{1,10}"))
        .map(Long::parseLong)
        .filter(millis -> millis > 0)
        .map(Duration::ofMillis);
  }

  static Duration keepaliveInterval(Exchange exchange) {
    return exchange
        .header("Keepalive-Ping-Interval")
        .filter(text -> text.matches("[0-9]{1,5}"))
        .map(Long::parseLong)
        .filter(seconds -> seconds > 0)
        .map(Duration::ofSeconds)
        .orElse(DEFAULT_KEEPALIVE);
  }

  private Terminal terminal(Sandbox sandbox, Command command, ConnectMessage pty) {
    return access.requireCapability(sandbox, Terminals.class).open(command, size(pty));
  }

  private static TerminalSize size(ConnectMessage pty) {
    Optional<ConnectMessage> size = pty.message("size");
    long columns = size.flatMap(one -> one.wholeNumber("cols")).orElse(80L);
    long rows = size.flatMap(one -> one.wholeNumber("rows")).orElse(24L);
    if (columns < 1 || columns > 65_535 || rows < 1 || rows > 65_535) {
      throw ConnectMessage.invalid("columns and rows of a terminal must be from 1 to 65535");
    }
    return new TerminalSize((int) columns, (int) rows);
  }

  private ConnectService.Streaming.ResponseStream connect(Exchange exchange) throws IOException {
    ConnectMessage message = ConnectStream.readSingle(exchange);
    Sandbox sandbox = access.sandbox(exchange);
    Execution execution = attach(sandbox, info(sandbox, message, true));
    ProcessEvents events =
        new ProcessEvents(
            () -> access.hasEnded(sandbox), execution, false, keepaliveInterval(exchange));
    return () -> events.send(exchange);
  }

  private Map<String, ?> list(Exchange exchange, ConnectMessage message) {
    List<Map<String, Object>> processes = new ArrayList<>();
    for (ExecutionInfo info :
        access.requireCapability(access.sandbox(exchange), Attaching.class).executions()) {
      if (info.running()) {
        processes.add(describe(info));
      }
    }
    return Map.of("processes", processes);
  }

  private static Map<String, Object> describe(ExecutionInfo info) {
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

  private Map<String, ?> update(Exchange exchange, ConnectMessage message) {
    try (Execution execution = attach(exchange, message)) {
      if (!(execution instanceof Terminal terminal)) {
        throw ConnectMessage.invalid("the process has no terminal");
      }
      message.message("pty").ifPresent(pty -> terminal.resize(size(pty)));
    }
    return Map.of();
  }

  private Map<String, ?> sendInput(Exchange exchange, ConnectMessage message) throws IOException {
    Sandbox sandbox = access.sandbox(exchange);
    ExecutionInfo info = info(sandbox, message, false);
    byte[] bytes = EnvdInput.of(message.requiredMessage("input"), info);
    try (Execution execution = attach(sandbox, info)) {
      EnvdInput.write(execution, bytes);
    }
    return Map.of();
  }

  /** Reads a message that names the process and then messages with input; sends one response. */
  private ConnectService.Streaming.ResponseStream streamInput(Exchange exchange)
      throws IOException {
    ConnectMessage first = ConnectStream.readFirst(exchange);
    Sandbox sandbox = access.sandbox(exchange);
    ExecutionInfo info = info(sandbox, first.requiredMessage("start"), false);
    try (Execution execution = attach(sandbox, info);
        StdinAttachment attachment = new StdinAttachment(execution)) {
      for (Optional<ConnectMessage> next = ConnectStream.read(exchange.content());
          next.isPresent();
          next = ConnectStream.read(exchange.content())) {
        Optional<ConnectMessage> data = next.get().message("data");
        if (data.isPresent()) {
          EnvdInput.write(attachment, EnvdInput.of(data.get().requiredMessage("input"), info));
        }
      }
    }
    return () -> {
      try (ConnectStream frames = ConnectStream.begin(exchange)) {
        frames.add(Map.of());
        frames.finish();
      }
    };
  }

  /**
   * Sends a signal. After SIGKILL it returns once the process has ended, because clients check at
   * once.
   */
  private Map<String, ?> signal(Exchange exchange, ConnectMessage message) {
    String name = message.text("signal").orElse("");
    Signal signal =
        Signal.parse(name.replaceFirst("^SIGNAL_", ""))
            .orElseThrow(() -> ConnectMessage.invalid("the signal is unknown"));
    try (Execution execution = attach(exchange, message)) {
      if (signal.equals(Signal.KILL)) {
        execution.kill();
        execution.await(KILL_TIMEOUT);
      } else {
        execution.signal(signal);
      }
    }
    return Map.of();
  }

  private Map<String, ?> close(Exchange exchange, ConnectMessage message) throws IOException {
    try (Execution execution = attach(exchange, message)) {
      if (execution instanceof Terminal) {
        throw Fault.of(
                ErrorCode.OUTCOME_UNKNOWN,
                "the stdin of a terminal cannot be closed",
                "send the byte 4 (end of transmission) as input instead")
            .exception();
      }
      StdinAttachment.writeAll(execution, InputStream.nullInputStream(), true);
    }
    return Map.of();
  }

  private Execution attach(Exchange exchange, ConnectMessage message) {
    Sandbox sandbox = access.sandbox(exchange);
    return attach(sandbox, info(sandbox, message, false));
  }

  /** Attaches at the end of the output. */
  private Execution attach(Sandbox sandbox, ExecutionInfo info) {
    return access.requireCapability(sandbox, Attaching.class).attach(info.id(), info.endOffset());
  }

  /**
   * Finds the process that a message selects by pid or tag.
   *
   * @param ended whether recently ended processes are included
   */
  private ExecutionInfo info(Sandbox sandbox, ConnectMessage message, boolean ended) {
    ConnectMessage selector = message.requiredMessage("process");
    Optional<Long> pid = selector.wholeNumber("pid");
    Optional<String> tag = selector.text("tag");
    Instant since = Instant.now().minus(RECONNECT_WINDOW);
    return access.requireCapability(sandbox, Attaching.class).executions().stream()
        .filter(one -> one.running() || (ended && hasEndedSince(since, one)))
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

  /** Returns whether the process has ended, and not before the given instant. */
  static boolean hasEndedSince(Instant moment, ExecutionInfo info) {
    return info.endedAt().filter(end -> !end.isBefore(moment)).isPresent();
  }
}
