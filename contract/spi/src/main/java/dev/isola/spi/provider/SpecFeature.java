package dev.isola.spi.provider;

import dev.isola.spi.spec.SandboxSpec;
import java.util.function.Predicate;

/** A part of a spec that a provider may or may not honour, and declares. */
public enum SpecFeature {
  IMAGES("images", spec -> spec.image().isPresent()),
  /** Commands may run as another user. */
  USERS("running as another user", spec -> spec.user().isPresent()),
  /** A folder of this host may be the workspace. */
  WORKSPACE_PATH("workspacePath", spec -> spec.workspacePath().isPresent()),
  /** Domains may be allowed and blocked. */
  DOMAINS(
      "network.allowDomains and network.blockDomains",
      spec -> !spec.network().allowDomains().isEmpty() || !spec.network().blockDomains().isEmpty()),
  GPUS("GPUs", spec -> spec.gpus() > 0);

  private final String words;

  @SuppressWarnings("ImmutableEnumChecker") // the predicates above hold nothing
  private final Predicate<SandboxSpec> asked;

  SpecFeature(String words, Predicate<SandboxSpec> asked) {
    this.words = words;
    this.asked = asked;
  }

  /** Tells whether a spec asks for it. */
  public boolean isRequestedBy(SandboxSpec spec) {
    return asked.test(spec);
  }

  /** Returns what a refusal names it. */
  public String displayName() {
    return words;
  }
}
