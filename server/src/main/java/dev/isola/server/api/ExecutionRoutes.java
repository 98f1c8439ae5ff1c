package dev.isola.server.api;

import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.content.OutputFeed;
import dev.isola.server.content.StdinAttachment;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.server.terminal.TerminalSession;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Manages commands in the background: start, list, signal, stdin, output and terminal. */
record ExecutionRoutes(ServerContext context, StartedExecutions started) {
  ExecutionRoutes(ServerContext context) {
    this(context, new StartedExecutions());
  }

  private static final String TEMPLATE = "/api/v1/sandboxes/{id}/executions";
  private static final Parameter EXECUTION =
      Parameter.path("execution", new Shape.NonEmptyText(64), "execution id");

  private static final Shape.Obj SIZE =
      new Shape.Obj(
              Field.required("rows", new Shape.WholeNumber(1, 65_535), "height in lines")
                  .example(24),
              Field.required("cols", new Shape.WholeNumber(1, 65_535), "width in characters")
                  .example(80))
          .named("TerminalSize");

  private static final Shape.Obj INFO =
      new Shape.Obj(
              Field.required("id", Shapes.WORD, "id, unique within the sandbox").example("e1"),
              Field.required("pid", Shapes.COUNT, "process id inside the sandbox").example(17),
              Field.optional("tag", Shapes.WORD, "tag chosen by the client"),
              Field.required("argv", new Shape.ListOf(Shapes.TEXT, 10_001), "program and arguments")
                  .example(List.of("/bin/sh", "-c", "make")),
              Field.optional("cwd", Shapes.PATH, "working directory"),
              Field.optional("user", Shapes.WORD, "user that runs the command"),
              Field.required("startedAt", Shapes.TIME, "start time"),
              Field.required("running", Shapes.FLAG, "whether it is still running"),
              Field.required("firstOffset", Shapes.COUNT, "offset of the oldest retained output"),
              Field.required("endOffset", Shapes.COUNT, "current end offset of the output"),
              Field.optional("terminal", SIZE, "terminal size, if it has a terminal"),
              Field.optional("exit", Shapes.EXIT, "how the command ended"))
          .named("Execution");

