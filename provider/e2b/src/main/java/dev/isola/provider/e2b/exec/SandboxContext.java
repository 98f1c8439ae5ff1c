package dev.isola.provider.e2b.exec;

import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.provider.e2b.rpc.SandboxLiveness;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.util.Optional;

/**
 * What is needed to run commands and access files in a sandbox.
 *
 * @param folder the default working folder, against which relative paths are resolved
 * @param user the default user; the template's user if empty
 * @param timeout the default timeout of commands
 */
public record SandboxContext(
    SandboxId id,
    EnvdClient envd,
    SandboxLiveness liveness,
    String folder,
    Optional<String> user,
    Optional<Duration> timeout) {

  /** Returns the same context for another user. */
  public SandboxContext asUser(String name) {
    return new SandboxContext(id, envd, liveness, folder, Optional.of(name), timeout);
  }

  public Fault fault(ErrorCode code, String what, String remedy) {
    return Fault.of(code, what, remedy).sandbox(id);
  }

  /** Returns an absolute, normalized path. */
  public String absolute(String path) {
    if (path.startsWith("/")) {
      return path;
    }
    return folder.endsWith("/") ? folder + path : folder + "/" + path;
  }
}
