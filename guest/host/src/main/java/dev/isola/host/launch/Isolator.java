package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.Requirement;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A program that isolates a sandbox whose root is staged: the part of a provider that is its own.
 */
public interface Isolator {
  /** Where the launcher stages the root, in a mount namespace of its own. */
  String STAGED_ROOT = "/tmp/root";

  /**
   * A sandbox about to be isolated.
   *
   * @param network what it is to have; {@code BRIDGE} starts with none and gets its own later
   * @param image whether it stands on an image, whose root it may write to
   * @param agent the words that start the agent inside
   * @param descriptors how many the agent inherits beyond the first three
   */
  record Staged(
      SandboxSpec spec,
      SandboxFolder folder,
      Users users,
      NetworkMode network,
      boolean image,
      List<String> agent,
      int descriptors) {}

  /** What a provider says of itself that depends on the isolator. */
  record Traits(
      String name, String summary, Isolation isolation, String cleanup, Duration startup) {}

  Traits traits();

  List<Requirement> requirements();

  /** Tells whether it could isolate something now. Fast, leaves nothing behind. */
  Health health();

  /**
   * Returns the folder inside in which the agent is to make its socket, for who cannot hand over
   * one that listens already.
   */
  default Optional<String> socketFolder() {
    return Optional.empty();
  }

  /** Adds the last steps of a plan, {@code run} among them. */
  void plan(Plan plan, Staged staged) throws IOException;

  /**
   * Makes sure that a sandbox that runs is isolated as promised.
   *
   * @throws dev.isola.spi.error.SandboxException when it is not; the sandbox is destroyed then
   */
  default void verify(Sandbox sandbox) {}

  /** Gives back what it took besides processes and the folder. May be repeated. */
  default void release(SandboxId id, SandboxFolder folder) throws IOException {}
}