  List<Route> routes() {
    return List.of(
        Route.of("POST", TEMPLATE, "startExecution", "Starts a command in the background.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    CommandBody.SHAPE
                        .and(
                            Field.optional(
                                "stdin", Shapes.FLAG, "whether stdin stays open; default false"),
                            Field.optional(
                                "terminal",
                                SIZE,
                                "run the command in a terminal of this size, with stdin open"))
                        .named("StartExecutionRequest"),
                    true))
            .answers(
                Response.json(
                    201,
                    new Shape.Obj(
                            Field.required("id", Shapes.WORD, "id, unique within the sandbox")
                                .example("e1"),
                            Field.required("pid", Shapes.COUNT, "process id inside the sandbox")
                                .example(17))
                        .named("StartedExecution")))
            .handledBy(this::start),
        Route.of("GET", TEMPLATE, "listExecutions", "Lists running and recently ended executions.")
            .acceptsSandboxTokens()
            .takes(Shapes.ID)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "executions", new Shape.ListOf(INFO, 10_000), "oldest first"))
                        .named("ExecutionList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "executions",
                            attaching(exchange).executions().stream()
                                .map(ExecutionRoutes::json)
                                .toList()))),
        Route.of("GET", TEMPLATE + "/{execution}", "getExecution", "Describes an execution.")
            .acceptsSandboxTokens()
            .takes(Shapes.ID, EXECUTION)
            .answers(Response.json(200, INFO))
            .handledBy(exchange -> exchange.json(200, json(info(exchange)))),
        Route.of(
                "POST",
                TEMPLATE + "/{execution}/signal",
                "signal",
                "Sends a signal to an execution.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, EXECUTION)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                                "signal",
                                Shapes.WORD,
                                "TERM, SIGTERM or 15; KILL kills the process tree")
                            .example("TERM")),
                    true))
            .handledBy(this::signal),
        Route.of("POST", TEMPLATE + "/{execution}/resize", "resizeTerminal", "Resizes a terminal.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, EXECUTION)
            .takes(new Body.Json(SIZE, true))
            .handledBy(this::resize),
        Route.of(
                "GET",
                TEMPLATE + "/{execution}/terminal",
                "attachTerminal",
                "Attaches to a terminal by WebSocket, subprotocol "
                    + TerminalSession.PROTOCOL
                    + ". Binary frames carry output and input; see docs/server.md.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(
                Shapes.ID,
                EXECUTION,
                Parameter.query(
                    "offset",
                    Shapes.COUNT,
                    "offset to start from; default: the oldest retained output"))
            .answers(new Response(101, "", Optional.empty(), "switching to WebSocket"))
            .handledBy(this::terminal),
        Route.of(
                "POST",
                TEMPLATE + "/{execution}/stdin",
                "writeStdin",
                "Writes to the stdin of an execution.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, EXECUTION)
            .takes(Parameter.query("close", Shapes.FLAG, "close stdin afterwards; default false"))
            .takes(new Body.Stream("application/octet-stream"))
            .handledBy(this::stdin),
        Route.of(
                "GET",
                TEMPLATE + "/{execution}/output",
                "followOutput",
                "Streams the output as events output, gap and exit. The id of an event is the"
                    + " offset after it.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                EXECUTION,
                Parameter.query("offset", Shapes.COUNT, "offset to start from; default 0"),
                Parameter.header("Last-Event-ID", Shapes.COUNT, "alternative to offset"))
            .answers(Response.of("text/event-stream", "output until the command ends"))
            .handledBy(this::output));
  }

  private Attaching attaching(Exchange exchange) {
    SandboxId id = exchange.sandbox();
    return attaching(id, context.sandboxes().get(id));
  }

  private Attaching attaching(SandboxId id, Sandbox sandbox) {
    return sandbox
        .as(Attaching.class)
        .orElseThrow(
            () -> Capability.unsupported(context.sandboxes().view(id).provider(), "attaching"));
  }

  private static ExecutionId execution(Exchange exchange) {
    try {
      return new ExecutionId(exchange.path("execution"));
    } catch (IllegalArgumentException e) {
      throw notFound(exchange);
    }
  }

  private static SandboxException notFound(Exchange exchange) {
    return Fault.of(
            ErrorCode.EXECUTION_NOT_FOUND,
            "the execution does not exist in sandbox " + exchange.sandbox(),
            "list the executions of the sandbox")
        .sandbox(exchange.sandbox())
        .exception();
  }

  private ExecutionInfo info(Exchange exchange) {
    ExecutionId id = execution(exchange);
    return attaching(exchange).executions().stream()
        .filter(one -> one.id().equals(id))
        .findFirst()
        .orElseThrow(() -> notFound(exchange));
  }

  private void start(Exchange exchange) throws IOException {
    Command command = CommandBody.read(exchange.body());
    if (Boolean.TRUE.equals(exchange.body().get("stdin"))) {
      command = command.withStdin();
    }
    SandboxId id = exchange.sandbox();
    Sandbox sandbox = context.sandboxes().get(id);
    attaching(id, sandbox); // without it the client could not refer to the execution again
    Execution execution;
    try {
      execution = startExecution(id, sandbox, command, exchange.body().get("terminal"));
    } catch (SandboxException e) {
      throw CommandBody.failed(command, e);
    }
    started.hold(id, execution);
    exchange.json(201, Map.of("id", execution.id().value(), "pid", execution.pid()));
  }

  private Execution startExecution(
      SandboxId id, Sandbox sandbox, Command command, @Nullable Object terminal) {
    if (!(terminal instanceof Map<?, ?> size)) {
      return sandbox.start(command);
    }
    return sandbox
        .as(Terminals.class)
        .orElseThrow(
            () -> Capability.unsupported(context.sandboxes().view(id).provider(), "terminals"))
        .open(command, size(size));
  }

  private static TerminalSize size(Map<?, ?> shape) {
    return shape.get("cols") instanceof Number cols && shape.get("rows") instanceof Number rows
        ? new TerminalSize(cols.intValue(), rows.intValue())
        : new TerminalSize(80, 24);
  }

  private void resize(Exchange exchange) throws IOException {
    try (Execution execution = attach(exchange)) {
      requireTerminal(exchange, execution).resize(size(exchange.body()));
    }
    exchange.noContent();
  }

  private static Terminal requireTerminal(Exchange exchange, Execution execution) {
    if (execution instanceof Terminal terminal) {
      return terminal;
    }
    throw Fault.of(
            ErrorCode.ILLEGAL_STATE,
            "the execution has no terminal",
            "start the execution with terminal: {rows, cols}")
        .sandbox(exchange.sandbox())
        .exception();
  }

  private void terminal(Exchange exchange) {
    ExecutionInfo info = info(exchange);
    long offset = exchange.query("offset").map(Long::parseLong).orElse(info.firstOffset());
    checkOffset(offset, info);
    Execution execution = attach(exchange, info, offset);
    boolean upgraded = false;
    try {
      exchange.webSocket(
          TerminalSession.PROTOCOL,
          new TerminalSession(
              requireTerminal(exchange, execution),
              offset,
              exchange::isShuttingDown,
              JsonViews::exit));
      upgraded = true;
    } finally {
      if (!upgraded) {
        execution.close();
      }
    }
  }

  private void signal(Exchange exchange) throws IOException {
    Signal signal =
        Signal.parse(exchange.text("signal"))
            .orElseThrow(
                () ->
                    Query.invalid(
                        List.of(new Violation("signal", "must be a signal such as TERM or 15"))));
    try (Execution execution = attach(exchange)) {
      if (signal.equals(Signal.KILL)) {
        execution.kill();
      } else {
        execution.signal(signal);
      }
    }
    exchange.noContent();
  }

  /** Attaches at the end of the output, to send input or a signal. */
  private Execution attach(Exchange exchange) {
    ExecutionInfo info = info(exchange);
    return attaching(exchange).attach(info.id(), info.endOffset());
  }

  private void stdin(Exchange exchange) throws IOException {
    boolean close = exchange.query("close").map(Boolean::parseBoolean).orElse(false);
    try (Execution execution = attach(exchange)) {
      StdinAttachment.writeAll(execution, exchange.content(), close);
    }
    exchange.noContent();
  }

  private void output(Exchange exchange) throws IOException {
    ExecutionInfo info = info(exchange);
    long offset =
        exchange
            .header("Last-Event-ID")
            .or(() -> exchange.query("offset"))
            .map(Long::parseLong)
            .orElse(0L);
    checkOffset(offset, info);
    Execution execution = attach(exchange, info, offset);
    try (OutputFeed feed = OutputFeed.of(execution)) {
      new OutputEvents(execution, feed).follow(exchange, offset);
    }
  }

  /** Attaches to read the output. */
  private Execution attach(Exchange exchange, ExecutionInfo info, long offset) {
    Optional<Execution> held = started.take(exchange.sandbox(), info.id());
    if (offset == 0 && held.isPresent()) {
      return held.get();
    }
    held.ifPresent(Execution::close);
    return attaching(exchange).attach(info.id(), offset);
  }

  private static void checkOffset(long offset, ExecutionInfo info) {
    if (offset > info.endOffset()) {
      throw Query.invalid(List.of(new Violation("offset", "is past the end of the output")));
    }
  }

  private static Map<String, Object> json(ExecutionInfo info) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", info.id().value());
    json.put("pid", info.pid());
    info.tag().ifPresent(tag -> json.put("tag", tag));
    json.put(
        "argv", info.argv().stream().map(word -> Confidential.content(word, Scope.USE)).toList());
    info.cwd().ifPresent(cwd -> json.put("cwd", cwd));
    info.user().ifPresent(user -> json.put("user", user));
    json.put("startedAt", info.startedAt().toString());
    json.put("running", info.running());
    json.put("firstOffset", info.firstOffset());
    json.put("endOffset", info.endOffset());
    info.terminal()
        .ifPresent(
            size -> json.put("terminal", Map.of("rows", size.rows(), "cols", size.columns())));
    info.exit().ifPresent(exit -> json.put("exit", JsonViews.exit(exit)));
    return json;
  }
}
