package dev.isola.document;

import dev.isola.document.field.DocumentReader;
import dev.isola.document.field.Field;
import dev.isola.document.field.Form;
import dev.isola.document.field.ObjectType;
import dev.isola.document.field.Type;
import dev.isola.document.field.Type.OneOf;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.EgressValidation;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.PortRange;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The fields of egress settings. All are optional:
 *
 * <pre>{@code
 * {
 *   "default": "deny",
 *   "rules": [
 *     "pypi.org",                                    // the same as {"allow": "pypi.org"}
 *     {"allow": "*.example.com", "ports": [443, "8000-8100"]},
 *     {"deny": "private.example.com"},
 *     {"allow": "api.example.com", "http": [
 *       {"methods": ["GET"], "path": "/v1/*", "headers": {"Accept": "*"},
 *        "setHeaders": {"Authorization": "Bearer ${secret.example}"}}]}
 *   ],
 *   "presets": ["package-registries"],
 *   "secrets": {"API_KEY": "example"},
 *   "bypass": ["pinned.example.com"],
 *   "log": "connections",                            // or denials
 *   "limits": {"connections": 64, "connectionsPerMinute": 600, "bytesPerSecond": 1048576, "bytes": 1073741824}
 * }
 * }</pre>
 *
 * <p>{@link EgressValidation} checks the values, so that its messages name the rule.
 */
public final class EgressDocument {
  /** Which connections are events. */
  private enum LogLevel {
    DENIALS,
    CONNECTIONS
  }

