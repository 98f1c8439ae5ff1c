package dev.isola.spi.spec;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** Validates egress settings. Fields are named as in {@link Egress}. */
public final class EgressValidation {
  /** Enough for any list that a person maintains; more belongs into a preset. */
  private static final int MAX_RULES = 1000;

  private static final int MAX_PORTS = 100;
  private static final int MAX_HTTP_RULES = 100;
  private static final int MAX_HEADERS = 50;
  private static final int MAX_TEXT = 4096;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}");
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,255}");
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}");

  private final String prefix;
  private final List<Violation> found = new ArrayList<>();

  private EgressValidation(String prefix) {
    this.prefix = prefix;
  }

  /**
   * Returns the violations of {@code egress}.
   *
   * @param prefix the name of the settings, before the names of fields
   */
  public static List<Violation> violations(String prefix, Egress egress) {
    EgressValidation validation = new EgressValidation(prefix);
    validation.check(egress);
    return List.copyOf(validation.found);
  }

  private void check(Egress egress) {
    require(
        egress.rules().size() <= MAX_RULES,
        "rules",
        "are more than " + MAX_RULES + "; use a preset");
    egress.rules().stream().limit(MAX_RULES).forEach(this::checkRule);
    require(egress.presets().size() <= MAX_PORTS, "presets", "are more than " + MAX_PORTS);
    egress.presets().forEach(preset -> name("presets", preset));
    require(egress.secrets().size() <= MAX_PORTS, "secrets", "are more than " + MAX_PORTS);
    egress
        .secrets()
        .forEach(
            (variable, secret) -> {
              require(
                  VARIABLE.matcher(variable).matches(),
                  "secrets",
                  "has a name that is no environment variable: '" + brief(variable) + "'");
              name("secrets", secret);
            });
    require(egress.bypass().size() <= MAX_RULES, "bypass", "has more than " + MAX_RULES + " hosts");
    egress
        .bypass()
        .forEach(
            host ->
                require(
                    Destination.parse(host).filter(Destination::isName).isPresent(),
                    "bypass",
                    "has an entry that is not a host: '" + brief(host) + "'"));
    Egress.Limits limits = egress.limits();
    limit("limits.connections", limits.connections(), 1, 512);
    limit("limits.connectionsPerMinute", limits.connectionsPerMinute(), 1, 1_000_000);
    limit("limits.bytesPerSecond", limits.bytesPerSecond(), 1024, 1L << 40);
    limit("limits.bytes", limits.bytes(), 0, 1L << 60);
  }

  private void checkRule(EgressRule rule) {
    require(
        Destination.parse(rule.destination()).isPresent(),
        "rules",
        "has a destination that is neither a host, *.SUFFIX, *, an address nor a block of addresses: '"
            + brief(rule.destination())
            + "'");
    require(rule.ports().size() <= MAX_PORTS, "rules", "has more than " + MAX_PORTS + " ports");
    require(
        rule.http().isEmpty() || rule.action() == EgressAction.ALLOW,
        "rules",
        "has HTTP rules at a denial; state the allowed requests instead");
    require(
        rule.http().isEmpty()
            || Destination.parse(rule.destination()).filter(Destination::isName).isPresent(),
        "rules",
        "has HTTP rules for an address; use the name of the host");
    require(rule.http().size() <= MAX_HTTP_RULES, "rules", "has too many HTTP rules");
    rule.http().forEach(this::checkHttp);
  }

  private void checkHttp(HttpRule http) {
    require(http.methods().size() <= MAX_HEADERS, "rules", "has too many methods");
    http.methods()
        .forEach(
            method ->
                require(
                    TOKEN.matcher(method).matches(),
                    "rules",
                    "has a method that HTTP does not allow: '" + brief(method) + "'"));
    http.path()
        .ifPresent(
            path ->
                require(
                    (path.startsWith("/") || path.startsWith("*")) && path.length() <= MAX_TEXT,
                    "rules",
                    "has a path that does not begin with '/': '" + brief(path) + "'"));
    headers(http.headers());
    headers(http.setHeaders());
  }

  private void headers(Map<String, String> headers) {
    require(headers.size() <= MAX_HEADERS, "rules", "has more than " + MAX_HEADERS + " headers");
    headers.forEach(
        (name, value) -> {
          require(
              TOKEN.matcher(name).matches(),
              "rules",
              "has a header name that HTTP does not allow: '" + brief(name) + "'");
          require(
              value.length() <= MAX_TEXT
                  && value.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 127)),
              "rules",
              "has a value of header " + brief(name) + " that HTTP does not allow");
        });
  }

  private void limit(String field, OptionalLong value, long min, long max) {
    require(
        value.isEmpty() || (value.getAsLong() >= min && value.getAsLong() <= max),
        field,
        "must be " + min + " to " + max);
  }

  private void name(String field, String name) {
    require(
        NAME.matcher(name).matches(),
        field,
        "has a name that is not 1 to 64 letters, digits, '_', '.' and '-': '" + brief(name) + "'");
  }

  private static String brief(String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }

  private void require(boolean ok, String field, String problem) {
    if (!ok) {
      found.add(new Violation(prefix + "." + field, problem));
    }
  }
}
