package dev.isola.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Connections of a sandbox in network mode {@code filtered}, compared with the same program outside
 * of it, which uses the pair of interfaces directly, and in network mode {@code bridge}, which is
 * what a user would take instead: a connection with one echoed byte, and one stream in each
 * direction. Runs on the test internet of {@code testing/internet-here.sh}.
 */
final class EgressBenchmarks {
  private static final String INTERNET = "ISOLA_INTERNET";
  private static final String HOST = "ok.example";
  private static final String DIRECT = "direct";

  /** So much that the limit of network mode {@code bridge} does not matter. */
  private static final int BANDWIDTH_MBPS = 1 << 20;

  private static final Map<String, String> CREATE =
      Map.of(
          "filtered",
          Json.text(
              Map.of(
                  "ttlSeconds",
                  3600,
                  "network",
                  Map.of(
                      "mode",
                      "filtered",
                      "egress",
                      Map.of(
                          "rules",
                          List.of(Map.of("allow", HOST, "ports", List.of("9000-9003"))))))),
          "bridge",
          Json.text(
              Map.of(
                  "ttlSeconds",
                  3600,
                  "resources",
                  Map.of("networkBandwidth", BANDWIDTH_MBPS),
                  "network",
                  Map.of("mode", "bridge"))));

  private static final int N = 1_000;
  private static final int WARM_UP = 1_000;
  private static final int TRANSFERS = 20;
  private static final int TRANSFER_WARM_UP = 2;
  private static final long MAX_BYTES = 1L << 28;

  /** One kind of iteration of the program. */
  private record Kind(String name, int n, int warmUp, long bytes) {}

  private EgressBenchmarks() {}

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) throws IOException {
    if (System.getenv(INTERNET) == null) {
      environment
          .skipped()
          .add(
              new SkippedSubject(
                  "egress", "cannot run egress: start it with testing/internet-here.sh"));
      return List.of();
    }
    long bytes = Math.min(plan.sizes().bytes(), MAX_BYTES);
    List<Kind> kinds =
        List.of(
            new Kind("connect", plan.n().orElse(N), WARM_UP, 1),
            new Kind("receive", TRANSFERS, TRANSFER_WARM_UP, bytes),
            new Kind("send", TRANSFERS, TRANSFER_WARM_UP, bytes));
    String program = program();
    List<List<BenchSubject>> subjects = new ArrayList<>();
    for (Kind kind : kinds) {
      subjects.add(new ArrayList<>(List.of(direct(program, kind))));
    }
    for (BenchProvider provider : environment.providers()) {
      for (String network : List.of("filtered", "bridge")) {
        addSandbox(environment, provider.name(), network, program, kinds, subjects);
      }
    }
    List<Benchmark> benchmarks = new ArrayList<>();
    for (int i = 0; i < kinds.size(); i++) {
      Kind kind = kinds.get(i);
      benchmarks.add(
          new Benchmark(
              "egress-" + kind.name, DIRECT, 1, kind.n, kind.warmUp, kind.bytes, subjects.get(i)));
    }
    return benchmarks;
  }

  private static void addSandbox(
      BenchEnvironment environment,
      String provider,
      String network,
      String program,
      List<Kind> kinds,
      List<List<BenchSubject>> subjects)
      throws IOException {
    String subject = provider + "-" + network;
    ServerProcess server;
    try {
      server =
          environment.closeLast(
              ServerProcess.start(
                  environment.folder().resolve("e-" + network.charAt(0) + "-" + provider),
                  Map.of("provider", provider, "egress.connections_per_minute", "1000000"),
                  Objects.requireNonNull(CREATE.get(network))));
    } catch (IOException e) {
      environment.skipped().add(new SkippedSubject(subject, String.valueOf(e.getMessage())));
      return;
    }
    ApiClient client = server.connect();
    for (int i = 0; i < kinds.size(); i++) {
      subjects.get(i).add(sandboxed(subject, server, client, program, kinds.get(i)));
    }
  }

  private static BenchSubject direct(String program, Kind kind) {
    return new BenchSubject(
        DIRECT, (n, _) -> RawProgram.parse(LocalProgram.output(command(program, kind, n))));
  }

  private static BenchSubject sandboxed(
      String name, ServerProcess server, ApiClient client, String program, Kind kind) {
    return new BenchSubject(
        name,
        (n, _) -> {
          String request = Json.text(Map.of("argv", command(program, kind, n)));
          JsonValue answer =
              JsonValue.parse(
                  client.send("POST", server.sandbox() + "/exec", request).getBytes(UTF_8));
          String errors = answer.text("stderr");
          if (!errors.isEmpty()) {
            throw new IOException(errors.strip());
          }
          return RawProgram.parse(answer.text("stdout"));
        });
  }

  private static List<String> command(String program, Kind kind, int n) {
    return List.of(
        "/usr/bin/python3",
        "-c",
        program,
        HOST,
        kind.name,
        Integer.toString(n),
        Long.toString(kind.bytes));
  }

  private static String program() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(EgressBenchmarks.class.getResourceAsStream("egress.py"))) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }
}