  private static final int MOST = 1000;
  private static final Type.Text TEXT = Type.textOrBlank(4096).checkedLater();
  private static final Type.Text NAME =
      Type.matching(
              "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
              64,
              "must be 1 to 64 letters, digits, '_', '.' and '-'",
              "github")
          .checkedLater();
  private static final Type<Map<String, String>> TEXTS = Type.entries(TEXT);
  private static final Type.Text METHOD =
      Type.matching("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 256, "must be a method of HTTP", "GET")
          .checkedLater();
  private static final Type.Text PATH =
      Type.matching("^[/*]", 4096, "must begin with '/'", "/v1/*").checkedLater();
  private static final Type.Text VARIABLE =
      Type.matching(
              "^[A-Za-z_][A-Za-z0-9_]{0,255}$", 256, "must be an environment variable", "API_KEY")
          .checkedLater();
  private static final Type.Text DESTINATION =
      Type.matching("^\\S+$", 300, "must be a host, *.SUFFIX, *, an address or a block", "pypi.org")
          .checkedLater();

  private static final String PORT_PROBLEM = "must be a port, or a range such as \"8000-8100\"";

  private static final Type<PortRange> PORT =
      new OneOf<>(
          "EgressPort",
          PORT_PROBLEM,
          List.of(
              new OneOf.Alternative<>(
                  Type.integer(1, 65_535).checkedLater(),
                  port -> range(String.valueOf(port)),
                  range -> Optional.of(range.first()).filter(first -> first == range.last())),
              new OneOf.Alternative<>(
                  Type.matching(
                          "^[0-9]{1,5}(-[0-9]{1,5})?$",
                          11,
                          "must be a port or a range",
                          "8000-8100")
                      .checkedLater(),
                  EgressDocument::range,
                  range -> Optional.of(range.toString()))));

  private static final ObjectType<HttpRule> HTTP_RULE = httpRule();

  /** A rule in the list of rules. */
  public static final ObjectType<EgressRule> RULE = rule();

  private static final Type<EgressRule> RULE_OR_HOST =
      new OneOf<>(
          "EgressRuleOrHost",
          "must be a host, or an object with allow or deny",
          List.of(
              OneOf.Alternative.inRequests(DESTINATION, EgressRule::allow),
              new OneOf.Alternative<>(RULE, rule -> rule, Optional::of)));

  private static final ObjectType<Egress.Limits> LIMITS = limits();

  /** Egress settings, a document of their own or part of a spec. */
  public static final ObjectType<Egress> SETTINGS = settings();

  private EgressDocument() {}

  /**
   * Reads egress settings that are a document of their own.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every invalid
   *     field
   */
  public static Egress fromMap(Map<?, ?> document) {
    List<Violation> violations = new ArrayList<>();
    Egress egress = SETTINGS.read(DocumentReader.of(document, violations)).orElse(Egress.NONE);
    EgressValidation.violations("egress", egress).forEach(violations::add);
    SpecValidation.throwIfInvalid(violations);
    return egress;
  }

  /** Reads one rule, in the form that it has in a list of rules. */
  public static EgressRule ruleFromMap(Map<?, ?> document) {
    return fromMap(Map.of("rules", List.of(document))).rules().getFirst();
  }

  /** Writes egress settings so that they can be read again. */
  public static Map<String, Object> write(Egress egress) {
    return SETTINGS.write(egress, Form.STORED);
  }

  /** Writes one rule. */
  public static Map<String, Object> write(EgressRule rule) {
    return RULE.write(rule, Form.STORED);
  }

  private static PortRange range(String text) {
    return PortRange.parse(text).orElseThrow(() -> new IllegalArgumentException(PORT_PROBLEM));
  }

  private static ObjectType<HttpRule> httpRule() {
    var fields = new ObjectType.Fields<HttpRule>();
    var methods =
        fields.defaulted(
            "methods",
            Type.list(METHOD).atMost(50).checkedLater(),
            "allowed methods; default all",
            HttpRule::methods);
    var path =
        fields.optional("path", PATH, "allowed path; * stands for any characters", HttpRule::path);
    var headers =
        fields.defaulted("headers", TEXTS, "headers that a request must have", HttpRule::headers);
    var setHeaders =
        fields
            .defaulted(
                "setHeaders",
                TEXTS,
                "headers that are added or replaced; may contain ${secret.NAME}; *** for keys with"
                    + " scope read",
                HttpRule::setHeaders)
            .confidential();
    return fields.as(
        "EgressHttpRule",
        in ->
            new HttpRule(
                in.get(methods, List.of()),
                in.find(path),
                in.get(headers, Map.of()),
                in.get(setHeaders, Map.of())));
  }

  private static ObjectType<EgressRule> rule() {
    var fields = new ObjectType.Fields<EgressRule>();
    var allow =
        fields.optional(
            "allow",
            DESTINATION,
            "destination that is allowed",
            rule -> destination(rule, EgressAction.ALLOW));
    var deny =
        fields.optional(
            "deny",
            DESTINATION,
            "destination that is denied, instead of allow",
            rule -> destination(rule, EgressAction.DENY));
    var ports =
        fields
            .defaulted(
                "ports",
                Type.list(PORT).atMost(100).checkedLater(),
                "ports or ranges; default all",
                EgressRule::ports)
            .omittedIf(List::isEmpty);
    var http =
        fields
            .defaulted(
                "http",
                Type.list(HTTP_RULE).atMost(100).checkedLater(),
                "the only allowed HTTP requests",
                EgressRule::http)
            .omittedIf(List::isEmpty);
    return fields.orRejected(
        "EgressRule",
        in ->
            in.find(allow).isPresent() == in.find(deny).isPresent()
                ? in.reject("must have either allow or deny")
                : Optional.of(
                    new EgressRule(
                        in.find(allow).isPresent() ? EgressAction.ALLOW : EgressAction.DENY,
                        in.find(allow).or(() -> in.find(deny)).orElse(""),
                        in.get(ports, List.of()),
                        in.get(http, List.of()))));
  }

  private static Optional<String> destination(EgressRule rule, EgressAction action) {
    return Optional.of(rule.destination()).filter(any -> rule.action() == action);
  }

  private static ObjectType<Egress.Limits> limits() {
    var fields = new ObjectType.Fields<Egress.Limits>();
    var connections =
        limit(fields, "connections", 1, 512, "open at once", Egress.Limits::connections);
    var perMinute =
        limit(
            fields,
            "connectionsPerMinute",
            1,
            1_000_000,
            "new in a minute",
            Egress.Limits::connectionsPerMinute);
    var perSecond =
        limit(
            fields,
            "bytesPerSecond",
            1024,
            1L << 40,
            "both directions",
            Egress.Limits::bytesPerSecond);
    var bytes = limit(fields, "bytes", 0, 1L << 60, "in its whole life", Egress.Limits::bytes);
    return fields.as(
        "EgressLimits",
        in ->
            new Egress.Limits(
                in.get(connections, OptionalLong.empty()),
                in.get(perMinute, OptionalLong.empty()),
                in.get(perSecond, OptionalLong.empty()),
                in.get(bytes, OptionalLong.empty())));
  }

  private static Field<Egress.Limits, OptionalLong> limit(
      ObjectType.Fields<Egress.Limits> fields,
      String name,
      long least,
      long most,
      String description,
      Function<Egress.Limits, OptionalLong> value) {
    return fields
        .defaulted(
            name,
            Type.whole(least, most).checkedLater().map(OptionalLong::of, OptionalLong::getAsLong),
            description,
            value)
        .omittedIf(OptionalLong::isEmpty);
  }

  private static ObjectType<Egress> settings() {
    var fields = new ObjectType.Fields<Egress>();
    var fallback =
        fields.optional(
            "default",
            Type.choice("EgressAction", EgressAction.class),
            "what happens to names that no rule matches",
            Egress::fallback);
    var rules =
        fields.defaulted(
            "rules",
            Type.list(RULE_OR_HOST).atMost(MOST).checkedLater(),
            "the most specific matching rule decides",
            Egress::rules);
    var presets =
        fields.defaulted(
            "presets",
            Type.list(NAME).atMost(100).checkedLater(),
            "lists of the operator",
            Egress::presets);
    var secrets =
        fields.defaulted(
            "secrets",
            Type.entries(NAME).named(VARIABLE),
            "names of secrets by environment variable, which gets a placeholder",
            Egress::secrets);
    var bypass =
        fields.defaulted(
            "bypass",
            Type.list(DESTINATION).atMost(MOST).checkedLater(),
            "hosts whose TLS is never opened",
            Egress::bypass);
    var log =
        fields.defaulted(
            "log",
            Type.choice("EgressLog", LogLevel.class),
            "which connections are events; default denials",
            egress -> egress.logConnections() ? LogLevel.CONNECTIONS : LogLevel.DENIALS);
    var limits =
        fields.defaulted("limits", LIMITS, "limits of all connections together", Egress::limits);
    return fields
        .as(
            "Egress",
            in ->
                new Egress(
                    in.find(fallback),
                    in.get(rules, List.of()),
                    in.get(presets, List.of()),
                    in.get(secrets, Map.of()),
                    in.get(bypass, List.of()),
                    in.get(log, LogLevel.DENIALS) == LogLevel.CONNECTIONS,
                    in.get(limits, Egress.Limits.NONE)))
        .inRequests("EgressRequest");
  }
}
