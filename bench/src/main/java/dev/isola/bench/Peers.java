package dev.isola.bench;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opens the available peers. An engine that does not run is not started. */
final class Peers {
  static final List<String> NAMES =
      List.of(
          "docker",
          "docker-api",
          "podman",
          "bwrap",
          "crun",
          "runc",
          "runsc",
          BareQemu.NAME,
          ColdQemu.NAME);

  private Peers() {}

  /**
   * Opens the peers that the plan names, and adds the unavailable ones with the reason to {@code
   * absent}.
   */
  static Map<String, Peer> open(
      BenchPlan plan, BenchEnvironment environment, List<SkippedSubject> skippedSubjects)
      throws InterruptedException {
    Map<String, Peer> found = new LinkedHashMap<>();
    for (String name : NAMES) {
      if (plan.against().contains(name)) {
        try {
          found.put(name, open(name, plan.engines(), environment));
        } catch (IOException e) {
          skippedSubjects.add(new SkippedSubject(name, String.valueOf(e.getMessage())));
        }
      }
    }
    return found;
  }

  private static Peer open(String name, BenchPlan.Engines engines, BenchEnvironment environment)
      throws IOException, InterruptedException {
    return switch (name) {
      case "docker" -> EngineCli.docker(engines);
      case "docker-api" -> DockerApi.open(engines);
      case "podman" -> EngineCli.podman(engines);
      case "bwrap" -> BareBubblewrap.open();
      case "crun", "runc", "runsc" -> BareRuntime.open(name, environment);
      case BareQemu.NAME -> BareQemu.open(environment);
      case ColdQemu.NAME -> ColdQemu.open();
      default -> throw new IOException("unknown peer");
    };
  }
}
