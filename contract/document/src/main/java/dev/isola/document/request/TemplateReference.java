package dev.isola.document.request;

import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;

/**
 * A reference to a template. It also records which limits the client set explicitly, because a spec
 * does not distinguish them from defaults.
 *
 * @param explicitCpu whether the client set a CPU limit
 * @param explicitMemory whether the client set a memory limit
 * @param requestedSpec the spec as sent by the client; present once the template has been resolved
 *     into the spec of the request
 */
public record TemplateReference(
    String name, boolean explicitCpu, boolean explicitMemory, Optional<SandboxSpec> requestedSpec) {

  /** Creates a reference that is not resolved. */
  public TemplateReference(String name, boolean ownCpu, boolean ownMemory) {
    this(name, ownCpu, ownMemory, Optional.empty());
  }

  /** Returns whether the spec of the request includes the values of the template. */
  public boolean isResolved() {
    return requestedSpec.isPresent();
  }
}
