package dev.isola.server.api;

import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.error.Problem;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.OpenApi;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Executes many small file operations in order, in one request. */
record BatchRoutes(ServerContext context, ByteBudget budget) {
  private static final int MAX_OPERATIONS = 1000;

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                FileRoutes.TEMPLATE + "/batch",
                "batchFiles",
                "Executes many file operations in order. Stops at the first failure unless"
                    + " keepGoing is set. Completed operations are not undone; the results list"
                    + " them.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                                "operations",
                                new Shape.ListOf(FileOperation.SHAPE, MAX_OPERATIONS),
                                "the operations")
                            .example(
                                List.of(
                                    Map.of(
                                        "op", "write", "path", "hello.txt", "content", "hello\n"),
                                    Map.of("op", "read", "path", "hello.txt"))),
                        Field.optional(
                            "keepGoing",
                            Shapes.FLAG,
                            "whether to continue after a failure; default false")),
                    true))
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                        Field.required(
                            "results",
                            new Shape.ListOf(
                                new Shape.Obj(
                                        Field.required(
                                                "ok",
                                                Shapes.FLAG,
                                                "whether the operation succeeded")
                                            .example(true),
                                        Field.optional(
                                            "file", Shapes.FILE, "result of write and stat"),
                                        Field.optional(
                                            "content", FileOperation.CONTENT, "result of read"),
                                        Field.optional(
                                            "problem",
                                            OpenApi.problem(),
                                            "the error of a failed operation"))
                                    .named("FileOperationResult"),
                                MAX_OPERATIONS),
                            "one per attempted operation"),
                        Field.required("failed", Shapes.COUNT, "number of failed operations")
                            .example(0),
                        Field.required("left", Shapes.COUNT, "number of operations not attempted")
                            .example(0))))
            .handledBy(this::batch));
  }

  private void batch(Exchange exchange) throws IOException {
    List<FileOperation> operations = operations(exchange.body());
    boolean keepGoing = Boolean.TRUE.equals(exchange.body().get("keepGoing"));
    FileSystem files = context.sandboxes().get(exchange.sandbox()).files();
    try (FileOperation.ReadBudget room = new FileOperation.ReadBudget(budget)) {
      exchange.json(200, perform(exchange, operations, keepGoing, files, room));
    }
  }

  private static Map<String, Object> perform(
      Exchange exchange,
      List<FileOperation> operations,
      boolean keepGoing,
      FileSystem files,
      FileOperation.ReadBudget room) {
    List<Map<String, Object>> results = new ArrayList<>();
    int failed = 0;
    for (FileOperation operation : operations) {
      Map<String, Object> result = new LinkedHashMap<>(Map.of("ok", true));
      try {
        result.putAll(operation.perform(files, room));
      } catch (SandboxException e) {
        failed++;
        result.put("ok", false);
        result.put("problem", Problem.of(e, exchange.requestId()).body());
      }
      results.add(result);
      if (failed > 0 && !keepGoing) {
        break;
      }
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("results", results);
    answer.put("failed", failed);
    answer.put("left", operations.size() - results.size());
    return answer;
  }

  /** Validates all operations before the first one is executed. */
  private static List<FileOperation> operations(Map<String, Object> body) {
    List<Violation> problems = new ArrayList<>();
    List<FileOperation> operations = new ArrayList<>();
    for (Object each : (List<?>) body.getOrDefault("operations", List.of())) {
      Map<?, ?> fields = (Map<?, ?>) each;
      FileOperation operation = new FileOperation("operations[" + operations.size() + "]", fields);
      operation.check(problems);
      operations.add(operation);
    }
    if (!problems.isEmpty()) {
      throw Query.invalid(problems);
    }
    return operations;
  }
}
