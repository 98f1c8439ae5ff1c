package dev.isola.provider.subprocess;

import dev.isola.link.local.LocalProvider;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Plain processes, each in a new git worktree: the spec's {@code workspacePath} (or the setting
 * {@code repository}) is the repository, its {@code image} the branch, tag or commit. Several
 * sandboxes can work on one repository concurrently. Unsaved work is never removed unless forced.
 */
final class WorktreeProvider implements Provider {
  static final String NAME = "worktree";

  private static final String SUFFIX = ".repository";
  private static final Duration HEALTH_TIMEOUT = Duration.ofSeconds(30);

  private final ProviderConfig config;
  private final ProviderContext context;
  private final LocalProvider processes;
  private final SandboxLocks locks = new SandboxLocks();
  private final Path trees;

  WorktreeProvider(ProviderConfig config, ProviderContext context) {
    this.config = config;
    this.context = context;
    this.processes = new LocalProvider(context, new SubprocessBooter(NAME, context));
    this.trees = context.dataFolder().resolve("trees");
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info = processes.info();
    return SubprocessInfo.create(
        NAME,
        "plain processes in a new git worktree; no isolation",
        info.capabilities(),
        true,
        info.prerequisites().getFirst().present());
  }

  @Override
  public Health health() {
    try {
      new Git(Path.of("/"), HEALTH_TIMEOUT).run("--version");
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().problem(), e.fault().remedy());
    }
    return processes.health();
  }

  @Override
  public Optional<HostResources> resources() {
    return processes.resources();
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    return locks.withLock(spec.id(), () -> createLocked(spec));
  }

  private Sandbox createLocked(SandboxSpec spec) {
    Optional<Sandbox> existing = processes.attach(spec.id());
    if (existing.isPresent()) {
      return existing.get();
    }
    Worktree worktree = worktree(spec.id());
    if (worktree.exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "a worktree of sandbox " + spec.id() + " already exists: " + worktree.tree(),
              "destroy that sandbox first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    try {
      worktree.create(repository(spec), spec.image().orElse("HEAD"));
      return processes.create(spec.toBuilder().clearImage().workspacePath(worktree.tree()).build());
    } catch (IOException e) {
      removeOnFailure(worktree, e);
      throw Fault.of(
              ErrorCode.SPAWN_FAILED,
              "the worktree cannot be created: " + e.getMessage(),
              "check the free space and permissions of " + trees)
          .sandbox(spec.id())
          .exception(e);
    } catch (RuntimeException e) {
      removeOnFailure(worktree, e);
      throw e;
    }
  }

  private Path repository(SandboxSpec spec) {
    return spec.workspacePath()
        .or(() -> config.get("repository").map(Path::of))
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.INVALID_SPEC,
                        "workspacePath is missing: a worktree needs a repository",
                        "set workspacePath, or the provider's setting repository")
                    .sandbox(spec.id())
                    .exception());
  }

  private static void removeOnFailure(Worktree worktree, Exception cause) {
    try {
      worktree.remove();
    } catch (IOException | SandboxException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return processes.attach(id);
  }

  @Override
  public List<InventoryItem> inventory() {
    List<InventoryItem> found = new ArrayList<>(processes.inventory());
    Set<SandboxId> known = new HashSet<>();
    found.forEach(item -> known.add(item.id()));
    for (SandboxId id : recordedWorktrees()) {
      if (known.add(id)) {
        found.add(
            new InventoryItem(
                id,
                SandboxState.ERROR,
                context.clock().instant(),
                Map.of("workspace", worktree(id).tree().toString())));
      }
    }
    return found;
  }

  private List<SandboxId> recordedWorktrees() {
    List<SandboxId> found = new ArrayList<>();
    if (!Files.isDirectory(trees)) {
      return found;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(trees, "*" + SUFFIX)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        found.add(new SandboxId(name.substring(0, name.length() - SUFFIX.length())));
      }
      return found;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the worktrees cannot be listed: " + e.getMessage(),
              "check the permissions of " + trees)
          .exception(e);
    }
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions options) {
    locks.withLock(
        id,
        () -> {
          destroyLocked(id, options);
          return id;
        });
  }

  private void destroyLocked(SandboxId id, DestroyOptions options) {
    Worktree worktree = worktree(id);
    if (!options.force()) {
      worktree.requireNoUnsavedWork();
    }
    processes.destroy(id, options);
    if (!options.force()) {
      worktree.requireNoUnsavedWork(); // again, now that no process can write any more
    }
    try {
      worktree.remove();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the worktree of sandbox " + id + " cannot be removed: " + e.getMessage(),
              "unmount what is mounted there, and destroy the sandbox again")
          .sandbox(id)
          .exception(e);
    }
  }

  private Worktree worktree(SandboxId id) {
    return new Worktree(trees.resolve(id.value()), id);
  }

  @Override
  public void close() {
    processes.close();
  }
}
