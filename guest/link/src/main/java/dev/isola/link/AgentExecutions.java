package dev.isola.link;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Starts, lists and attaches to the executions of one sandbox. */
final class AgentExecutions implements Attaching {
  private final AgentClient client;
  private final Optional<Duration> defaultTimeout;

  /**
   * Creates the executions of one sandbox.
   *
   * @param defaultTimeout of commands without a timeout
   */
  AgentExecutions(AgentClient client, Optional<Duration> defaultTimeout) {
    this.client = client;
    this.defaultTimeout = defaultTimeout;
  }

  Execution start(Command command) {
    return ProcessSlotRetry.run(
        () -> {
          LinkStream stream = open(request(command, command.env()));
          return new AgentExecution(client, stream, started(command, stream, command.stdin()), 0);
        });
  }

  Terminal open(Command command, TerminalSize size) {
    Map<String, String> env = new HashMap<>(command.env());
    env.putIfAbsent("TERM", "xterm-256color");
    return ProcessSlotRetry.run(
        () -> {
          WireFieldsBuilder request =
              request(command.withStdin(), env)
                  .add(FieldTag.COLS, size.columns())
                  .add(FieldTag.ROWS, size.rows());
          LinkStream stream = open(request);
          return new AgentTerminal(client, stream, started(command, stream, true), 0);
        });
  }

  @Override
  public List<ExecutionInfo> executions() {
    WireFieldsBuilder request = new WireFieldsBuilder(AgentOperation.EXEC_LIST);
    LinkStream stream = client.open(AgentOperation.EXEC_LIST, request, ItemStream.WINDOW);
    try (Stream<ExecutionInfo> items =
        ItemStream.open(stream, client.timeouts().responseTimeout(), AgentExecutions::info)) {
      return items.toList();
    }
  }

  @Override
  public Execution attach(ExecutionId id, long offset) {
    long number = number(id);
    LinkStream stream = AttachRequest.send(client, number, Math.max(0, offset));
    WireFields response = stream.awaitResponse(client.timeouts().responseTimeout());
    try {
      ExecutionInfo info = info(response);
      long age = Duration.between(info.startedAt(), Instant.now()).toNanos();
      AgentExecution.StartInfo start =
          new AgentExecution.StartInfo(
              number, info.pid(), System.nanoTime() - Math.max(0, age), Optional.empty(), true);
      return info.terminal().isPresent()
          ? new AgentTerminal(client, stream, start, Math.max(0, offset))
          : new AgentExecution(client, stream, start, Math.max(0, offset));
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  private long number(ExecutionId id) {
    try {
      return Long.parseUnsignedLong(id.value());
    } catch (NumberFormatException e) {
      throw Fault.of(
              ErrorCode.EXECUTION_NOT_FOUND,
              "there is no execution " + id + " in sandbox " + client.id(),
              "list the executions")
          .sandbox(client.id())
          .exception(e);
    }
  }

  private WireFieldsBuilder request(Command command, Map<String, String> env) {
    List<String> variables = new ArrayList<>();
    env.forEach((key, value) -> variables.add(key + "=" + value));
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.EXEC)
            .add(FieldTag.ARG, command.toArgv())
            .add(FieldTag.ENV, variables)
            .add(FieldTag.CWD, command.cwd())
            .add(FieldTag.USER, command.user())
            .add(FieldTag.TAG, command.tag())
            .flag(FieldTag.NO_STDIN, !command.stdin());
    timeout(command)
        .ifPresent(limit -> request.add(FieldTag.TIMEOUT_MS, Math.max(1, limit.toMillis())));
    return request;
  }

  private LinkStream open(WireFieldsBuilder request) {
    return client.open(AgentOperation.EXEC, request, AgentExecution.WINDOW);
  }

  private AgentExecution.StartInfo started(Command command, LinkStream stream, boolean stdin) {
    long now = System.nanoTime();
    WireFields response = response(stream);
    try {
      return new AgentExecution.StartInfo(
          response.number(FieldTag.EXECUTION),
          response.count(FieldTag.PID),
          now,
          timeout(command),
          stdin);
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  /**
   * Waits until the command runs. A command that starts after its caller has given up has no known
   * id, so it is killed.
   */
  private WireFields response(LinkStream stream) {
    Duration timeout = client.timeouts().responseTimeout();
    Frame frame;
    try {
      frame = stream.next(timeout);
    } catch (InterruptedException e) {
      stream.abandon(this::killLater);
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(client.id(), "starting the command");
    }
    if (frame == null) {
      stream.abandon(this::killLater);
      throw stream.timedOut(timeout);
    }
    return switch (frame.type()) {
      case Wire.RESPONSE -> WireFields.parse(frame.payload());
      case Wire.ERROR -> throw startFailure(stream.error(frame));
      default ->
          throw stream.protocolViolation("a frame of type " + frame.type() + " before RESPONSE");
    };
  }

  /** Reports a missing working folder as an invalid request rather than as a missing file. */
  private SandboxException startFailure(RemoteError error) {
    if (error.code() == Wire.E_NOT_FOUND || error.code() == Wire.E_NOT_A_FOLDER) {
      return Fault.of(
              ErrorCode.INVALID_REQUEST, error.message(), "use a working folder that exists")
          .sandbox(client.id())
          .exception();
    }
    return error.exception(client.id());
  }

  private void killLater(WireFields response) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.SIGNAL)
            .add(FieldTag.EXECUTION, response.number(FieldTag.EXECUTION))
            .add(FieldTag.SIGNAL, 9)
            .add(FieldTag.SCOPE, Wire.SCOPE_TREE);
    Thread.ofVirtual().name("isola-link-kill-" + client.id()).start(() -> kill(request));
  }

  private void kill(WireFieldsBuilder request) {
    try {
      client.call(AgentOperation.SIGNAL, request, client.timeouts().responseTimeout());
    } catch (SandboxException ignored) {
      // It ended by itself, or with the sandbox.
    }
  }

  private Optional<Duration> timeout(Command command) {
    return command.timeout().or(() -> defaultTimeout);
  }

  private static ExecutionInfo info(WireFields fields) {
    Optional<TerminalSize> terminal =
        fields.has(FieldTag.COLS) && fields.has(FieldTag.ROWS)
            ? Optional.of(
                new TerminalSize(
                    fields.range(FieldTag.COLS, 1, 65_535), fields.range(FieldTag.ROWS, 1, 65_535)))
            : Optional.empty();
    Optional<Exit> exit =
        fields.number(FieldTag.STATE, 0) == 0
            ? Optional.empty()
            : Optional.of(ExitFields.exit(fields, Optional.empty()));
    Instant startedAt = Timestamps.instant(fields.number(FieldTag.TIME_NS, 0));
    long nanos = fields.count(FieldTag.DURATION_NS, 0);
    return new ExecutionInfo(
        new ExecutionId(Long.toString(fields.number(FieldTag.EXECUTION))),
        fields.count(FieldTag.PID),
        fields.optionalText(FieldTag.TAG),
        fields.texts(FieldTag.ARG),
        fields.optionalText(FieldTag.CWD),
        fields.optionalText(FieldTag.USER),
        startedAt,
        terminal,
        fields.count(FieldTag.FIRST_OFFSET, 0),
        fields.count(FieldTag.OFFSET, 0),
        fields.number(FieldTag.NO_STDIN, 0) == 0,
        exit,
        exit.map(end -> startedAt.plusNanos(nanos)));
  }
}
