package dev.isola.server.api;

import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.OutputLimit;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs commands in the foreground. */
record ExecRoutes(ServerContext context, ByteBudget budget) {
  private static final int DEFAULT_OUTPUT = 1 << 20;
  private static final int MAX_OUTPUT = 8 << 20;

  /** Base64, or escaped control characters, are longer than the bytes that they stand for. */
  private static final Shape OUTPUT = new Shape.Text(2 * MAX_OUTPUT, "");

  private static final Shape ENCODING =
      new Shape.Choice("OutputEncoding", List.of("utf8", "base64"));

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/exec",
                "exec",
                "Runs a command to completion. The command is killed if the client disconnects.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    CommandBody.SHAPE
                        .and(
                            Field.optional("stdin", new ContentShape(), "content of stdin"),
                            Field.optional(
                                "outputLimit",
                                new Shape.WholeNumber(0, MAX_OUTPUT),
                                "bytes retained per channel, half from the start and half from the"
                                    + " end; default 1 MiB"),
                            Field.optional(
                                "encoding",
                                ENCODING,
                                "encoding of stdout and stderr; default utf8"))
                        .named("ExecRequest"),
                    true))
            .answers(Response.json(200, result()))
            .handledBy(this::exec));
  }

  private static Shape result() {
    return new Shape.Obj(
            Field.required("stdout", OUTPUT, "output in the given encoding").example("hello\n"),
            Field.required("stderr", OUTPUT, "output in the given encoding").example(""),
            Field.required(
                "encoding",
                ENCODING,
                "encoding of stdout and stderr; with utf8, invalid bytes become U+FFFD"),
            Field.required(
                    "exitCode", new Shape.WholeNumber(0, 255), "exit code as reported by a shell")
                .example(0),
            Field.optional("signal", Shapes.WORD, "signal that ended the command"),
            Field.required("exit", Shapes.EXIT, "how the command ended"),
            Field.required("command", Shapes.TEXT, "the command for display").example("echo hello"),
            Field.required("durationMs", Shapes.COUNT, "run time as measured in the sandbox"),
            Field.required("timedOut", Shapes.FLAG, "whether timeoutMs was exceeded"),
            Field.required("truncated", Shapes.FLAG, "whether output was omitted"),
            Field.optional(
                "truncatedBy",
                new Shape.Choice(List.of("outputLimit", "serverMemory")),
                "the reason: outputLimit, or the server's memory limit for the output of all"
                    + " requests"),
            Field.required("stdoutBytes", Shapes.COUNT, "total number of bytes written").example(6),
            Field.required("stderrBytes", Shapes.COUNT, "total number of bytes written").example(0),
            Field.required(
                    "limitsMet",
                    new Shape.ListOf(Shapes.WORD, 20),
                    "limits of the sandbox that the command reached")
                .example(List.of()))
        .named("ExecResult");
  }

  private void exec(Exchange exchange) throws IOException {
    Map<String, Object> body = exchange.body();
    Command command = CommandBody.read(body);
    boolean base64 = "base64".equals(body.get("encoding"));
    int retained =
        body.get("outputLimit") instanceof Number limit ? limit.intValue() : DEFAULT_OUTPUT;
    OutputLimit limit = new OutputLimit(retained - retained / 2, retained / 2);
    Object input = body.get("stdin");
    byte[] stdin = input == null ? new byte[0] : CommandBody.bytes("stdin", input);
    Sandbox sandbox = context.sandboxes().get(exchange.sandbox());
    try (RetainedOutput stdout = new RetainedOutput(limit, budget);
        RetainedOutput stderr = new RetainedOutput(limit, budget)) {
      Map<String, Object> json;
      try (var _ = exchange.interruptOnDisconnect()) {
        Execution execution = sandbox.start(input == null ? command : command.withStdin());
        if (input != null) {
          Thread.ofVirtual().name("isola-stdin").start(() -> writeStdin(execution, stdin));
        }
        Exit exit = collect(execution, stdout, stderr);
        json = json(execution, exit, stdout, stderr, base64);
      } catch (SandboxException e) {
        throw CommandBody.failed(command, e);
      }
      json.put("command", command.display());
      exchange.json(200, json);
    }
  }

  /**
   * Runs a command to completion. If the thread is interrupted because the client disconnected, the
   * command is killed.
   */
  private static Exit collect(Execution execution, RetainedOutput stdout, RetainedOutput stderr) {
    return execution.followToEnd(
        output -> {
          switch (output) {
            case Output.Data data ->
                (data.channel() == Channel.STDERR ? stderr : stdout).add(data.bytes());
            case Output.Gap gap -> stdout.addLost(gap.lost());
          }
        });
  }

  private static void writeStdin(Execution execution, byte[] stdin) {
    try (OutputStream out = execution.stdin()) {
      out.write(stdin);
    } catch (IOException e) {
      // The command has ended or closed its stdin; the result reports the rest.
    }
  }

  private static Map<String, Object> json(
      Execution execution,
      Exit exit,
      RetainedOutput stdout,
      RetainedOutput stderr,
      boolean base64) {
    Map<String, Object> json = new LinkedHashMap<>();
    boolean truncated = stdout.omitted() > 0 || stderr.omitted() > 0;
    json.put("stdout", stdout.toJsonText(base64));
    json.put("stderr", stderr.toJsonText(base64));
    json.put("encoding", base64 ? "base64" : "utf8");
    json.put("exitCode", exit.shellCode());
    if (exit instanceof Exit.Signaled(var signal)) {
      json.put("signal", signal.name());
    }
    json.put("exit", JsonViews.exit(exit));
    json.put("durationMs", execution.duration().toMillis());
    json.put("timedOut", exit instanceof Exit.TimedOut);
    json.put("truncated", truncated);
    if (truncated) {
      boolean memory = stdout.isOutOfBudget() || stderr.isOutOfBudget();
      json.put("truncatedBy", memory ? "serverMemory" : "outputLimit");
    }
    json.put("stdoutBytes", stdout.total());
    json.put("stderrBytes", stderr.total());
    json.put("limitsMet", JsonViews.wireNames(execution.limitsMet()));
    return json;
  }
}
