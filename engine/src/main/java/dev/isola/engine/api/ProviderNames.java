package dev.isola.engine.api;

import dev.isola.document.Suggestion;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.Map;

/** The names that mean something to the engine. All other providers are known by what they say. */
public final class ProviderNames {
  public static final String AUTO = "auto";
  public static final String E2B = "e2b";
  public static final String MICROVM = "microvmctl";

  private static final Map<String, String> ALIASES =
      Map.of("local_microvm", MICROVM, "remote_e2b", E2B);

  /** The providers that have another name: a configuration may name them wherever it is read. */
  public static final Collection<String> ALIASED = ALIASES.values();

  private ProviderNames() {}

  /** Returns the provider's own name for one of its other names. */
  public static String canonical(String name) {
    return ALIASES.getOrDefault(name, name);
  }

  /** Returns the name by which a provider is configured that is known by more than one. */
  public static String displayName(String name) {
    return ALIASES.entrySet().stream()
        .filter(one -> one.getValue().equals(name))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(name);
  }

  /** Says that nobody has that name, who was probably meant, and who there is. */
  public static SandboxException unknown(String plain, Collection<String> known) {
    String name = displayName(plain);
    String all = known.isEmpty() ? "none" : String.join(", ", known);
    String remedy =
        Suggestion.closest(name, known)
            .map(near -> "did you mean " + near + "? Known: " + all)
            .orElse("known: " + all);
    return Fault.of(ErrorCode.PROVIDER_NOT_FOUND, "no provider is named '" + name + "'", remedy)
        .with("provider", name)
        .exception();
  }
}
