package dev.isola.server.api;

import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.capability.Sandbox;
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
  private static final int USUAL_OUTPUT = 1 << 20;
  private static final int MOST_OUTPUT = 8 << 20;
  private static final Shape ENCODING = new Shape.Choice(List.of("utf8", "base64"));

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/exec",
                "exec",
                "Runs a command to its end. It is killed when the caller goes away.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    CommandBody.SHAPE.and(
                        Field.optional("stdin", new Shape.Content(1 << 20), "its input"),
                        Field.optional(
                            "outputLimit",
                            new Shape.WholeNumber(0, MOST_OUTPUT),
                            "bytes of each channel that are kept, half from each end; 1 MiB"),
                        Field.optional("encoding", ENCODING, "of stdout and stderr; utf8")),
                    true))
            .answers(Response.json(200, result()))
            .handledBy(this::exec));
  }

  private static Shape result() {
    return new Shape.Obj(
        Field.required("stdout", Shapes.TEXT, "what it wrote, in the encoding"),
        Field.required("stderr", Shapes.TEXT, "what it wrote, in the encoding"),
        Field.required("encoding", ENCODING, "of both; in utf8 what is not UTF-8 becomes U+FFFD"),
        Field.required("exitCode", new Shape.WholeNumber(0, 255), "as a shell shows it"),
        Field.optional("signal", Shapes.WORD, "that ended it"),
        Field.required("exit", new Shape.Document(Map.of("type", "object")), "how it ended"),
        Field.required("command", Shapes.TEXT, "as a person would type it"),
        Field.required("durationMs", Shapes.COUNT, "as the sandbox measured it"),
        Field.required("timedOut", Shapes.FLAG, "whether it ran into timeoutMs"),
        Field.required("truncated", Shapes.FLAG, "whether output between the ends was dropped"),
        Field.optional(
            "truncatedBy",
            new Shape.Choice(List.of("outputLimit", "serverMemory")),
            "why: more than outputLimit, or the server held as much output as it may for all"),
        Field.required("stdoutBytes", Shapes.COUNT, "all that it wrote"),
        Field.required("stderrBytes", Shapes.COUNT, "all that it wrote"),
        Field.required("limitsMet", new Shape.ListOf(Shapes.WORD, 20), "limits of the sandbox"));
  }

  private void exec(Exchange exchange) throws IOException {
    Map<String, Object> body = exchange.body();
    Command command = CommandBody.read(body);
    boolean base64 = "base64".equals(body.get("encoding"));
    int kept = body.get("outputLimit") instanceof Number limit ? limit.intValue() : USUAL_OUTPUT;
    OutputLimit limit = new OutputLimit(kept - kept / 2, kept / 2);
    Object input = body.get("stdin");
    byte[] stdin = input == null ? new byte[0] : CommandBody.bytes("stdin", input);
    Sandbox sandbox = context.engine().sandbox(SandboxRoutes.id(exchange));
    try (RetainedOutput stdout = new RetainedOutput(limit, budget);
        RetainedOutput stderr = new RetainedOutput(limit, budget)) {
      Map<String, Object> json;
      try (var _ = exchange.interruptOnDisconnect()) {
        Execution execution = sandbox.start(input == null ? command : command.withStdin());
        if (input != null) {
          Thread.ofVirtual().name("isola-stdin").start(() -> feed(execution, stdin));
        }
        Exit exit = collect(execution, stdout, stderr);
        json = json(execution, exit, stdout, stderr, base64);
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
    boolean ended = false;
    try (execution) {
      try {
        for (var piece = execution.read(); piece.isPresent(); piece = execution.read()) {
          switch (piece.get()) {
            case Output.Data data ->
                (data.channel() == Channel.STDERR ? stderr : stdout).add(data.bytes().toArray());
            case Output.Gap gap -> stdout.addLost(gap.lost());
          }
        }
        Exit exit = execution.await();
        ended = true;
        return exit;
      } finally {
        if (!ended) {
          execution.kill();
        }
      }
    }
  }

  private static void feed(Execution execution, byte[] stdin) {
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
