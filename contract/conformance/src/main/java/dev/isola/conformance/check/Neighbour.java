package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.escape.HostPlant;
import dev.isola.conformance.escape.PlantFacts;
import dev.isola.conformance.escape.ProbeProgram;
import dev.isola.conformance.escape.Scene;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;

/** Another sandbox, in which something of each kind is planted. */
final class Neighbour implements AutoCloseable {
  private final Execution execution;
  private final Scene scene;

  private Neighbour(Execution execution, Scene scene) {
    this.execution = execution;
    this.scene = scene;
  }

  /** Plants in {@code sandbox}, which has the program already. */
  static Neighbour move(Sandbox sandbox) {
    Scene empty = new Scene(UUID.randomUUID().toString(), Map.of());
    sandbox.files().writeText(empty.mark() + "-file", empty.mark(), UTF_8);
    Execution execution =
        sandbox.start(
            Command.argv("./" + ProbeProgram.NAME, PlantFacts.command(empty, "."))
                .withEnv(HostPlant.VARIABLE, empty.mark())
                .withStdin());
    String said = Reading.of(execution).until(PlantFacts.READY).stdout();
    return new Neighbour(execution, new Scene(empty.id(), PlantFacts.parse(said)));
  }

  Scene scene() {
    return scene;
  }

  @Override
  public void close() throws IOException {
    try (execution) {
      execution.stdin().close();
      execution.await();
    }
  }
}
