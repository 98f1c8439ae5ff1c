package dev.isola.spi.provider;

import dev.isola.spi.spec.SandboxSpec;
import java.util.function.Predicate;

/** An optional part of a spec that a provider declares to support. */
public enum SpecFeature {
  IMAGES("images", spec -> spec.image().isPresent()),
  /** Commands can run as another user. */
  USERS("running as another user", spec -> spec.user().isPresent()),
  /** A host folder can be the workspace. */
  WORKSPACE_PATH("workspacePath", spec -> spec.workspacePath().isPresent()),
  /** Domains can be allowed and blocked by the provider itself, in a mode other than filtered. */
  DOMAINS(
      "network.allowDomains and network.blockDomains",
      spec ->
          !spec.network().isFiltered()
              && (!spec.network().allowDomains().isEmpty()
                  || !spec.network().blockDomains().isEmpty())),
  GPUS("GPUs", spec -> spec.gpus() > 0);

  private final String displayName;

  @SuppressWarnings("ImmutableEnumChecker") // the predicates above capture no state
  private final Predicate<SandboxSpec> isRequested;

  SpecFeature(String displayName, Predicate<SandboxSpec> isRequested) {
    this.displayName = displayName;
    this.isRequested = isRequested;
  }

  /** Returns whether a spec requests this feature. */
  public boolean isRequestedBy(SandboxSpec spec) {
    return isRequested.test(spec);
  }

  /** Returns the name of the feature in error messages. */
  public String displayName() {
    return displayName;
  }
}
