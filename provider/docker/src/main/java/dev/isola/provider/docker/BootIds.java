package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.ContainerBootIds;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Gives every boot of a container its own boot id where this process has access to the containers
 * of its engine. A first container that shows that it has not ends the attempts.
 */
final class BootIds implements AutoCloseable {
  private final ContainerBootIds mounts;
  private final Runnable refusal;
  private volatile Optional<String> obstacle;

  /**
   * @param hostSockets whether the agents' sockets are on this host, and so the containers run on
   *     its kernel
   * @param refusal called when the launcher turns out to have no access
   */
  BootIds(
      boolean hostSockets,
      boolean privileged,
      Path programs,
      InstanceId installation,
      Runnable refusal) {
    this.mounts = new ContainerBootIds(programs, installation);
    this.refusal = refusal;
    this.obstacle =
        !hostSockets
            ? Optional.of("the containers are not reachable from this host")
            : privileged ? Optional.empty() : Optional.of("the server is not root");
  }

  /** Starts the launcher in the background while the container starts. */
  void prepare() {
    if (obstacle.isEmpty()) {
      Thread.startVirtualThread(
          () -> {
            try {
              mounts.start();
            } catch (IOException | SandboxException reportedLater) {
              // Reported by the mount, which starts the launcher again.
            }
          });
    }
  }

  /**
   * Mounts a new boot id in a container that has just started; does nothing without access.
   *
   * @throws SandboxException if it cannot be mounted despite access
   */
  void mount(SandboxId id, Path socket, Deadline deadline) {
    if (obstacle.isPresent()) {
      return;
    }
    try {
      Optional<String> refused = mounts.mount(socket, deadline.left());
      if (refused.isPresent()) {
        obstacle = refused;
        refusal.run();
      }
    } catch (IOException e) {
      throw Fault.of(
              code(e),
              "the sandbox cannot be given its own boot id: " + e.getMessage(),
              "retry; if it fails again, check the engine's log for why the container ended")
          .sandbox(id)
          .exception(e);
    }
  }

  private static ErrorCode code(IOException e) {
    return switch (e) {
      case ClosedByInterruptException _ -> ErrorCode.CANCELLED;
      case SocketTimeoutException _ -> ErrorCode.DEADLINE_EXCEEDED;
      default -> ErrorCode.SPAWN_FAILED;
    };
  }

  Prerequisite prerequisite() {
    Optional<String> why = obstacle;
    return new Prerequisite(
        "boot ids",
        false,
        why.isEmpty(),
        why.map(reason -> "a sandbox sees the boot id of the kernel: " + reason)
            .orElse("every boot of a sandbox has its own boot id"),
        why.isEmpty() ? "" : "run the server as root on the engine's host");
  }

  @Override
  public void close() {
    mounts.close();
  }
}
