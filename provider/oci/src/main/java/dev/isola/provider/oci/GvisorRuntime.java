package dev.isola.provider.oci;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.host.launch.Checkpoints;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.Isolator.Traits;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.host.program.GvisorRelease;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** gVisor: a kernel in user space between the sandbox and the host's kernel. */
final class GvisorRuntime implements OciRuntime {
  static final String NAME = "gvisor";

  private static final String PROGRAM = "runsc";

  /**
   * Keeps /tmp non-empty: gVisor would mount a tmpfs over an empty /tmp, which is lost on a restart
   * and does not count as disk. Many systems have this folder anyway.
   */
  private static final String TMP_ENTRY = "/tmp/.X11-unix";

  private static final String RUN_SIZE = "16m";
  private static final String VERSION = "/proc/version";
  private static final int MAX_VERSION_LENGTH = 1024;

  private final Supplier<Optional<String>> platform;
  private final Function<RuntimeProbe, Optional<String>> memoryProblem;

  /**
   * @param platform the platform of gVisor; empty for its default
   */
  GvisorRuntime(Supplier<Optional<String>> platform) {
    this(platform, _ -> Optional.empty());
  }

  /**
   * @param memoryProblem why sandboxes cannot be saved
   */
  GvisorRuntime(
      Supplier<Optional<String>> platform, Function<RuntimeProbe, Optional<String>> memoryProblem) {
    this.platform = platform;
    this.memoryProblem = memoryProblem;
  }

  @Override
  public Traits traits() {
    return new Traits(
        NAME,
        "a kernel in user space with gVisor; no daemon, requires root",
        Isolation.KERNEL,
        "all processes of a sandbox are inside one host process and end with it",
        Duration.ofMillis(300));
  }

  @Override
  public String program() {
    return PROGRAM;
  }

  @Override
  public Pattern versionPattern() {
    return GvisorRelease.VERSION_OUTPUT;
  }

  /** With older releases a sandbox that may open a socket of the host can also create others. */
  @Override
  public List<Vulnerability> vulnerabilities() {
    return List.of(Vulnerability.fixedIn("no --host-uds=open", "20221219"));
  }

  @Override
  public Optional<String> defect(Version version) {
    return new GvisorRelease(version).defect();
  }

  @Override
  public String install() {
    return GvisorRelease.INSTALL;
  }

  @Override
  public Set<Class<? extends Capability>> unsupportedCapabilities(Version version) {
    return new GvisorRelease(version).hasTerminals() ? Set.of() : Set.of(Terminals.class);
  }

