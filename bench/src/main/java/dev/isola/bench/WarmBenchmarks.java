package dev.isola.bench;

import dev.isola.engine.api.CreateResult;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the creation of a sandbox without a first command: one that the engine's pool has ready,
 * one that the engine has to create, and one created by the provider alone. Before each iteration
 * the pool is full and the previous sandbox is destroyed; neither is timed.
 */
final class WarmBenchmarks {
  private static final int N = 50;
  private static final int WARM_UP = 20;

  private WarmBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment arena, BenchPlan plan) {
    List<Benchmark> events = new ArrayList<>();
    for (BenchProvider entrant : arena.providers()) {
      List<BenchSubject> contestants = new ArrayList<>();
      contestants.add(new BenchSubject(entrant.name(), (n, concurrency) -> alone(entrant, n)));
      arena
          .engine(entrant)
          .ifPresent(
              housed -> {
                String name = entrant.name();
                contestants.add(
                    new BenchSubject(name + "-cold", (n, concurrency) -> ordered(housed, n, true)));
                contestants.add(
                    new BenchSubject(
                        name + "-warm", (n, concurrency) -> ordered(housed, n, false)));
              });
      if (arena.peers().get("docker-api") instanceof DockerApi engine) {
        contestants.addAll(engine.startSubjects());
      }
      events.add(
          new Benchmark("warm", entrant.name(), 1, plan.n().orElse(N), WARM_UP, 1, contestants));
    }
    return events;
  }

  private static Samples alone(BenchProvider entrant, int n) {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      SandboxSpec spec = entrant.spec();
      try {
        long start = System.nanoTime();
        entrant.provider().create(spec);
        long taken = System.nanoTime() - start;
        samples = samples.plus(Samples.of(taken, taken));
      } finally {
        entrant.provider().destroy(spec.id(), DestroyOptions.FORCE);
      }
    }
    return samples;
  }

  private static Samples ordered(BenchEngine housed, int n, boolean cold)
      throws IOException, InterruptedException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      housed.awaitPool();
      long start = System.nanoTime();
      CreateResult delivery = housed.create(cold);
      long taken = System.nanoTime() - start;
      boolean warm = delivery.view().warm();
      housed.destroy(delivery);
      if (warm == cold) {
        throw new IOException("a sandbox was " + (warm ? "warm" : "cold") + " unexpectedly");
      }
      samples = samples.plus(Samples.of(taken, taken));
    }
    return samples;
  }
}
