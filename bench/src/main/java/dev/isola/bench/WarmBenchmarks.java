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

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) {
    List<Benchmark> events = new ArrayList<>();
    for (BenchProvider benchProvider : environment.providers()) {
      List<BenchSubject> subjects = new ArrayList<>();
      subjects.add(
          new BenchSubject(benchProvider.name(), (n, concurrency) -> alone(benchProvider, n)));
      environment
          .engine(benchProvider)
          .ifPresent(
              benchEngine -> {
                String name = benchProvider.name();
                subjects.add(
                    new BenchSubject(
                        name + "-cold", (n, concurrency) -> ordered(benchEngine, n, true)));
                subjects.add(
                    new BenchSubject(
                        name + "-warm", (n, concurrency) -> ordered(benchEngine, n, false)));
              });
      if (environment.peers().get("docker-api") instanceof DockerApi engine) {
        subjects.addAll(engine.startSubjects());
      }
      events.add(
          new Benchmark("warm", benchProvider.name(), 1, plan.n().orElse(N), WARM_UP, 1, subjects));
    }
    return events;
  }

  private static Samples alone(BenchProvider benchProvider, int n) {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      SandboxSpec spec = benchProvider.spec();
      try {
        long start = System.nanoTime();
        benchProvider.provider().create(spec);
        long taken = System.nanoTime() - start;
        samples = samples.plus(Samples.of(taken, taken));
      } finally {
        benchProvider.provider().destroy(spec.id(), DestroyOptions.FORCE);
      }
    }
    return samples;
  }

  private static Samples ordered(BenchEngine benchEngine, int n, boolean cold)
      throws IOException, InterruptedException {
    Samples samples = Samples.NONE;
    for (int i = 0; i < n; i++) {
      benchEngine.awaitPool();
      long start = System.nanoTime();
      CreateResult delivery = benchEngine.create(cold);
      long taken = System.nanoTime() - start;
      boolean warm = delivery.view().warm();
      benchEngine.destroy(delivery);
      if (warm == cold) {
        throw new IOException("a sandbox was " + (warm ? "warm" : "cold") + " unexpectedly");
      }
      samples = samples.plus(Samples.of(taken, taken));
    }
    return samples;
  }
}
