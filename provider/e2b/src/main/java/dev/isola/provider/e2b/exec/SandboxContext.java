package dev.isola.provider.e2b.exec;

import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.provider.e2b.rpc.SandboxLiveness;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.util.Optional;

/**
 * One sandbox from within.
 *
 * @param folder where commands start and relative paths begin
 * @param user who they run as; the template's own when empty
 * @param timeout of commands that have none of their own
 */
public record SandboxContext(
    SandboxId id,
    EnvdClient envd,
    SandboxLiveness liveness,
    String folder,
    Optional<String> user,
    Optional<Duration> timeout) {

  /** Returns the same sandbox for another user. */
  public SandboxContext asUser(String name) {
    return new SandboxContext(id, envd, liveness, folder, Optional.of(name), timeout);
  }

  public Fault fault(ErrorCode code, String what, String remedy) {
    return Fault.of(code, what, remedy).sandbox(id);
  }

  /** Returns a path as everybody in the sandbox means it. */
  public String absolute(String path) {
    if (path.startsWith("/")) {
      return path;
    }
    return folder.endsWith("/") ? folder + path : folder + "/" + path;
  }
}
