package dev.isola.engine.secret;

import dev.isola.engine.api.SecretRequest;
import dev.isola.spi.spec.Egress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;

/** The names of secrets that the egress settings of a sandbox refer to. */
public final class SecretReferences {
  /** A reference in the value of a header, such as <code>${secret.github}</code>. */
  public static final Pattern REFERENCE =
      Pattern.compile("\\$\\{secret\\.(" + SecretRequest.NAME + ")}");

  private SecretReferences() {}

  /** Returns the names of all secrets that a sandbox uses, in variables or in headers. */
  public static Set<String> of(Egress egress) {
    Set<String> names = new LinkedHashSet<>(egress.secrets().values());
    egress.rules().stream()
        .flatMap(rule -> rule.http().stream())
        .flatMap(http -> http.setHeaders().values().stream())
        .flatMap(value -> REFERENCE.matcher(value).results())
        .forEach(found -> names.add(found.group(1)));
    return names;
  }
}