  @Override
  public List<Map<String, Object>> mounts(StagedSandbox staged, Version version) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    if (new GvisorRelease(version).savesMemory()) {
      // In its own memory, so that what is there is saved with the processes.
      mounts.add(tmpfs("/run", RUN_SIZE, false));
      staged.spec().volumes().stream()
          .filter(volume -> volume.type() == VolumeMount.Type.TMPFS)
          .map(
              volume ->
                  tmpfs(
                      volume.destination(),
                      staged.spec().limits().memoryMb() + "m",
                      volume.readOnly()))
          .forEach(mounts::add);
    }
    mounts.add(readOnly(Isolator.STAGED_LAYER, Isolator.LAYER));
    mounts.add(readOnly(Isolator.STAGED_SOCKET, Isolator.SOCKET_FOLDER));
    return mounts;
  }

  private static Map<String, Object> tmpfs(String path, String size, boolean readOnly) {
    return Map.of(
        "destination",
        path,
        "type",
        "tmpfs",
        "source",
        "tmpfs",
        "options",
        List.of("nosuid", "nodev", "mode=0755", "size=" + size, readOnly ? "ro" : "rw"));
  }

  @Override
  public Optional<Checkpoints> checkpoints(RuntimeProbe installed) {
    return installed
        .version()
        .filter(version -> new GvisorRelease(version).savesMemory())
        .filter(_ -> memoryProblem.apply(installed).isEmpty())
        .map(
            version ->
                new GvisorCheckpoints(
                    version,
                    globalOptions(installed.requirePath()),
                    installed.accepts(GvisorCheckpoints.ANY_SPEC)));
  }

  private static Map<String, Object> readOnly(String source, String destination) {
    return Map.of(
        "destination",
        destination,
        "type",
        "bind",
        "source",
        source,
        "options",
        List.of("rbind", "ro"));
  }

  /**
   * It drops other mount flags when it remounts, which the host's kernel rejects; the launcher does
   * it before.
   */
  @Override
  public boolean makesReadOnly() {
    return false;
  }

  @Override
  public SandboxKernel kernel() {
    return SandboxKernel.USER_SPACE;
  }

  /** It configures its network only at startup. */
  @Override
  public boolean supportsBridge() {
    return false;
  }

  @Override
  public Optional<String> detail(RuntimeProbe installed) {
    String forks =
        memoryProblem
            .apply(installed)
            .map(why -> "no forks of memory: " + why)
            .orElse("forks memory");
    return Optional.of(platform.get().map(name -> "platform " + name + ", ").orElse("") + forks);
  }

  @Override
  public void prepare(LaunchPlan plan, StagedSandbox staged) {
    String root = Long.toString(staged.users().firstId());
    plan.step("folder", "/tmp", "1777", root, root);
    plan.step("folder", TMP_ENTRY, "1777", root, root);
    if (!staged.image()) {
      plan.step("seal");
    }
    if (startsInUserNamespace(staged)) {
      plan.step("enter");
    }
  }

  /**
   * On the host's network gVisor stays in the user namespace it is started in, so the launcher
   * enters the sandbox's own before. Releases that could enter it themselves cannot be
   * distinguished.
   */
  private static boolean startsInUserNamespace(StagedSandbox staged) {
    return staged.network() == NetworkMode.HOST;
  }

  @Override
  public boolean entersUserNamespace(StagedSandbox staged) {
    return !startsInUserNamespace(staged);
  }

  @Override
  public List<String> commandLine(String path, StagedSandbox staged) {
    List<String> arguments = globalOptions(path);
    arguments.add("--network=" + (staged.network() == NetworkMode.HOST ? "host" : "none"));
    if (staged.network() == NetworkMode.FILTERED) {
      arguments.add("--net-raw"); // for the agent, which drops the capability before it serves
    }
    arguments.add("--host-uds=open");
    arguments.add("--overlay2=none");
    arguments.add("--file-access=" + (sharesHostFiles(staged) ? "shared" : "exclusive"));
    arguments.addAll(List.of("run", "--detach", "--bundle=" + BUNDLE, staged.spec().id().value()));
    return arguments;
  }

  private List<String> globalOptions(String path) {
    List<String> arguments = new ArrayList<>(List.of(path, "--root=" + STATE, "--ignore-cgroups"));
    platform.get().ifPresent(name -> arguments.add("--platform=" + name));
    return arguments;
  }

  /** Files that others may change need shared access, which is slower. */
  private static boolean sharesHostFiles(StagedSandbox staged) {
    return staged.spec().workspacePath().isPresent()
        || staged.spec().volumes().stream().anyMatch(v -> v.type() != VolumeMount.Type.TMPFS);
  }

  @Override
  public void verify(RunningSandbox running) {
    String guest = running.sandbox().files().readText(VERSION, UTF_8, MAX_VERSION_LENGTH).strip();
    if (!GvisorRelease.isKernel(guest, hostVersion())) {
      throw Namespaces.notIsolated(
          running, NAME, "its kernel is not gVisor's but " + guest, "gVisor's runsc");
    }
    Namespaces.requireIsolated(running, NAME, Namespaces.OWN_KERNEL);
  }

  private static String hostVersion() {
    try {
      return Files.readString(Path.of(VERSION)).strip();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the isolation cannot be verified: " + VERSION + " of the host cannot be read",
              "mount /proc")
          .exception(e);
    }
  }
}
