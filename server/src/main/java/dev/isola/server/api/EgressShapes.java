package dev.isola.server.api;

import dev.isola.document.EgressDocument;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.spec.EgressAction;
import java.util.stream.Stream;

/** The shapes of egress settings, rules and traffic. */
final class EgressShapes {
  private static final int MOST = 1000;
  private static final Shape TEXT = new Shape.Text(4096, "");
  private static final Shape ACTION =
      new Shape.Choice(
          "EgressAction", Stream.of(EgressAction.values()).map(JsonViews::wireName).toList());

  static final Shape.Obj RULE = FieldShapes.response(EgressDocument.RULE);

  /** Settings in responses. */
  private static final Shape.Obj SETTINGS = FieldShapes.response(EgressDocument.SETTINGS);

  /** Settings in requests, where a rule may be just a host. */
  static final Shape.Obj REQUEST = FieldShapes.request(EgressDocument.SETTINGS);

  private static final Shape.Obj CONNECTION =
      new Shape.Obj(
              Field.required("host", TEXT, "name or address that was connected to")
                  .example("pypi.org"),
              Field.required("port", new Shape.WholeNumber(0, 65_535), "port").example(443),
              Field.required("address", TEXT, "address of the host; empty if not connected yet")
                  .example("192.0.2.10"),
              Field.required("rule", TEXT, "what allowed it").example("allow pypi.org"),
              Field.required("sentBytes", Shapes.COUNT, "bytes from the sandbox"),
              Field.required("receivedBytes", Shapes.COUNT, "bytes to the sandbox"),
              Field.required("openedAt", Shapes.TIME, "when it was opened"),
              Field.optional("closedAt", Shapes.TIME, "when it ended"))
          .named("EgressConnection");

  private static final Shape.Obj DENIAL =
      new Shape.Obj(
              Field.required("at", Shapes.TIME, "when"),
              Field.required(
                  "denied", Shapes.FLAG, "false if it was allowed, but the host was not reached"),
              Field.required("host", TEXT, "name or address").example("example.com"),
              Field.required("port", new Shape.WholeNumber(0, 65_535), "port").example(443),
              Field.optional("request", TEXT, "method and path of a denied HTTP request"),
              Field.required("reason", TEXT, "why").example("no rule allows example.com port 443"),
              Field.optional("remedy", TEXT, "the rule that would allow it"))
          .named("EgressDenial");

  static final Shape.Obj REPORT =
      new Shape.Obj(
              Field.required("settings", SETTINGS, "the settings of the sandbox"),
              Field.required(
                  "rules",
                  new Shape.ListOf(RULE, 100_000),
                  "the rules that apply, with those of presets and domains"),
              Field.required("default", ACTION, "what happens to names that no rule matches"),
              Field.required(
                  "everyPort",
                  Shapes.FLAG,
                  "whether connections to every port are passed on; otherwise only to ports that"
                      + " rules name and to usual ones"),
              Field.required("totalConnections", Shapes.COUNT, "since the server is attached"),
              Field.required("totalDenials", Shapes.COUNT, "since the server is attached"),
              Field.required("sentBytes", Shapes.COUNT, "bytes from the sandbox"),
              Field.required("receivedBytes", Shapes.COUNT, "bytes to the sandbox"),
              Field.required("connections", new Shape.ListOf(CONNECTION, MOST), "open connections"),
              Field.required(
                  "recentConnections", new Shape.ListOf(CONNECTION, MOST), "ended, latest first"),
              Field.required(
                  "recentDenials", new Shape.ListOf(DENIAL, MOST), "denied, latest first"))
          .named("EgressReport");

  private EgressShapes() {}
}
