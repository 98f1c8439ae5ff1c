package dev.isola.server.access;

import dev.isola.server.context.ServerContext;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;

/**
 * Restricts access to the ports that the spec of a sandbox exposes. If the spec exposes none, every
 * port is accessible.
 */
public record ExposedPorts(ServerContext context) {

  /** Returns the exposed ports in ascending order; empty if every port is accessible. */
  public List<Integer> of(SandboxId id) {
    return context.sandboxes().view(id).request().spec().network().exposePorts().stream()
        .sorted()
        .toList();
  }

  /**
   * Checks that a port is accessible.
   *
   * @throws dev.isola.spi.error.Forbidden for a port that the spec does not expose
   */
  public void check(SandboxId id, int port) {
    List<Integer> exposed = of(id);
    if (!exposed.isEmpty() && !exposed.contains(port)) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "port " + port + " of sandbox " + id + " is not exposed; exposePorts is " + exposed,
              "use an exposed port, or create a sandbox that exposes this one")
          .sandbox(id)
          .exception();
    }
  }
}
