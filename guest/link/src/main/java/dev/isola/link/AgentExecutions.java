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

/** Starts, lists and finds the commands of one sandbox. */
final class AgentExecutions implements Attaching {
  private final AgentClient client;
  private final Optional<Duration> defaultTimeout;

  /**
   * @param defaultTimeout of commands that have none of their own
   */
  AgentExecutions(AgentClient client, Optional<Duration> defaultTimeout) {
    this.client = client;
    this.defaultTimeout = defaultTimeout;
  }

  Execution start(Command command) {
    return Crowd.enter(
        () -> {
          LinkStream stream = open(request(command, command.env()));
          return new AgentExecution(client, stream, started(command, stream, command.stdin()), 0);
        });
  }

  Terminal open(Command command, TerminalSize size) {
    Map<String, String> env = new HashMap<>(command.env());
    env.putIfAbsent("TERM", "xterm-256color");
    return Crowd.enter(
        () -> {
          FieldsBuilder request =
              request(command.withStdin(), env)
                  .add(Tag.COLS, size.columns())
                  .add(Tag.ROWS, size.rows());
          LinkStream stream = open(request);
          return new AgentTerminal(client, stream, started(command, stream, true), 0);
        });
  }

  @Override
  public List<ExecutionInfo> executions() {
    FieldsBuilder request = new FieldsBuilder(Operation.EXEC_LIST);
    LinkStream stream = client.open(Operation.EXEC_LIST, request, ItemStream.WINDOW);
    try (Stream<ExecutionInfo> items =
        ItemStream.open(stream, client.options().answer(), AgentExecutions::info)) {
      return items.toList();
    }
  }

  @Override
  public Execution attach(ExecutionId id, long offset) {
    long number = number(id);
    LinkStream stream = Attach.request(client, number, Math.max(0, offset));
    Fields head = stream.head(client.options().answer());
    try {
      ExecutionInfo info = info(head);
      long age = Duration.between(info.startedAt(), Instant.now()).toNanos();
      AgentExecution.Start start =
          new AgentExecution.Start(
              number, info.pid(), System.nanoTime() - Math.max(0, age), Optional.empty(), true);
      return info.terminal().isPresent()
          ? new AgentTerminal(client, stream, start, Math.max(0, offset))
          : new AgentExecution(client, stream, start, Math.max(0, offset));
    } catch (ProtocolViolation e) {
      throw stream.violated(e.getMessage());
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

  private FieldsBuilder request(Command command, Map<String, String> env) {
    List<String> variables = new ArrayList<>();
    env.forEach((key, value) -> variables.add(key + "=" + value));
    FieldsBuilder request =
        new FieldsBuilder(Operation.EXEC)
            .add(Tag.ARG, command.words())
            .add(Tag.ENV, variables)
            .add(Tag.CWD, command.cwd())
            .add(Tag.USER, command.user())
            .add(Tag.TAG, command.tag())
            .flag(Tag.NO_STDIN, !command.stdin());
    timeout(command).ifPresent(limit -> request.add(Tag.TIMEOUT_MS, Math.max(1, limit.toMillis())));
    return request;
  }

  private LinkStream open(FieldsBuilder request) {
    return client.open(Operation.EXEC, request, AgentExecution.WINDOW);
  }

  private AgentExecution.Start started(Command command, LinkStream stream, boolean stdin) {
    long now = System.nanoTime();
    Fields head = head(stream);
    try {
      return new AgentExecution.Start(
          head.number(Tag.EXECUTION), head.count(Tag.PID), now, timeout(command), stdin);
    } catch (ProtocolViolation e) {
      throw stream.violated(e.getMessage());
    }
  }

  /**
   * Waits until the command runs. Nobody would know of one that starts after its caller has left,
   * so it is killed.
   */
  private Fields head(LinkStream stream) {
    Duration patience = client.options().answer();
    Frame frame;
    try {
      frame = stream.next(patience);
    } catch (InterruptedException e) {
      stream.abandon(this::killLater);
      Thread.currentThread().interrupt();
      throw Loss.cancelled(client.id(), "starting the command");
    }
    if (frame == null) {
      stream.abandon(this::killLater);
      throw stream.overdue(patience);
    }
    return switch (frame.type()) {
      case Wire.RESPONSE -> Fields.parse(frame.payload());
      case Wire.ERROR -> throw refused(stream.error(frame));
      default -> throw stream.violated("a frame of type " + frame.type() + " before RESPONSE");
    };
  }

  /** A missing working folder is the caller's mistake in the command, not a missing file. */
  private SandboxException refused(RemoteError error) {
    if (error.code() == Wire.E_NOT_FOUND || error.code() == Wire.E_NOT_A_FOLDER) {
      return Fault.of(
              ErrorCode.INVALID_REQUEST, error.message(), "use a working folder that exists")
          .sandbox(client.id())
          .exception();
    }
    return error.exception(client.id());
  }

  private void killLater(Fields head) {
    FieldsBuilder request =
        new FieldsBuilder(Operation.SIGNAL)
            .add(Tag.EXECUTION, head.number(Tag.EXECUTION))
            .add(Tag.SIGNAL, 9)
            .add(Tag.SCOPE, Wire.SCOPE_TREE);
    Thread.ofVirtual().name("isola-link-kill-" + client.id()).start(() -> kill(request));
  }

  private void kill(FieldsBuilder request) {
    try {
      client.call(Operation.SIGNAL, request, client.options().answer());
    } catch (SandboxException ignored) {
      // It ended by itself, or with the sandbox.
    }
  }

  private Optional<Duration> timeout(Command command) {
    return command.timeout().or(() -> defaultTimeout);
  }

  private static ExecutionInfo info(Fields fields) {
    Optional<TerminalSize> terminal =
        fields.has(Tag.COLS) && fields.has(Tag.ROWS)
            ? Optional.of(
                new TerminalSize(
                    fields.range(Tag.COLS, 1, 65_535), fields.range(Tag.ROWS, 1, 65_535)))
            : Optional.empty();
    Optional<Exit> exit =
        fields.number(Tag.STATE, 0) == 0
            ? Optional.empty()
            : Optional.of(ExitFields.exit(fields, Optional.empty()));
    Instant startedAt = Timestamps.instant(fields.number(Tag.TIME_NS, 0));
    long nanos = fields.count(Tag.DURATION_NS, 0);
    return new ExecutionInfo(
        new ExecutionId(Long.toString(fields.number(Tag.EXECUTION))),
        fields.count(Tag.PID),
        fields.optionalText(Tag.TAG),
        fields.texts(Tag.ARG),
        fields.optionalText(Tag.CWD),
        fields.optionalText(Tag.USER),
        startedAt,
        terminal,
        fields.count(Tag.FIRST_OFFSET, 0),
        fields.count(Tag.OFFSET, 0),
        fields.number(Tag.NO_STDIN, 0) == 0,
        exit,
        exit.map(end -> startedAt.plusNanos(nanos)));
  }
}
