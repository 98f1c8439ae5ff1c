package dev.isola.engine.secret;

import dev.isola.engine.api.NamedSecret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Adds the variables with placeholders to the spec that a provider gets. The ledger stores the spec
 * without them: only the names of the secrets.
 *
 * @param secrets returns those of the named secrets that exist
 */
public record SecretVariables(Function<Collection<String>, List<BoundSecret>> secrets) {

  /**
   * Checks the secrets of a new sandbox.
   *
   * @param key the name of the API key of the client; empty if the engine itself makes the request
   * @throws dev.isola.spi.error.NotFound if a secret does not exist, or the key may not use it
   * @throws dev.isola.spi.error.InvalidRequest if a variable is set twice
   */
  public void check(SandboxSpec spec, Optional<String> key) {
    check(spec, key, true);
  }

  /**
   * Checks the secrets of a fork. Those that were removed since its source was created are gone.
   */
  public void checkFork(SandboxSpec spec, Optional<String> key) {
    check(spec, key, false);
  }

  /** Checks the secrets of settings that replace those of a sandbox. */
  public void check(Egress egress, Optional<String> key) {
    check(egress, key, true);
  }

  private void check(Egress egress, Optional<String> key, boolean all) {
    Set<String> names = SecretReferences.of(egress);
    Map<String, NamedSecret> found = find(names);
    for (String name : names) {
      NamedSecret secret = found.get(name);
      if (secret == null ? all : !secret.allows(key)) {
        throw NamedSecret.notFound(name);
      }
    }
  }

  private void check(SandboxSpec spec, Optional<String> key, boolean all) {
    check(spec.network().egress(), key, all);
    for (String variable : spec.network().egress().secrets().keySet()) {
      if (spec.env().containsKey(variable) || spec.secretEnv().containsKey(variable)) {
        throw Fault.of(
                ErrorCode.INVALID_SPEC,
                "the variable " + variable + " is in env or secretEnv and holds a secret too",
                "remove one of them")
            .exception();
      }
    }
  }

  /**
   * Returns the spec with the variables. One whose secret was removed since the sandbox was created
   * is omitted.
   */
  public SandboxSpec addTo(SandboxSpec spec) {
    Map<String, String> names = spec.network().egress().secrets();
    if (names.isEmpty()) {
      return spec;
    }
    Map<String, NamedSecret> found = find(names.values());
    Map<String, String> variables = new LinkedHashMap<>();
    names.forEach(
        (variable, name) -> {
          NamedSecret secret = found.get(name);
          if (secret != null) {
            variables.put(variable, secret.placeholder());
          }
        });
    return spec.toBuilder().env(variables).build();
  }

  private Map<String, NamedSecret> find(Collection<String> names) {
    return secrets.apply(names).stream()
        .map(BoundSecret::secret)
        .collect(Collectors.toMap(NamedSecret::name, secret -> secret));
  }
}
