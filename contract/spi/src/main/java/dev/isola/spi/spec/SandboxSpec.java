package dev.isola.spi.spec;

import dev.isola.spi.Bytes;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.exec.Command;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Everything a provider needs to make a sandbox, and nothing else: when it expires and who may make
 * it is decided by the engine. Always valid: {@link Builder#build()} refuses anything else and
 * names every wrong field at once.
 *
 * @param id chosen by the caller or the engine; create is idempotent by it
 * @param image what the file system is made from; the provider's default when empty
 * @param env environment of every command
 * @param secretEnv more of the environment of every command, whose values are not shown, logged or
 *     stored in the clear; {@link #environment} has both
 * @param cwd working folder of commands; {@code workspaceMount} when empty
 * @param user who commands run as; the image's or provider's default when empty
 * @param workspacePath a folder of the host used as the workspace, and left there on destroy; a
 *     fresh one when empty
 * @param workspaceMount where the workspace is inside
 * @param volumes further mounts
 * @param seedFiles files that are there before the first command
 * @param init run once, before create returns; when it fails, so does create
 * @param startupTimeout how long create may take
 * @param deadline how long after create it ends by itself, also when no engine is there to destroy
 *     it; empty for no end
 * @param linger how long it goes on when its owner's connection is lost: empty until the deadline
 *     (the owner comes back), zero not at all (it belongs to one short-lived caller)
 * @param gpus how many are needed
 */
public record SandboxSpec(
    SandboxId id,
    Optional<String> image,
    Map<String, String> env,
    Map<String, Secret> secretEnv,
    Optional<String> cwd,
    Optional<String> user,
    Optional<Path> workspacePath,
    String workspaceMount,
    List<VolumeMount> volumes,
    Map<String, Bytes> seedFiles,
    Optional<Command> init,
    Duration startupTimeout,
    Optional<Duration> deadline,
    Optional<Duration> linger,
    ResourceLimits limits,
    Network network,
    int gpus) {

  public static final String DEFAULT_MOUNT = "/workspace";
  public static final Duration DEFAULT_STARTUP_TIMEOUT = Duration.ofSeconds(60);

  public SandboxSpec {
    env = frozen(env);
    secretEnv = frozen(secretEnv);
    volumes = List.copyOf(volumes);
    seedFiles = frozen(seedFiles);
  }

  private static <V> Map<String, V> frozen(Map<String, V> map) {
    return Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }

  /**
   * Returns the environment of every command with the secret values in it, for the provider that
   * makes the sandbox. Nothing of it may be shown, logged or passed on a command line.
   */
  public Map<String, String> environment() {
    Map<String, String> all = new LinkedHashMap<>(env);
    secretEnv.forEach(
        (name, value) -> all.put(name, new String(value.reveal(), StandardCharsets.UTF_8)));
    return all;
  }

  /** Returns the working folder of commands that name none. */
  public String workingFolder() {
    return cwd.orElse(workspaceMount);
  }

  public static Builder builder(SandboxId id) {
    return new Builder(id);
  }

  /** Returns the same spec for another sandbox. */
  public SandboxSpec withId(SandboxId other) {
    return toBuilder(other).build();
  }

  /** Returns a builder that starts from this spec. */
  public Builder toBuilder() {
    return toBuilder(id);
  }

  private Builder toBuilder(SandboxId of) {
    Builder builder = new Builder(of);
    builder.image = image.orElse(null);
    builder.env.putAll(env);
    builder.secretEnv.putAll(secretEnv);
    builder.cwd = cwd.orElse(null);
    builder.user = user.orElse(null);
    builder.workspacePath = workspacePath.orElse(null);
    builder.workspaceMount = workspaceMount;
    builder.volumes.addAll(volumes);
    builder.seedFiles.putAll(seedFiles);
    builder.init = init.orElse(null);
    builder.startupTimeout = startupTimeout;
    builder.deadline = deadline.orElse(null);
    builder.linger = linger.orElse(null);
    builder.limits = limits;
    builder.network = network;
    builder.gpus = gpus;
    return builder;
  }

  /** Collects the fields; everything but the id has a default. */
  public static final class Builder {
    private final SandboxId id;
    private @Nullable String image;
    private final Map<String, String> env = new LinkedHashMap<>();
    private final Map<String, Secret> secretEnv = new LinkedHashMap<>();
    private @Nullable String cwd;
    private @Nullable String user;
    private @Nullable Path workspacePath;
    private String workspaceMount = DEFAULT_MOUNT;
    private final List<VolumeMount> volumes = new ArrayList<>();
    private final Map<String, Bytes> seedFiles = new LinkedHashMap<>();
    private @Nullable Command init;
    private Duration startupTimeout = DEFAULT_STARTUP_TIMEOUT;
    private @Nullable Duration deadline;
    private @Nullable Duration linger;
    private ResourceLimits limits = ResourceLimits.DEFAULT;
    private Network network = Network.DEFAULT;
    private int gpus;

    private Builder(SandboxId id) {
      this.id = id;
    }

    public Builder image(String name) {
      image = name;
      return this;
    }

    /** Takes back an image: the provider's default is used. */
    public Builder clearImage() {
      image = null;
      return this;
    }

    public Builder env(String name, String value) {
      env.put(name, value);
      return this;
    }

    public Builder env(Map<String, String> more) {
      env.putAll(more);
      return this;
    }

    public Builder secretEnv(String name, Secret value) {
      secretEnv.put(name, value);
      return this;
    }

    public Builder secretEnv(Map<String, Secret> more) {
      secretEnv.putAll(more);
      return this;
    }

    public Builder cwd(String folder) {
      cwd = folder;
      return this;
    }

    public Builder user(String name) {
      user = name;
      return this;
    }

    public Builder workspacePath(Path folder) {
      workspacePath = folder;
      return this;
    }

    public Builder workspaceMount(String folder) {
      workspaceMount = folder;
      return this;
    }

    public Builder volume(VolumeMount volume) {
      volumes.add(volume);
      return this;
    }

    public Builder seedFile(String path, Bytes content) {
      seedFiles.put(path, content);
      return this;
    }

    public Builder init(Command command) {
      init = command;
      return this;
    }

    /** Takes back what happens when it is made for the first time. */
    public Builder clearInitialization() {
      seedFiles.clear();
      init = null;
      return this;
    }

    public Builder startupTimeout(Duration timeout) {
      startupTimeout = timeout;
      return this;
    }

    public Builder deadline(Duration fromCreate) {
      deadline = fromCreate;
      return this;
    }

    public Builder linger(Duration withoutOwner) {
      linger = withoutOwner;
      return this;
    }

    public Builder limits(ResourceLimits resources) {
      limits = resources;
      return this;
    }

    public Builder network(Network wanted) {
      network = wanted;
      return this;
    }

    public Builder gpus(int count) {
      gpus = count;
      return this;
    }

    /**
     * Returns the spec.
     *
     * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every wrong
     *     field
     */
    public SandboxSpec build() {
      SandboxSpec spec = buildUnchecked();
      SpecValidation.throwIfInvalid(SpecValidation.violations(spec));
      return spec;
    }

    /**
     * Returns the spec without a look at its values, for a reader that has its own names for wrong
     * fields: it calls {@link SpecValidation#violations} next.
     */
    public SandboxSpec buildUnchecked() {
      return new SandboxSpec(
          id,
          Optional.ofNullable(image),
          env,
          secretEnv,
          Optional.ofNullable(cwd),
          Optional.ofNullable(user),
          Optional.ofNullable(workspacePath),
          workspaceMount,
          volumes,
          seedFiles,
          Optional.ofNullable(init),
          startupTimeout,
          Optional.ofNullable(deadline),
          Optional.ofNullable(linger),
          limits,
          network,
          gpus);
    }
  }
}
