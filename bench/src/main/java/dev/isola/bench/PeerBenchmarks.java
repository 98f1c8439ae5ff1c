package dev.isola.bench;

import dev.isola.codec.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A command over HTTP in a sandbox of a server, and in one that the server has from another server:
 * one hop and two. Both servers are processes of their own.
 */
final class PeerBenchmarks {
  private static final String EXEC = Json.text(Map.of("argv", List.of("/bin/true")));
  private static final int N = 1_000;
  private static final int WARM_UP = 2_000;

  private PeerBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) throws IOException {
    List<BenchSubject> subjects = new ArrayList<>();
    String reference = "";
    for (BenchProvider provider : environment.providers()) {
      // The names are short, because the path of a socket is limited.
      Path folder = environment.folder();
      int number = subjects.size();
      ServerProcess near =
          environment.closeLast(
              ServerProcess.start(
                  folder.resolve("n" + number), Map.of("provider", provider.name())));
      ServerProcess far =
          environment.closeLast(
              ServerProcess.start(folder.resolve("f" + number), near.asBackend()));
      reference = provider.name() + "-one-hop";
      subjects.add(subject(reference, near));
      subjects.add(subject(provider.name() + "-two-hops", far));
    }
    return List.of(
        new Benchmark("peer-exec", reference, 1, plan.n().orElse(N), WARM_UP, 1, subjects));
  }

  private static BenchSubject subject(String name, ServerProcess server) throws IOException {
    ApiClient client = server.connect();
    return BenchSubject.timed(
        name,
        () -> {
          String answer = client.send("POST", server.sandbox() + "/exec", EXEC);
          if (!answer.contains("\"exitCode\":0")) {
            throw new IOException("unexpected response " + answer);
          }
        });
  }
}
