package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead.Field;
import dev.isola.spi.spec.HttpRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Decides on the requests of one connection and changes those that are allowed. */
final class RequestPolicy {
  private final String host;
  private final int port;
  private final HttpRuleMatcher rules;
  private final SecretSubstitution secrets;

  /**
   * A request of either version of HTTP.
   *
   * @param target in origin-form, or {@code *}
   */
  record Request(String method, String authority, String target, List<Field> fields) {
    /** Returns the path for a report: without the query, and not too long. */
    String path() {
      String path = RequestPath.withoutQuery(target);
      return path.length() <= MAX_REPORTED_PATH ? path : path.substring(0, MAX_REPORTED_PATH);
    }
  }

  private static final int MAX_REPORTED_PATH = 512;

  /** The result of a check. */
  sealed interface Decision {
    /** The request as it is to be sent. */
    @SuppressWarnings("ArrayRecordComponent")
    record Allow(byte[] target, List<Field> fields) implements Decision {}

    record Deny(Denial denial) implements Decision {}
  }

  RequestPolicy(String host, int port, List<HttpRule> rules, SecretSubstitution secrets) {
    this.host = host;
    this.port = port;
    this.rules = new HttpRuleMatcher(rules);
    this.secrets = secrets;
  }

  SecretSubstitution secrets() {
    return secrets;
  }

  /** Returns whether the authority of a request is the host that the connection was made to. */
  boolean isHost(String authority) {
    String literal = host.contains(":") ? "[" + host + "]" : host;
    return authority.equalsIgnoreCase(literal) || authority.equalsIgnoreCase(literal + ":" + port);
  }

  Decision check(Request request, int misdirected) {
    if (!isHost(request.authority())) {
      return new Decision.Deny(
          new Denial(
              misdirected,
              "the request is for another host than '%s', to which the connection was made"
                  .formatted(host),
              "open a connection to that host"));
    }
    if (request.method().equals("CONNECT")) {
      return deny("a request of method CONNECT is not passed on", "connect to the host directly");
    }
    boolean origin = request.target().startsWith("/");
    if (!origin && !(request.target().equals("*") && request.method().equals("OPTIONS"))) {
      return new Decision.Deny(Denial.badRequest("the target of the request is not a path"));
    }
    if (!request.target().chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#')) {
      return new Decision.Deny(
          Denial.badRequest("the target of the request contains an invalid character"));
    }
    HttpRuleMatcher.Match match = rules.match(request.method(), request.target(), request.fields());
    if (match.denial().isPresent()) {
      return deny(
          match.denial().get() + " to " + host,
          "ask for a rule that allows %s %s on %s"
              .formatted(request.method(), request.path(), host));
    }
    try {
      return new Decision.Allow(
          secrets.substituteTarget(request.target()), change(request, match.rule()));
    } catch (SecretSubstitution.UnusableSecretException e) {
      return deny(e.problem(), "ask for another rule or secret");
    }
  }

  private static Decision deny(String reason, String remedy) {
    return new Decision.Deny(Denial.forbidden(reason, remedy));
  }

  private List<Field> change(Request request, Optional<HttpRule> rule)
      throws SecretSubstitution.UnusableSecretException {
    Map<String, String> set = rule.map(HttpRule::setHeaders).orElse(Map.of());
    List<Field> fields = new ArrayList<>();
    for (Field field : request.fields()) {
      boolean replaced =
          set.keySet().stream().anyMatch(name -> isSame(name, field.name()))
              || (secrets.masksResponses() && !ResponseForm.isKeptBy(field));
      if (!replaced) {
        fields.add(secrets.substitute(field));
      }
    }
    for (Map.Entry<String, String> header : set.entrySet()) {
      fields.add(secrets.resolve(header.getKey(), header.getValue()));
    }
    if (secrets.masksResponses()) {
      fields.add(Field.of("accept-encoding", "identity"));
    }
    return fields;
  }

  /** Compares names as those servers do that pass headers on as variables. */
  private static boolean isSame(String name, String other) {
    return name.replace('_', '-').equalsIgnoreCase(other.replace('_', '-'));
  }

  /**
   * Returns whether a field after the body can be passed on: none that a rule checks or sets, and
   * none that is left out of a head.
   */
  boolean isSafeTrailer(Field field) {
    String name = field.name().toLowerCase(Locale.ROOT);
    return !HttpRuleMatcher.isReserved(name)
        && !name.startsWith("content-")
        && !name.equals("authorization")
        && !name.equals("cookie")
        && (!secrets.masksResponses() || ResponseForm.isKeptBy(field))
        && rules.headerNames().noneMatch(known -> isSame(known, field.name()));
  }
}
