package dev.isola.provider.docker;

import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderProfile;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The differences between the providers of this module: the engine and the runtime.
 *
 * @param runtimes the names under which an engine may know the runtime, the usual one first; empty
 *     for the engine's default
 * @param programs the name of the runtime's program or shim, for runtimes that the guest kernel
 *     alone does not identify; only tests substitute another one
 */
record EngineVariant(
    String name,
    String summary,
    Isolation isolation,
    EngineKind engine,
    ExpectedKernel guest,
    List<String> runtimes,
    Pattern programs,
    Duration startup) {

  private static final Pattern ANY = Pattern.compile(".*");

  enum EngineKind {
    DOCKER,
    PODMAN
  }

  /** The kernel that a sandbox must see, by which the runtime is verified. */
  enum ExpectedKernel {
    HOST_KERNEL,
    GVISOR,
    VIRTUAL_MACHINE
  }

  static final EngineVariant DOCKER =
      new EngineVariant(
          "docker",
          "containers of Docker's engine",
          Isolation.CONTAINER,
          EngineKind.DOCKER,
          ExpectedKernel.HOST_KERNEL,
          List.of(),
          ANY,
          Duration.ofMillis(400));

  static final EngineVariant PODMAN =
      new EngineVariant(
          "podman",
          "containers of Podman's service",
          Isolation.CONTAINER,
          EngineKind.PODMAN,
          ExpectedKernel.HOST_KERNEL,
          List.of(),
          ANY,
          Duration.ofMillis(600));

  static final EngineVariant DOCKER_GVISOR =
      new EngineVariant(
          "docker-gvisor",
          "containers with a user-space kernel: gVisor as a runtime of Docker's engine",
          Isolation.KERNEL,
          EngineKind.DOCKER,
          ExpectedKernel.GVISOR,
          List.of("runsc", "gvisor", "io.containerd.runsc.v1"),
          ANY,
          Duration.ofMillis(800));

  static final EngineVariant KATA =
      new EngineVariant(
          "kata",
          "containers in virtual machines: Kata Containers as a runtime of Docker's engine",
          Isolation.VM,
          EngineKind.DOCKER,
          ExpectedKernel.VIRTUAL_MACHINE,
          List.of(
              "kata", "kata-runtime", "io.containerd.kata.v2", "kata-qemu", "kata-clh", "kata-fc"),
          Pattern.compile(
              "io\\.containerd\\.kata(-[a-z0-9-]+)?\\.v2"
                  + "|(.*/)?(kata-runtime|containerd-shim-kata(-[a-z0-9-]+)?-v2)"),
          Duration.ofSeconds(3));

  ProviderProfile profile() {
    return new ProviderProfile(isolation, Hosting.DAEMON, startup);
  }

  /**
   * Tells whether the sandbox has a kernel of its own. In that case the agent's socket cannot be on
   * the host, and the host cannot count processes.
   */
  boolean hasOwnKernel() {
    return guest != ExpectedKernel.HOST_KERNEL;
  }

  /** Tells whether the agent's socket is on this host. */
  boolean usesHostSockets(DockerProviderSettings settings) {
    return settings.hostSockets() && !hasOwnKernel();
  }
}
