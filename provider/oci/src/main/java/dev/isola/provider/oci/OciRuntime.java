package dev.isola.provider.oci;

import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.program.KnownVulnerabilities;
import dev.isola.host.program.Version;
import dev.isola.host.program.Vulnerability;
import dev.isola.spi.capability.Capability;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** What is particular to one OCI runtime. */
interface OciRuntime {
  /** Where the launcher puts the bundle, beside the staged root. */
  String BUNDLE = "/tmp/bundle";

  /**
   * Where the runtime writes down what it runs. It goes when the runtime has started the sandbox:
   * nobody asks it about the sandbox later, and so nothing of it can be left behind.
   */
  String STATE = "/tmp/state";

  Isolator.Traits traits();

  /** Returns the name of its executable, which is its package's on Debian, too. */
  String program();

  /** Returns what finds the version, as its first group, in what {@code --version} says. */
  Pattern versionPattern();

  /** Returns the holes by which a version of it is too old. */
  default List<Vulnerability> vulnerabilities() {
    return KnownVulnerabilities.of(program());
  }

  /** Adds steps that go before the runtime. */
  default void prepare(LaunchPlan plan, StagedSandbox staged) {}

  /** Returns the words that start a sandbox, the program's path first. */
  List<String> commandLine(String path, StagedSandbox staged);

  /** Makes sure that what runs is what this runtime makes. */
  void verify(RunningSandbox running);

  /** Tells whether it can make the root read only itself. */
  default boolean makesReadOnly() {
    return true;
  }

  /** Tells whether it enters the sandbox's user namespace itself, as told by the bundle. */
  default boolean entersUserNamespace(StagedSandbox staged) {
    return true;
  }

  /** Returns what is broken in sandboxes that this version makes; empty where nothing is known. */
  default Optional<String> defect(Version version) {
    return Optional.empty();
  }

  /** Returns what a person does to get it, or a better one. */
  default String install() {
    return "install it (apt-get install " + program() + ")";
  }

  /** See {@link Isolator#unsupportedCapabilities}. */
  default Set<Class<? extends Capability>> unsupportedCapabilities(Version version) {
    return Set.of();
  }

  /** Returns mounts of the bundle besides the usual ones. */
  default List<Map<String, Object>> mounts() {
    return List.of();
  }

  /** See {@link Isolator#hasOwnKernel}. */
  default boolean hasOwnKernel() {
    return false;
  }

  /** See {@link Isolator#supportsBridge}. */
  default boolean supportsBridge() {
    return true;
  }

  /** See {@link Isolator#socketFolder}. */
  default Optional<String> socketFolder() {
    return Optional.empty();
  }

  /** Returns what is worth knowing of it on this machine, such as {@code platform ptrace}. */
  default Optional<String> detail() {
    return Optional.empty();
  }
}
