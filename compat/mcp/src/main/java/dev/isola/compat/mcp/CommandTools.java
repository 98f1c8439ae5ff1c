package dev.isola.compat.mcp;

import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Scope;
import dev.isola.server.content.OutputFeed;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Tools that run commands and read their output. */
record CommandTools(ServerContext context, ToolSandboxes sandboxes) {
  /** Bytes of output in a result, about 10,000 tokens. */
  private static final int MAX_OUTPUT = 32 * 1024;

  private static final int MAX_COMMAND = 256 * 1024;
  private static final int DEFAULT_WAIT = 30;
  private static final int MAX_WAIT = 600;
  private static final int DEFAULT_OUTPUT_WAIT = 10;

  /** Once there is output, how long to wait for more of it. */
  private static final Duration SETTLE = Duration.ofMillis(250);

  private static final Field HANDLE =
      Field.required("handle", new Shape.NonEmptyText(100), "Handle that exec returned.");

  List<Tool> tools() {
    return List.of(
        new Tool(
            "exec",
            "Run a shell command. Returns its output and exit code, or, if it still runs after"
                + " waitSeconds, a handle; it continues, also without a client.",
            Scope.USE,
            false,
            new Shape.Obj(
                Field.required("command", new Shape.NonEmptyText(MAX_COMMAND), "For /bin/sh -c."),
                SandboxTools.SANDBOX,
                Field.optional("cwd", new Shape.NonEmptyText(4096), "Working directory."),
                Field.optional("stdin", new Shape.Text(MAX_COMMAND, ""), "Standard input."),
                Field.optional(
                    "waitSeconds", new Shape.WholeNumber(0, MAX_WAIT), "Default 30, at most 600."),
                Field.optional(
                    "timeoutSeconds",
                    new Shape.WholeNumber(1, 604_800),
                    "Kill the command after this time. Default: never.")),
            this::exec),
        new Tool(
            "output",
            "Read the output of a command, also after it has ended, and whether it still runs."
                + " Pass the returned nextOffset to read on. The last 1 MiB is kept.",
            Scope.READ,
            true,
            new Shape.Obj(
                HANDLE,
                Field.optional(
                    "offset", new Shape.WholeNumber(0, Long.MAX_VALUE), "Byte offset. Default 0."),
                Field.optional(
                    "waitSeconds",
                    new Shape.WholeNumber(0, MAX_WAIT),
                    "Wait this long for new output. Default 10.")),
            this::output),
        new Tool(
            "kill",
            "Send a signal to a running command.",
            Scope.USE,
            false,
            new Shape.Obj(
                HANDLE,
                Field.optional(
                    "signal",
                    new Shape.NonEmptyText(16),
                    "Such as INT or TERM. Default KILL, which ends the whole process tree.")),
            this::kill));
  }

  private ToolResult exec(ToolCall call) throws IOException {
    SandboxView view = sandboxes.requireOrCreate(call);
    Sandbox sandbox = context.sandboxes().get(view.id());
    attaching(sandbox, view.id()); // without it the client could not refer to the command again
    Command command = Command.shell(call.requiredText("command"));
    command = call.text("cwd").map(command::withCwd).orElse(command);
    Optional<Long> timeout = call.number("timeoutSeconds");
    if (timeout.isPresent()) {
      command = command.withTimeout(Duration.ofSeconds(timeout.get()));
    }
    Optional<String> stdin = call.text("stdin");
    Execution execution = sandbox.start(stdin.isPresent() ? command.withStdin() : command);
    stdin.ifPresent(
        text -> Thread.ofVirtual().name("isola-stdin").start(() -> write(execution, text)));
    OutputWindow window = new OutputWindow(0, MAX_OUTPUT / 2, MAX_OUTPUT / 2);
    Duration wait = Duration.ofSeconds(call.number("waitSeconds").orElse((long) DEFAULT_WAIT));
    Optional<Exit> exit = follow(call, execution, window, wait, false);
    return result(new ExecutionHandle(view.id(), execution.id()), window, exit, false);
  }

