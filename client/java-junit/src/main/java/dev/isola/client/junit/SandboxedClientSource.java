package dev.isola.client.junit;

import dev.isola.client.Isola;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Supplies the client of {@link Sandboxed} tests, in place of the environment: for frameworks that
 * have one already. Implementations are found by {@link java.util.ServiceLoader}.
 */
public interface SandboxedClientSource {
  /**
   * Returns the client for a test, or empty if this source has none for it. Called for each
   * parameter of a test; the source closes its client.
   */
  Optional<Isola> client(ExtensionContext context);
}
