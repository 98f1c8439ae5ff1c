package dev.isola.egress.policy;

import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import java.util.List;

/**
 * Whether a connection is allowed.
 *
 * @param rule what decided, in words: a rule such as {@code allow *.example.com}, or the default
 * @param http the only HTTP requests that are allowed; every byte is if empty
 * @param remedy what would allow a denied connection; empty if nothing can
 */
public record Decision(boolean allowed, String rule, List<HttpRule> http, String remedy) {
  public Decision {
    http = List.copyOf(http);
  }

  static Decision allowed(String rule) {
    return new Decision(true, rule, List.of(), "");
  }

  static Decision allowed(String origin, EgressRule rule) {
    return new Decision(true, origin + describe(rule), rule.http(), "");
  }

  static Decision denied(String rule, String remedy) {
    return new Decision(false, rule, List.of(), remedy);
  }

  static String describe(EgressRule rule) {
    StringBuilder text =
        new StringBuilder(rule.action() == EgressAction.ALLOW ? "allow " : "deny ")
            .append(rule.destination());
    if (!rule.ports().isEmpty()) {
      text.append(" ports ");
      text.append(String.join(",", rule.ports().stream().map(Object::toString).toList()));
    }
    return text.toString();
  }
}
