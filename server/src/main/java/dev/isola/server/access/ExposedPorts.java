package dev.isola.server.access;

import dev.isola.engine.lifecycle.SpecCodec;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;

/** The ports that the spec of a sandbox exposes: where it names some, no other is reached. */
public record ExposedPorts(ServerContext context) {

  /** Returns the ports that a spec names, in order; none when every port may be reached. */
  public List<Integer> of(SandboxId id) {
    return SpecCodec.decode(context.engine().view(id).spec(), id)
        .spec()
        .network()
        .exposePorts()
        .stream()
        .sorted()
        .toList();
  }

  /**
   * @throws dev.isola.spi.error.Forbidden for a port that the spec does not name
   */
  public void check(SandboxId id, int port) {
    List<Integer> exposed = of(id);
    if (!exposed.isEmpty() && !exposed.contains(port)) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "port " + port + " of sandbox " + id + " is not exposed: exposePorts has " + exposed,
              "use one of those, or make a sandbox that exposes it")
          .sandbox(id)
          .exception();
    }
  }
}
