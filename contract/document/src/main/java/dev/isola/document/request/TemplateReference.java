package dev.isola.document.request;

import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;

/**
 * A template by name, with what of a spec has a default that cannot be told from the client's own.
 *
 * @param ownCpu whether the client gave a limit of processor time itself
 * @param ownMemory whether the client gave a limit of memory itself
 * @param asked the spec as the client sent it, once that of the request has what the template has
 */
public record TemplateReference(
    String name, boolean explicitCpu, boolean explicitMemory, Optional<SandboxSpec> requestedSpec) {

  /** A template that is still to be looked up. */
  public TemplateReference(String name, boolean ownCpu, boolean ownMemory) {
    this(name, ownCpu, ownMemory, Optional.empty());
  }

  /** Returns whether the spec of the request has what the template has. */
  public boolean isResolved() {
    return requestedSpec.isPresent();
  }
}
