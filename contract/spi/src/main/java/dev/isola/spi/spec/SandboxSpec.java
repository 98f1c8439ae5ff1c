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
 * Everything that a provider needs to create a sandbox. Expiry policy and permissions are the
 * engine's responsibility and not part of it. A spec is always valid: {@link Builder#build()}
 * rejects invalid values and names every invalid field at once.
 *
 * @param id chosen by the client or the engine; create is idempotent by it
 * @param image the image of the root file system; the provider's default if empty
 * @param env environment variables of every command
 * @param secretEnv additional environment variables whose values are never shown, logged or stored
 *     in the clear; {@link #environment} merges both
 * @param cwd the working folder of commands; {@code workspaceMount} if empty
 * @param user the user that runs commands; the default of the image or provider if empty
 * @param workspacePath a host folder to use as the workspace, kept on destroy; a new folder if
 *     empty
 * @param workspaceMount the path of the workspace inside the sandbox
 * @param volumes additional mounts
 * @param seedFiles files written before the first command runs
 * @param init a command that runs once before create returns; if it fails, create fails
 * @param startupTimeout the maximum time that create may take
 * @param deadline the time after create at which the sandbox ends by itself, even without a server
 *     to destroy it; empty for none
 * @param linger how long the sandbox survives without a connection to its owner; empty for until
 *     its deadline, because the owner reconnects; zero if it ends with the connection, because its
 *     owner is a short-lived process
 * @param gpus the number of GPUs
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
   * Returns the complete environment of every command, secret values included. Providers must not
   * show or log it, or pass it on a command line.
   */
  public Map<String, String> environment() {
    Map<String, String> all = new LinkedHashMap<>(env);
    secretEnv.forEach(
        (name, value) -> all.put(name, new String(value.reveal(), StandardCharsets.UTF_8)));
    return all;
  }

  /** Returns the default working folder of commands. */
  public String workingFolder() {
    return cwd.orElse(workspaceMount);
  }

  public static Builder builder(SandboxId id) {
    return new Builder(id);
  }

  /** Returns this spec with another id. */
  public SandboxSpec withId(SandboxId other) {
    return toBuilder(other).build();
  }

  /** Returns a builder initialized with this spec. */
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

  /** Builds a spec. Every field except the id has a default. */
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

    /** Resets the image to the provider's default. */
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

    /** Removes the seed files and the init command. */
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

    public Builder network(Network access) {
      network = access;
      return this;
    }

    public Builder gpus(int count) {
      gpus = count;
      return this;
    }

    /**
     * Returns the validated spec.
     *
     * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every invalid
     *     field
     */
    public SandboxSpec build() {
      SandboxSpec spec = buildUnchecked();
      SpecValidation.throwIfInvalid(SpecValidation.violations(spec));
      return spec;
    }

    /**
     * Returns the spec without validating it, for a document reader that reports invalid fields
     * under their names in the document. It calls {@link SpecValidation#violations} next.
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
