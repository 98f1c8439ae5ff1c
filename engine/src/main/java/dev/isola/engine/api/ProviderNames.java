package dev.isola.engine.api;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.Map;

/**
 * The provider names that the engine gives a meaning to. All other providers are identified only by
 * what they declare.
 */
public final class ProviderNames {
  public static final String AUTO = "auto";
  public static final String E2B = "e2b";
  public static final String MICROVM = "microvmctl";

  private static final Map<String, String> ALIASES =
      Map.of("local_microvm", MICROVM, "remote_e2b", E2B);

  /**
   * The providers that have an alias. The configuration accepts them even if they are not
   * installed.
   */
  public static final Collection<String> ALIASED = ALIASES.values();

  private ProviderNames() {}

  /** Returns the canonical name of a provider for a name or alias. */
  public static String canonical(String name) {
    return ALIASES.getOrDefault(name, name);
  }

  /** Returns the name of a provider for messages: its alias if it has one. */
  public static String displayName(String name) {
    return ALIASES.entrySet().stream()
        .filter(one -> one.getValue().equals(name))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(name);
  }

  /** Returns the error for an unknown provider name, with a suggestion and the known names. */
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
