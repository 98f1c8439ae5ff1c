package dev.isola.server.api;

import dev.isola.server.route.MatchingText;
import dev.isola.server.route.OneOfShape;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.spec.EgressAction;
import java.util.List;
import java.util.stream.Stream;

/** The shapes of egress settings, rules and traffic. */
final class EgressShapes {
  private static final int MOST = 1000;
  private static final Shape TEXT = new Shape.Text(4096, "");
  private static final Shape NAME =
      new MatchingText(
          "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
          64,
          "must be 1 to 64 letters, digits, '_', '.' and '-'",
          "github");
  private static final Shape METHOD =
      new MatchingText("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 256, "must be a method of HTTP", "GET");
  private static final Shape PATH = new MatchingText("^[/*]", 4096, "must begin with '/'", "/v1/*");
  private static final Shape VARIABLE =
      new MatchingText(
          "^[A-Za-z_][A-Za-z0-9_]{0,255}$", 256, "must be an environment variable", "API_KEY");

  /** Documents are checked in detail when they are read. */
  private static final Shape DESTINATION =
      new MatchingText(
          "^\\S+$", 300, "must be a host, *.SUFFIX, *, an address or a block", "pypi.org");

  private static final Shape PORT =
      new OneOfShape(
          "EgressPort",
          List.of(
              new Shape.WholeNumber(1, 65_535),
              new MatchingText(
                  "^[0-9]{1,5}(-[0-9]{1,5})?$", 11, "must be a port or a range", "8000-8100")));

  private static final Shape.Obj HTTP_RULE =
      new Shape.Obj(
              Field.optional(
                  "methods", new Shape.ListOf(METHOD, 50), "allowed methods; default all"),
              Field.optional("path", PATH, "allowed path; * stands for any characters"),
              Field.optional("headers", new Shape.MapOf(TEXT), "headers that a request must have"),
              Field.optional(
                  "setHeaders",
                  new Shape.MapOf(TEXT),
                  "headers that are added or replaced; may contain ${secret.NAME}; *** for keys with"
                      + " scope read"))
          .named("EgressHttpRule");

  static final Shape.Obj RULE =
      new Shape.Obj(
              Field.optional("allow", DESTINATION, "destination that is allowed"),
              Field.optional("deny", DESTINATION, "destination that is denied, instead of allow"),
              Field.optional("ports", new Shape.ListOf(PORT, 100), "ports or ranges; default all"),
              Field.optional(
                  "http", new Shape.ListOf(HTTP_RULE, 100), "the only allowed HTTP requests"))
          .named("EgressRule");

  private static final Shape LIMITS =
      new Shape.Obj(
              Field.optional("connections", new Shape.WholeNumber(1, 512), "open at once"),
              Field.optional(
                  "connectionsPerMinute", new Shape.WholeNumber(1, 1_000_000), "new in a minute"),
              Field.optional(
                  "bytesPerSecond", new Shape.WholeNumber(1024, 1L << 40), "both directions"),
              Field.optional("bytes", new Shape.WholeNumber(0, 1L << 60), "in its whole life"))
          .named("EgressLimits");

  static final Shape ACTION =
      new Shape.Choice(
          "EgressAction", Stream.of(EgressAction.values()).map(JsonViews::wireName).toList());

  private static Shape.Obj settings(Shape rule) {
    return new Shape.Obj(
        Field.optional("default", ACTION, "what happens to names that no rule matches"),
        Field.optional(
            "rules", new Shape.ListOf(rule, MOST), "the most specific matching rule decides"),
        Field.optional("presets", new Shape.ListOf(NAME, 100), "lists of the operator"),
        Field.optional(
            "secrets",
            new Shape.MapOf(NAME, VARIABLE),
            "names of secrets by environment variable, which gets a placeholder"),
        Field.optional(
            "bypass", new Shape.ListOf(DESTINATION, MOST), "hosts whose TLS is never opened"),
        Field.optional(
            "log",
            new Shape.Choice("EgressLog", List.of("denials", "connections")),
            "which connections are events; default denials"),
        Field.optional("limits", LIMITS, "limits of all connections together"));
  }

  /** Settings in responses. */
  static final Shape.Obj SETTINGS = settings(RULE).named("Egress");

  /** Settings in requests, where a rule may be just a host. */
  static final Shape.Obj REQUEST =
      settings(new OneOfShape("EgressRuleOrHost", List.of(DESTINATION, RULE)))
          .named("EgressRequest");

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
