package dev.isola.server.api;

import dev.isola.server.audit.AuditReader;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the audit log. */
record AuditRoutes(AuditReader audit) {
  private static final int MAX_LIMIT = 500;
  private static final int DEFAULT_LIMIT = 100;

  private static final Shape ENTRY =
      new Shape.Obj(
              Field.required("at", Shapes.TIME, "end of the request"),
              Field.required("key", Shapes.WORD, "name of the key, or kind of token").example("ci"),
              Field.required("action", Shapes.WORD, "operation").example("createSandbox"),
              Field.optional("sandbox", Shapes.WORD, "sandbox id").example("box1"),
              Field.optional("token", Shapes.FLAG, "whether the response contains a token"),
              Field.required("outcome", Shapes.WORD, "ok, or the error code").example("ok"),
              Field.required("status", Shapes.COUNT, "HTTP status").example(201),
              Field.required("requestId", Shapes.WORD, "id of the request in the log")
                  .example("1f2e3d4c5b6a7980"),
              Field.required("remote", Shapes.WORD, "address of the client").example("127.0.0.1"),
              Field.optional(
                  "invalidCredentials",
                  Shapes.COUNT,
                  "requests with an invalid credential since the entry before, too many to have"
                      + " entries of their own"))
          .named("AuditEntry");

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/audit",
                "listAudit",
                "Lists entries of the audit log, newest first. A page may have fewer entries than"
                    + " limit although there are more.")
            .needs(Scope.ADMIN)
            .takes(
                Parameter.query("sandbox", Shapes.SANDBOX_ID, "only entries of this sandbox"),
                Parameter.query(
                    "limit", new Shape.WholeNumber(1, MAX_LIMIT), "page size; default 100"),
                Parameter.query(
                    "before",
                    new MatchingText(
                        AuditReader.CURSOR, 40, "must be next of another page", "1234-5678"),
                    "value of next on the previous page"))
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "entries", new Shape.ListOf(ENTRY, MAX_LIMIT), "newest first"),
                            Field.optional("next", Shapes.WORD, "cursor of the next page"))
                        .named("AuditList")))
            .handledBy(this::list));
  }

  private void list(Exchange exchange) throws IOException {
    AuditReader.Page page =
        audit.read(
            exchange.query("sandbox"),
            exchange.query("limit").map(Integer::parseInt).orElse(DEFAULT_LIMIT),
            exchange.query("before"));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("entries", page.entries());
    page.next().ifPresent(next -> json.put("next", next));
    exchange.json(200, json);
  }
}
