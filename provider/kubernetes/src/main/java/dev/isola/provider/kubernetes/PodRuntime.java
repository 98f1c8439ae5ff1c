package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.JsonValue;
import dev.isola.host.program.GvisorRelease;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The runtime of pods, by the handler of their runtime class, and the kernel that their processes
 * must see.
 */
enum PodRuntime {
  HOST_KERNEL(Isolation.CONTAINER),
  GVISOR(Isolation.KERNEL),
  VIRTUAL_MACHINE(Isolation.VM);

  private static final Pattern RELEASE = Pattern.compile("Linux version (\\S+)");
  private static final Pattern BOOT = Pattern.compile("[0-9a-f-]{36}");
  private static final int MAX_LENGTH = 1024;

  private final Isolation isolation;

  PodRuntime(Isolation isolation) {
    this.isolation = isolation;
  }

  Isolation isolation() {
    return isolation;
  }

  boolean hasOwnKernel() {
    return this != HOST_KERNEL;
  }

  /** Returns the runtime of a handler. An unknown one counts as the weakest. */
  static PodRuntime of(String handler) {
    if (handler.matches("runsc.*|gvisor.*")) {
      return GVISOR;
    }
    return handler.matches("kata.*") ? VIRTUAL_MACHINE : HOST_KERNEL;
  }

  /**
   * Verifies that a sandbox runs as promised. No command runs before.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it does not, or if that is not known
   */
  void verify(Cluster cluster, KubernetesSettings settings, PodSnapshot pod, Sandbox sandbox) {
    if (!pod.runtimeClass().equals(settings.runtimeClass().orElse(""))) {
      throw wrong(sandbox, "its runtime class is '" + pod.runtimeClass() + "'");
    }
    if (this == HOST_KERNEL) {
      return;
    }
    JsonValue node =
        cluster
            .node(pod.node())
            .orElseThrow(() -> wrong(sandbox, "its node " + pod.node() + " is not known"))
            .at("status", "nodeInfo");
    String version = text(sandbox, "/proc/version");
    String bootId = text(sandbox, "/proc/sys/kernel/random/boot_id");
    if (!matches(version, bootId, node.text("kernelVersion"), node.text("bootID"))) {
      throw wrong(sandbox, "its kernel is " + PodSnapshot.bounded(version));
    }
  }

  /** Tells whether a kernel is the one that a sandbox must have; false if that is not known. */
  boolean matches(String version, String bootId, String nodeRelease, String nodeBootId) {
    boolean gvisor = GvisorRelease.isKernel(version, nodeRelease);
    Matcher release = RELEASE.matcher(version);
    return switch (this) {
      case HOST_KERNEL -> true;
      case GVISOR -> gvisor;
      case VIRTUAL_MACHINE ->
          !gvisor
              && release.lookingAt()
              && !nodeRelease.isEmpty()
              && !release.group(1).equals(nodeRelease)
              && BOOT.matcher(bootId).matches()
              && !bootId.equals(nodeBootId);
    };
  }

  private static String text(Sandbox sandbox, String file) {
    try {
      return sandbox.files().readText(file, UTF_8, MAX_LENGTH).strip();
    } catch (NotFound none) {
      return "";
    }
  }

  private static SandboxException wrong(Sandbox sandbox, String what) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + sandbox.id() + " is not isolated as its runtime class promises: " + what,
            "check the handler of the runtime class on the nodes (setting runtime_class)")
        .sandbox(sandbox.id())
        .exception();
  }

  /** Returns the runtime of the configured class; empty if the cluster does not have the class. */
  static Optional<PodRuntime> find(Cluster cluster, KubernetesSettings settings) {
    return settings.runtimeClass().isEmpty()
        ? Optional.of(HOST_KERNEL)
        : cluster
            .runtimeClass(settings.runtimeClass().get())
            .map(found -> of(found.text("handler")));
  }
}
