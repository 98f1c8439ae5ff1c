package dev.isola.engine.snapshot;

import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.ReservedTags;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.store.SandboxEntry;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Decides whether the memory of a sandbox may be forked or stored, before anything is done to the
 * sandbox.
 *
 * @param statuses returns the latest status of each provider, without blocking
 */
public record MemoryForkPolicy(ProviderRegistry registry, Supplier<List<ProviderStatus>> statuses) {
  /** The label of a restored sandbox: the names of the secret variables of its source. */
  static final String RESTORED_SECRETS = ReservedTags.PREFIX + "memory.secrets";

  /**
   * Refuses a source whose provider does not fork memory.
   *
   * @throws dev.isola.spi.error.Unsupported with the providers of this server that do
   */
  public void requireSupport(SandboxEntry source, Purpose purpose) {
    if (!forksMemory(registry.get(source.provider()).info())) {
      throw unsupported(source, purpose);
    }
  }

  /**
   * Refuses a source with secret variables, or whose memory was restored from a sandbox that had
   * some, unless the client allows that.
   *
   * @throws dev.isola.spi.error.Conflict with the names of the variables
   */
  public static void requireNoSecrets(
      SandboxEntry source, Map<String, Secret> secretEnv, Purpose purpose, boolean allowSecrets) {
    Set<String> names = secretNames(source, secretEnv);
    if (!names.isEmpty() && !allowSecrets) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox "
                  + source.id()
                  + " has secret variables ("
                  + String.join(", ", names)
                  + "), and a "
                  + purpose.noun
                  + " of its memory contains whatever its processes hold of them",
              "if "
                  + purpose.everyCopy
                  + " may have them, request it with allowSecrets: true ("
                  + purpose.command
                  + " --allow-secrets); otherwise "
                  + purpose.verb
                  + " a sandbox without secretEnv")
          .sandbox(source.id())
          .exception();
    }
  }

  /** What the memory of a sandbox is copied for. */
  public enum Purpose {
    FORK("fork", "every fork", "isola fork", "fork", "forked"),
    SNAPSHOT("snapshot", "the snapshot", "isola snapshot create", "take one of", "stored");

    private final String noun;
    private final String everyCopy;
    private final String command;
    private final String verb;
    private final String participle;

    Purpose(String noun, String everyCopy, String command, String verb, String participle) {
      this.noun = noun;
      this.everyCopy = everyCopy;
      this.command = command;
      this.verb = verb;
      this.participle = participle;
    }
  }

  /** Returns the names of all variables whose secret values the memory of a sandbox may contain. */
  static Set<String> secretNames(SandboxEntry source, Map<String, Secret> secretEnv) {
    Set<String> names = new LinkedHashSet<>(secretEnv.keySet());
    String restored = source.labels().getOrDefault(RESTORED_SECRETS, "");
    if (!restored.isEmpty()) {
      names.addAll(List.of(restored.split(",", -1)));
    }
    return names;
  }

  public SandboxException unsupported(SandboxEntry source, Purpose purpose) {
    List<String> others =
        statuses.get().stream()
            .filter(one -> one.health().healthy())
            .filter(one -> one.info().filter(MemoryForkPolicy::forksMemory).isPresent())
            .map(ProviderStatus::name)
            .filter(name -> !name.equals(source.provider()))
            .toList();
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "the memory of sandbox "
                + source.id()
                + " cannot be "
                + purpose.participle
                + ": provider "
                + source.provider()
                + " copies files, but not running processes",
            (others.isEmpty()
                    ? "no healthy provider of this server copies memory; "
                    : "create the sandbox with provider " + String.join(" or ", others) + ", or ")
                + "request kind filesystem: a "
                + purpose.noun
                + " has its files, and processes start afresh (docs/snapshots.md)")
        .sandbox(source.id())
        .with("provider", source.provider())
        .with("capability", purpose.noun + "s of memory")
        .exception();
  }

  public static boolean forksMemory(ProviderInfo info) {
    return ForkKind.of(info).contains(ForkKind.MEMORY);
  }
}
