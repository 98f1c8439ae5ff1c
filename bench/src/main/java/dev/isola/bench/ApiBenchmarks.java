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
  private static final String REMOTE_NAME = "isola-bench-file";
  private static final String CONTENT = "/files/content?path=" + REMOTE_NAME;
  private static final int N = 2_000;
  private static final int WARM_UP = 2_000;
  private static final int FILES = 3;

  private final BenchEnvironment environment;
  private final BenchPlan plan;
  private final Path source;
  private final Path target;
  private final Set<String> there = new HashSet<>();

  private ApiBenchmarks(BenchEnvironment environment, BenchPlan plan) {
    this.environment = environment;
    this.plan = plan;
    source = environment.folder().resolve("api-source");
    target = environment.folder().resolve("api-target");
  }

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan)
      throws IOException, InterruptedException {
    ApiBenchmarks events = new ApiBenchmarks(environment, plan);
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
    List<BenchSubject> subjects = new ArrayList<>();
    environment
        .raw()
        .ifPresent(
            raw ->
                subjects.add(
                    new BenchSubject(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    for (Map.Entry<String, Peer> peer : environment.peers().entrySet()) {
      try {
        subjects.addAll(peer.getValue().execSubjects());
      } catch (IOException e) {
        environment
            .skipped()
            .add(new SkippedSubject(peer.getKey(), "failed in api: " + e.getMessage()));
      }
    }
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .server(benchProvider)
          .ifPresent(
              benchServer -> {
                BenchEngine benchEngine = environment.engine(benchProvider).orElseThrow();
                subjects.add(BenchSubject.timed(benchEngine.name(), () -> run(benchEngine)));
                subjects.add(BenchSubject.timed(benchServer.name(), () -> run(benchServer)));
              });
    }
    return new Benchmark("api-exec", "raw", clients, plan.n().orElse(N), WARM_UP, 1, subjects);
  }

  private static void run(BenchEngine benchEngine) throws IOException {
    ExecResult result = benchEngine.sandbox().run(Command.argv(PROGRAM));
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " exited with " + result.exit());
    }
  }

  static void run(BenchServer benchServer) throws IOException {
    benchServer.withClient(
        client -> {
          String answer = client.send("POST", benchServer.sandbox() + "/exec", EXEC);
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
    List<BenchSubject> subjects = new ArrayList<>();
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .server(benchProvider)
          .ifPresent(
              benchServer -> {
                BenchEngine benchEngine = environment.engine(benchProvider).orElseThrow();
                subjects.add(
                    new BenchSubject(
                        benchEngine.name(), (n, concurrency) -> lines(benchEngine, n)));
                subjects.add(
                    new BenchSubject(
                        benchServer.name(), (n, concurrency) -> lines(benchServer, n)));
              });
    }
    String reference = subjects.isEmpty() ? "" : subjects.getFirst().name();
    return new Benchmark("api-line", reference, 1, plan.n().orElse(N), WARM_UP, 1, subjects);
  }

  private static Samples lines(BenchEngine benchEngine, int n)
      throws IOException, InterruptedException {
    try (Execution execution = benchEngine.sandbox().start(Command.argv("cat").withStdin())) {
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

  private static Samples lines(BenchServer benchServer, int n)
      throws IOException, InterruptedException {
    String executions = benchServer.sandbox() + "/executions";
    try (ApiClient control = benchServer.connect();
        ApiClient stream = benchServer.connect()) {
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
    List<BenchSubject> subjects = comparators(true);
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .server(benchProvider)
          .ifPresent(
              benchServer -> {
                BenchEngine benchEngine = environment.engine(benchProvider).orElseThrow();
                subjects.add(
                    BenchSubject.timed(
                        benchEngine.name(),
                        () -> write(benchEngine),
                        () -> benchEngine.sandbox().files().remove(REMOTE_NAME, false)));
                subjects.add(
                    BenchSubject.timed(
                        benchServer.name(),
                        () ->
                            benchServer.withClient(
                                one -> one.upload(benchServer.sandbox() + CONTENT, source)),
                        () -> benchEngine.sandbox().files().remove(REMOTE_NAME, false)));
              });
    }
    return files("api-upload", subjects);
  }

  private Benchmark download() throws IOException, InterruptedException {
    List<BenchSubject> subjects = comparators(false);
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .server(benchProvider)
          .ifPresent(
              benchServer -> {
                BenchEngine benchEngine = environment.engine(benchProvider).orElseThrow();
                subjects.add(reading(benchEngine, benchEngine.name(), () -> read(benchEngine)));
                subjects.add(
                    reading(
                        benchEngine,
                        benchServer.name(),
                        () ->
                            benchServer.withClient(
                                one -> one.download(benchServer.sandbox() + CONTENT, target))));
              });
    }
    return files("api-download", subjects);
  }

  /** Returns a subject that reads a file uploaded before the first round. */
  private BenchSubject reading(BenchEngine benchEngine, String name, BenchSubject.Iteration once) {
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
          if (there.add(benchEngine.name())) {
            write(benchEngine);
          }
          return timed.work().run(n, concurrency);
        });
  }

  private void write(BenchEngine benchEngine) throws IOException {
    try (InputStream in = new FileInputStream(source.toFile())) {
      benchEngine.sandbox().files().write(REMOTE_NAME, in, WriteOptions.DEFAULT);
    }
  }

  private void read(BenchEngine benchEngine) throws IOException {
    FileSystem files = benchEngine.sandbox().files();
    try (InputStream in = files.read(REMOTE_NAME, ReadRange.ALL);
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
    List<BenchSubject> subjects = new ArrayList<>();
    if (environment.isEnabled("cp")) {
      subjects.add(
          BenchSubject.timed(
              "cp",
              () -> LocalProgram.run("cp", source.toString(), target.toString()),
              this::clear));
    }
    subjects.addAll(
        environment.dockerCopySubjects(docker -> docker.copySubject(source, target, in)));
    return subjects;
  }

  private Benchmark files(String name, List<BenchSubject> subjects) {
    int n = Math.min(FILES, plan.n().orElse(FILES));
    return new Benchmark(name, "cp", 1, n, 1, plan.sizes().bytes(), subjects);
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
