package dev.isola.provider.oci;

import dev.isola.host.launch.Checkpoints;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.host.program.KnownVulnerabilities;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.capability.Capability;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The differences between OCI runtimes. */
interface OciRuntime {
  /** Where the launcher puts the bundle, next to the staged root. */
  String BUNDLE = "/tmp/bundle";

  /**
   * The state folder of the runtime. Unless sandboxes can be saved, it is gone once the sandbox has
   * started: the runtime is not called again for it, so nothing can be left behind.
   */
  String STATE = "/tmp/state";

  Isolator.Traits traits();

  /** Returns the name of the executable, which is also its Debian package. */
  String program();

  /**
   * Returns a pattern that matches the version, as its first group, in the output of {@code
   * --version}.
   */
  Pattern versionPattern();

  /** Returns vulnerabilities that make a version unusable. */
  default List<Vulnerability> vulnerabilities() {
    return KnownVulnerabilities.of(program());
  }

  /** Adds steps that precede the runtime. */
  default void prepare(LaunchPlan plan, StagedSandbox staged) {}

  /** Returns the command line that starts a sandbox; the path of the program comes first. */
  List<String> commandLine(String path, StagedSandbox staged);

  /** Verifies that the running sandbox is isolated by this runtime. */
  void verify(RunningSandbox running);

  /** Reports whether the runtime itself can make the root read-only. */
  default boolean makesReadOnly() {
    return true;
  }

  /**
   * Reports whether the runtime itself enters the sandbox's user namespace, according to the
   * bundle.
   */
  default boolean entersUserNamespace(StagedSandbox staged) {
    return true;
  }

  /** Returns the known defect of sandboxes with this version; empty if there is none. */
  default Optional<String> defect(Version version) {
    return Optional.empty();
  }

  /** Returns how the operator can install or update it. */
  default String install() {
    return "install it (apt-get install " + program() + ")";
  }

  /** See {@link Isolator#unsupportedCapabilities}. */
  default Set<Class<? extends Capability>> unsupportedCapabilities(Version version) {
    return Set.of();
  }

  /** Returns mounts of the bundle in addition to the default ones. */
  default List<Map<String, Object>> mounts(StagedSandbox staged, Version version) {
    return List.of();
  }

  /** Returns how sandboxes are saved with the installed program; empty if they cannot be. */
  default Optional<Checkpoints> checkpoints(RuntimeProbe installed) {
    return Optional.empty();
  }

  /** See {@link Isolator#refusesBootId}. */
  default boolean refusesBootId() {
    return false;
  }

  /** See {@link Isolator#kernel}. */
  default SandboxKernel kernel() {
    return SandboxKernel.HOST;
  }

  /** See {@link Isolator#supportsBridge}. */
  default boolean supportsBridge() {
    return true;
  }

  /** Returns details of the runtime on this host, such as {@code platform ptrace}. */
  default Optional<String> detail(RuntimeProbe installed) {
    return Optional.empty();
  }
}
