package dev.isola.compat.mcp;

import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.ExecutionId;
import java.util.Optional;

/**
 * Names a command for later calls. It contains everything that is needed to find the command, so it
 * outlives the server.
 */
record ExecutionHandle(SandboxId sandbox, ExecutionId execution) {
  static ExecutionHandle parse(String text) {
    int slash = text.indexOf('/');
    Optional<SandboxId> sandbox = SandboxIds.find(text.substring(0, Math.max(slash, 0)));
    if (sandbox.isPresent()) {
      try {
        return new ExecutionHandle(sandbox.get(), new ExecutionId(text.substring(slash + 1)));
      } catch (IllegalArgumentException e) {
        // Reported below.
      }
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "this is not the handle of a command",
            "pass the handle that exec returned")
        .exception();
  }

  @Override
  public String toString() {
    return sandbox + "/" + execution;
  }
}
