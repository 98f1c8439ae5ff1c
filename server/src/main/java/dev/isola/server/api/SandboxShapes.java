package dev.isola.server.api;

import dev.isola.document.RequestFields;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.util.List;
import java.util.Map;

/** Shapes of sandboxes in responses. */
final class SandboxShapes {
  /** The spec in responses. */
  static final Shape.Obj SPEC = FieldShapes.response(RequestFields.REQUEST);

  static final Shape.Obj SANDBOX =
      new Shape.Obj(
              Field.required("id", Shapes.SANDBOX_ID, "sandbox id; valid as part of a host name"),
              Field.deprecated("runtimeId", Shapes.SANDBOX_ID, "the same as id; not in lists"),
              Field.deprecated("runtime", Shapes.WORD, "the same as provider; not in lists"),
              Field.optional("name", Shapes.SANDBOX_NAME, "name chosen by the client"),
              Field.required("state", Shapes.STATE, "lifecycle state").example("running"),
              Field.required("provider", Shapes.WORD, "provider that created it")
                  .example("bubblewrap"),
              Field.required("isolation", Shapes.ISOLATION, "isolation level").example("container"),
              Field.required("warm", Shapes.FLAG, "whether it came from the warm pool"),
              Field.required(
                      "attempts",
                      new Shape.ListOf(
                          new Shape.Obj(
                                  Field.required(
                                      "provider", Shapes.WORD, "provider that was tried"),
                                  Field.required("reason", Shapes.TEXT, "why it failed"),
                                  Field.required("at", Shapes.TIME, "time of the attempt"))
                              .named("SandboxAttempt"),
                          100),
                      "providers that were tried and failed")
                  .example(List.of()),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("lastActivity", Shapes.TIME, "time of last use, to the second"),
              Field.optional("expiresAt", Shapes.TIME, "expiry time; absent if it does not expire")
                  .example("2026-01-31T12:10:00Z"),
              Field.optional("idleTimeoutSeconds", Shapes.COUNT, "idle time after which it ends"),
              Field.optional("cause", Shapes.TEXT, "why it failed or ended"),
              Field.optional(
                  "unenforcedLimits",
                  new Shape.ListOf(Shapes.WORD, 100),
                  "limits that its provider does not enforce on this host; not in lists"),
              Field.optional(
                  "unenforcedRequestedLimits",
                  new Shape.ListOf(Shapes.WORD, 100),
                  "those of them that the create request set; only in its response"),
              Field.required("tags", Shapes.TEXTS, "tags set by the client")
                  .example(Map.of("team", "red")),
              Field.required("spec", SPEC, "the spec, with defaults"))
          .named("Sandbox");

  private SandboxShapes() {}
}
