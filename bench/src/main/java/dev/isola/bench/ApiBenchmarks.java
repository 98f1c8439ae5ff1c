package dev.isola.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * The same work over HTTP and in process: a command, a line through a running command, and a large
 * file. Server and clients share this process, so the results include the cost of the clients.
 */
final class ApiBenchmarks {
  private static final String PROGRAM = "/bin/true";
  private static final String EXEC = Json.text(Map.of("argv", List.of(PROGRAM)));
  private static final String THERE = "isola-bench-file";
  private static final String CONTENT = "/files/content?path=" + THERE;
  private static final int N = 2_000;
  private static final int WARM_UP = 2_000;
  private static final int FILES = 3;

  private final BenchEnvironment arena;
  private final BenchPlan plan;
  private final Path source;
  private final Path target;
  private final Set<String> there = new HashSet<>();

  private ApiBenchmarks(BenchEnvironment arena, BenchPlan plan) {
    this.arena = arena;
    this.plan = plan;
    source = arena.folder().resolve("api-source");
    target = arena.folder().resolve("api-target");
  }

  static List<Benchmark> of(BenchEnvironment arena, BenchPlan plan)
      throws IOException, InterruptedException {
    ApiBenchmarks events = new ApiBenchmarks(arena, plan);
    List<Benchmark> all = new ArrayList<>();
    for (int clients : new int[] {1, 8, 64}) {
      all.add(events.exec(clients));
    }
    all.add(events.lines());
    all.add(events.upload());
    all.add(events.download());
    return all;
  }

