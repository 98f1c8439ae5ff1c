package dev.isola.document;

import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.EgressValidation;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.PortRange;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The document form of egress settings. All fields are optional:
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
 */
public final class EgressDocument {
  /** Which connections are events. */
  private enum LogLevel {
    DENIALS,
    CONNECTIONS
  }

  private EgressDocument() {}

  /**
   * Reads egress settings that are a document of their own.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every invalid
   *     field
   */
  public static Egress fromMap(Map<?, ?> document) {
    List<Violation> violations = new ArrayList<>();
    Egress egress = read(DocumentReader.of(document, violations));
    EgressValidation.violations("egress", egress).forEach(violations::add);
    SpecValidation.throwIfInvalid(violations);
    return egress;
  }

  /** Reads one rule, in the form that it has in a list of rules. */
  public static EgressRule ruleFromMap(Map<?, ?> document) {
    return fromMap(Map.of("rules", List.of(document))).rules().getFirst();
  }

  static Egress read(DocumentReader in) {
    Egress read =
        new Egress(
            in.field(in.asOneOf(EgressAction.class), "default"),
            in.list((field, value) -> rule(in, field, value), "rules"),
            in.list(in::asText, "presets"),
            in.entries(in::asText, "secrets"),
            in.list(in::asText, "bypass"),
            in.field(in.asOneOf(LogLevel.class), "log")
                .filter(level -> level == LogLevel.CONNECTIONS)
                .isPresent(),
            in.object("limits").map(EgressDocument::limits).orElse(Egress.Limits.NONE));
    in.rejectUnknownFields();
    return read;
  }

  private static Egress.Limits limits(DocumentReader in) {
    Egress.Limits read =
        new Egress.Limits(
            number(in, "connections"),
            number(in, "connectionsPerMinute"),
            number(in, "bytesPerSecond"),
            number(in, "bytes"));
    in.rejectUnknownFields();
    return read;
  }

  private static OptionalLong number(DocumentReader in, String name) {
    return in.field(in::asLong, name).map(OptionalLong::of).orElse(OptionalLong.empty());
  }

  private static Optional<EgressRule> rule(
      DocumentReader in, String field, @Nullable Object value) {
    if (value instanceof String destination) {
      return Optional.of(EgressRule.allow(destination));
    }
    return in.asObject(field, value).flatMap(rule -> rule(field, rule));
  }

  private static Optional<EgressRule> rule(String field, DocumentReader in) {
    Optional<String> allow = in.field(in::asText, "allow");
    Optional<String> deny = in.field(in::asText, "deny");
    List<PortRange> ports = in.list((name, value) -> ports(in, name, value), "ports");
    List<HttpRule> http =
        in.list((name, value) -> in.asObject(name, value).map(EgressDocument::http), "http");
    in.rejectUnknownFields();
    if (allow.isPresent() == deny.isPresent()) {
      return in.reject(field, "must have either allow or deny");
    }
    return Optional.of(
        new EgressRule(
            allow.isPresent() ? EgressAction.ALLOW : EgressAction.DENY,
            allow.or(() -> deny).orElse(""),
            ports,
            http));
  }

  private static Optional<PortRange> ports(
      DocumentReader in, String field, @Nullable Object value) {
    String text =
        value instanceof Number ? String.valueOf(value) : value instanceof String s ? s : "";
    return PortRange.parse(text)
        .or(() -> in.reject(field, "must be a port, or a range such as \"8000-8100\""));
  }

  private static HttpRule http(DocumentReader in) {
    HttpRule read =
        new HttpRule(
            in.list(in::asText, "methods"),
            in.field(in::asText, "path"),
            in.entries(in::asText, "headers"),
            in.entries(in::asText, "setHeaders"));
    in.rejectUnknownFields();
    return read;
  }

  /** Writes egress settings so that they can be read again. */
  public static Map<String, Object> write(Egress egress) {
    Map<String, Object> document = new LinkedHashMap<>();
    egress.fallback().ifPresent(action -> document.put("default", name(action)));
    document.put("rules", egress.rules().stream().map(EgressDocument::write).toList());
    document.put("presets", egress.presets());
    document.put("secrets", egress.secrets());
    document.put("bypass", egress.bypass());
    document.put("log", name(egress.logConnections() ? LogLevel.CONNECTIONS : LogLevel.DENIALS));
    document.put("limits", write(egress.limits()));
    return document;
  }

  /** Writes one rule. */
  public static Map<String, Object> write(EgressRule rule) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put(name(rule.action()), rule.destination());
    if (!rule.ports().isEmpty()) {
      document.put("ports", rule.ports().stream().map(EgressDocument::write).toList());
    }
    if (!rule.http().isEmpty()) {
      document.put("http", rule.http().stream().map(EgressDocument::write).toList());
    }
    return document;
  }

  private static Object write(PortRange ports) {
    return ports.first() == ports.last() ? (Object) ports.first() : ports.toString();
  }

  private static Map<String, Object> write(HttpRule http) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("methods", http.methods());
    http.path().ifPresent(path -> document.put("path", path));
    document.put("headers", http.headers());
    document.put("setHeaders", http.setHeaders());
    return document;
  }

  private static Map<String, Object> write(Egress.Limits limits) {
    Map<String, Object> document = new LinkedHashMap<>();
    limits.connections().ifPresent(value -> document.put("connections", value));
    limits.connectionsPerMinute().ifPresent(value -> document.put("connectionsPerMinute", value));
    limits.bytesPerSecond().ifPresent(value -> document.put("bytesPerSecond", value));
    limits.bytes().ifPresent(value -> document.put("bytes", value));
    return document;
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