  private static void write(Execution execution, String text) {
    try (OutputStream out = execution.stdin()) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // The command has ended or closed its stdin; the result reports the rest.
    }
  }

  /**
   * Reads output until the command ends or the time is over, and detaches.
   *
   * @param once whether to return when the window is full, or soon after the first output
   */
  private static Optional<Exit> follow(
      ToolCall call, Execution execution, OutputWindow window, Duration wait, boolean once)
      throws IOException {
    try (OutputFeed feed = OutputFeed.of(execution);
        var _ = call.exchange().interruptOnDisconnect()) {
      try {
        return read(call, feed, window, wait, once);
      } catch (InterruptedException e) {
        if (!call.waiting().isCancelled()) {
          return Optional.empty(); // the command continues without its client
        }
        if (!once) {
          execution.kill();
        }
        throw ToolSandboxes.cancelled(e);
      } catch (IOException e) {
        if (!once && call.waiting().isCancelled()) {
          execution.kill();
        }
        throw e;
      }
    }
  }

  private static Optional<Exit> read(
      ToolCall call, OutputFeed feed, OutputWindow window, Duration wait, boolean once)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    long end = start + wait.toNanos();
    long nextTick = start + CallWait.INTERVAL.toNanos();
    while (!(once && window.isFull()) && !call.exchange().isShuttingDown()) {
      long now = System.nanoTime();
      if (once && !window.isEmpty()) {
        end = Math.min(end, now + SETTLE.toNanos());
      }
      OutputFeed.Item item =
          feed.next(Duration.ofNanos(Math.max(0, Math.min(end, nextTick) - now)));
      switch (item) {
        case OutputFeed.Item.Piece(var output) -> window.add(output);
        case OutputFeed.Item.End(var exit) -> {
          return Optional.of(exit);
        }
        case OutputFeed.Item.Failed(var why) -> throw why;
        case null -> {}
      }
      if (System.nanoTime() - nextTick >= 0) {
        nextTick += CallWait.INTERVAL.toNanos();
        call.waiting().tick(window.position() + " bytes of output");
      }
      if (System.nanoTime() - end >= 0 && (item == null || !once)) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /**
   * @param exit empty while the command runs
   * @param more whether output that is stored already follows
   */
  private static ToolResult result(
      ExecutionHandle handle, OutputWindow window, Optional<Exit> exit, boolean more) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("handle", handle.toString());
    json.put("running", exit.isEmpty());
    exit.ifPresent(
        end -> {
          json.put("exitCode", end.shellCode());
          json.put("exit", describe(end));
        });
    String output = window.text(handle.toString());
    json.put("output", output);
    json.put("nextOffset", window.position());
    json.put("more", more);
    if (window.omitted() > 0) {
      json.put("leftOutBytes", window.omitted());
      json.put("leftOutOffset", window.headEnd());
    }
    if (window.lost() > 0) {
      json.put("lostBytes", window.lost());
    }
    String lost = window.lost() > 0 ? "[" + window.lost() + " bytes are no longer stored]\n" : "";
    String separator = output.isEmpty() || output.endsWith("\n") ? "" : "\n";
    String next =
        more || exit.isEmpty()
            ? "; read on with output(handle=\"" + handle + "\", offset=" + window.position() + ")"
            : "";
    String status = exit.map(CommandTools::describe).orElse("still running");
    String text =
        lost + output + separator + "[" + status + (more ? "; more output" : "") + next + "]";
    return ToolResult.of(text, json);
  }

  static String describe(Exit exit) {
    return switch (exit) {
      case Exit.Exited(int code) -> "exit code " + code;
      case Exit.Signaled(Signal signal) -> "killed by " + signal.name();
      case Exit.TimedOut(Duration after) -> "killed: timeout of " + after.toSeconds() + " s";
      case Exit.OutOfMemory() -> "killed: out of memory";
      case Exit.Lost(String reason) -> "lost: " + reason;
    };
  }

  private ToolResult output(ToolCall call) throws IOException {
    ExecutionHandle handle = ExecutionHandle.parse(call.requiredText("handle"));
    Attaching attaching = attaching(call, handle);
    ExecutionInfo info = info(attaching, handle);
    long offset = call.number("offset").orElse(0L);
    if (offset > info.endOffset()) {
      throw Query.invalid(
          List.of(
              new Violation(
                  "offset", "is past the end of the output, which is " + info.endOffset())));
    }
    OutputWindow window = new OutputWindow(offset, MAX_OUTPUT, 0);
    Duration wait =
        Duration.ofSeconds(call.number("waitSeconds").orElse((long) DEFAULT_OUTPUT_WAIT));
    Optional<Exit> exit = follow(call, attaching.attach(info.id(), offset), window, wait, true);
    if (exit.isPresent() || !window.isFull()) {
      return result(handle, window, exit, false);
    }
    window.dropIncompleteCharacter();
    ExecutionInfo now = info(attaching, handle);
    return result(handle, window, now.exit(), now.endOffset() > window.position());
  }

  private ToolResult kill(ToolCall call) {
    ExecutionHandle handle = ExecutionHandle.parse(call.requiredText("handle"));
    String word = call.text("signal").orElse("KILL");
    Signal signal =
        Signal.parse(word)
            .orElseThrow(
                () ->
                    Query.invalid(
                        List.of(new Violation("signal", "must be a signal such as TERM or 15"))));
    Attaching attaching = attaching(call, handle);
    ExecutionInfo info = info(attaching, handle);
    try (Execution execution = attaching.attach(info.id(), info.endOffset())) {
      if (signal.equals(Signal.KILL)) {
        execution.kill();
      } else {
        execution.signal(signal);
      }
    }
    return ToolResult.of(
        "sent " + signal.name(), Map.of("handle", handle.toString(), "signal", signal.name()));
  }

  private Attaching attaching(ToolCall call, ExecutionHandle handle) {
    SandboxId id = sandboxes.require(call.exchange(), handle.sandbox()).id();
    return attaching(context.sandboxes().get(id), id);
  }

  private Attaching attaching(Sandbox sandbox, SandboxId id) {
    return sandbox
        .as(Attaching.class)
        .orElseThrow(
            () -> Capability.unsupported(context.sandboxes().view(id).provider(), "attaching"));
  }

  private static ExecutionInfo info(Attaching attaching, ExecutionHandle handle) {
    return attaching.executions().stream()
        .filter(one -> one.id().equals(handle.execution()))
        .findFirst()
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.EXECUTION_NOT_FOUND,
                        "sandbox " + handle.sandbox() + " no longer has this command",
                        "run it again; the last 64 commands that ended are kept")
                    .sandbox(handle.sandbox())
                    .exception());
  }
}