  private Benchmark exec(int clients) throws InterruptedException {
    List<BenchSubject> contestants = new ArrayList<>();
    arena
        .raw()
        .ifPresent(
            raw ->
                contestants.add(
                    new BenchSubject(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    for (Map.Entry<String, Peer> peer : arena.peers().entrySet()) {
      try {
        contestants.addAll(peer.getValue().execSubjects());
      } catch (IOException e) {
        arena.skipped().add(new SkippedSubject(peer.getKey(), "failed in api: " + e.getMessage()));
      }
    }
    for (BenchProvider entrant : arena.providers()) {
      arena
          .server(entrant)
          .ifPresent(
              served -> {
                BenchEngine housed = arena.engine(entrant).orElseThrow();
                contestants.add(BenchSubject.timed(housed.name(), () -> run(housed)));
                contestants.add(BenchSubject.timed(served.name(), () -> run(served)));
              });
    }
    return new Benchmark("api-exec", "raw", clients, plan.n().orElse(N), WARM_UP, 1, contestants);
  }

  private static void run(BenchEngine housed) throws IOException {
    ExecResult result = housed.sandbox().run(Command.argv(PROGRAM));
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " exited with " + result.exit());
    }
  }

  static void run(BenchServer served) throws IOException {
    served.withClient(
        client -> {
          String answer = client.send("POST", served.sandbox() + "/exec", EXEC);
          if (!answer.contains("\"exitCode\":0")) {
            throw new IOException("unexpected response " + answer);
          }
        });
  }

  /**
   * Sends a line through {@code cat} and waits for it to come back, which measures the latency of
   * events.
   */
  private Benchmark lines() {
    List<BenchSubject> contestants = new ArrayList<>();
    for (BenchProvider entrant : arena.providers()) {
      arena
          .server(entrant)
          .ifPresent(
              served -> {
                BenchEngine housed = arena.engine(entrant).orElseThrow();
                contestants.add(
                    new BenchSubject(housed.name(), (n, concurrency) -> lines(housed, n)));
                contestants.add(
                    new BenchSubject(served.name(), (n, concurrency) -> lines(served, n)));
              });
    }
    String reference = contestants.isEmpty() ? "" : contestants.getFirst().name();
    return new Benchmark("api-line", reference, 1, plan.n().orElse(N), WARM_UP, 1, contestants);
  }

  private static Samples lines(BenchEngine housed, int n) throws IOException, InterruptedException {
    try (Execution execution = housed.sandbox().start(Command.argv("cat").withStdin())) {
      OutputStream in = execution.stdin();
      Samples samples =
          Parallel.run(
              () -> {
                in.write('x');
                in.flush();
                execution.read();
              },
              n,
              1);
      execution.kill();
      return samples;
    }
  }

  private static Samples lines(BenchServer served, int n) throws IOException, InterruptedException {
    String executions = served.sandbox() + "/executions";
    try (ApiClient control = served.connect();
        ApiClient stream = served.connect()) {
      String started =
          control.send(
              "POST", executions, Json.text(Json.object("argv", List.of("cat"), "stdin", true)));
      String one =
          executions
              + "/"
              + JsonValue.parse(started.getBytes(UTF_8))
                  .optionalText("id")
                  .orElseThrow(() -> new IOException("the response has no execution id"));
      stream.follow(one + "/output");
      Samples samples =
          Parallel.run(
              () -> {
                control.send("POST", one + "/stdin", "x");
                stream.awaitEvent("output");
              },
              n,
              1);
      control.send("POST", one + "/signal", Json.text(Map.of("signal", "KILL")));
      return samples;
    }
  }

  private Benchmark upload() throws IOException, InterruptedException {
    makeSource();
    List<BenchSubject> contestants = comparators(true);
    for (BenchProvider entrant : arena.providers()) {
      arena
          .server(entrant)
          .ifPresent(
              served -> {
                BenchEngine housed = arena.engine(entrant).orElseThrow();
                contestants.add(
                    BenchSubject.timed(
                        housed.name(),
                        () -> write(housed),
                        () -> housed.sandbox().files().remove(THERE, false)));
                contestants.add(
                    BenchSubject.timed(
                        served.name(),
                        () ->
                            served.withClient(
                                one -> one.upload(served.sandbox() + CONTENT, source)),
                        () -> housed.sandbox().files().remove(THERE, false)));
              });
    }
    return files("api-upload", contestants);
  }

  private Benchmark download() throws IOException, InterruptedException {
    List<BenchSubject> contestants = comparators(false);
    for (BenchProvider entrant : arena.providers()) {
      arena
          .server(entrant)
          .ifPresent(
              served -> {
                BenchEngine housed = arena.engine(entrant).orElseThrow();
                contestants.add(reading(housed, housed.name(), () -> read(housed)));
                contestants.add(
                    reading(
                        housed,
                        served.name(),
                        () ->
                            served.withClient(
                                one -> one.download(served.sandbox() + CONTENT, target))));
              });
    }
    return files("api-download", contestants);
  }

  /** Returns a subject that reads a file uploaded before the first round. */
  private BenchSubject reading(BenchEngine housed, String name, BenchSubject.Iteration once) {
    BenchSubject timed =
        BenchSubject.timed(
            name,
            () -> {
              once.run();
              whole();
            },
            this::clear);
    return new BenchSubject(
        name,
        (n, concurrency) -> {
          if (there.add(housed.name())) {
            write(housed);
          }
          return timed.work().run(n, concurrency);
        });
  }

  private void write(BenchEngine housed) throws IOException {
    try (InputStream in = new FileInputStream(source.toFile())) {
      housed.sandbox().files().write(THERE, in, WriteOptions.DEFAULT);
    }
  }

  private void read(BenchEngine housed) throws IOException {
    FileSystem files = housed.sandbox().files();
    try (InputStream in = files.read(THERE, ReadRange.ALL);
        OutputStream out = new FileOutputStream(target.toFile())) {
      in.transferTo(out);
    }
  }

  private void whole() throws IOException {
    if (Files.size(target) != plan.sizes().bytes()) {
      throw new IOException("only " + Files.size(target) + " bytes arrived");
    }
  }

  private List<BenchSubject> comparators(boolean in) throws InterruptedException {
    List<BenchSubject> contestants = new ArrayList<>();
    if (arena.isEnabled("cp")) {
      contestants.add(
          BenchSubject.timed(
              "cp",
              () -> LocalProgram.run("cp", source.toString(), target.toString()),
              this::clear));
    }
    contestants.addAll(arena.dockerCopySubjects(docker -> docker.copySubject(source, target, in)));
    return contestants;
  }

  private Benchmark files(String name, List<BenchSubject> contestants) {
    int n = Math.min(FILES, plan.n().orElse(FILES));
    return new Benchmark(name, "cp", 1, n, 1, plan.sizes().bytes(), contestants);
  }

  private void makeSource() throws IOException {
    byte[] block = new byte[1 << 20];
    new Random(1).nextBytes(block);
    try (RandomAccessFile out = new RandomAccessFile(source.toFile(), "rw")) {
      for (long left = plan.sizes().bytes(); left > 0; left -= block.length) {
        out.write(block, 0, (int) Math.min(left, block.length));
      }
    }
  }

  private void clear() throws IOException {
    Files.deleteIfExists(target);
  }
}
