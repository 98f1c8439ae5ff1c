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
 * The same work over HTTP and in this process: a command, a line through a running one, a large
 * file. Server and clients are in this process too, so what clients cost is in it.
 */
final class ApiEvents {
  private static final String PROGRAM = "/bin/true";
  private static final String EXEC = Json.text(Map.of("argv", List.of(PROGRAM)));
  private static final String THERE = "isola-bench-file";
  private static final String CONTENT = "/files/content?path=" + THERE;
  private static final int N = 2_000;
  private static final int WARM_UP = 2_000;
  private static final int FILES = 3;

  private final Arena arena;
  private final Plan plan;
  private final Path source;
  private final Path target;
  private final Set<String> there = new HashSet<>();

  private ApiEvents(Arena arena, Plan plan) {
    this.arena = arena;
    this.plan = plan;
    source = arena.folder().resolve("api-source");
    target = arena.folder().resolve("api-target");
  }

  static List<Event> of(Arena arena, Plan plan) throws IOException, InterruptedException {
    ApiEvents events = new ApiEvents(arena, plan);
    List<Event> all = new ArrayList<>();
    for (int clients : new int[] {1, 8, 64}) {
      all.add(events.exec(clients));
    }
    all.add(events.lines());
    all.add(events.upload());
    all.add(events.download());
    return all;
  }

  private Event exec(int clients) throws InterruptedException {
    List<Contestant> contestants = new ArrayList<>();
    arena
        .raw()
        .ifPresent(
            raw ->
                contestants.add(
                    new Contestant(
                        "raw",
                        (n, concurrency) ->
                            raw.run(
                                "exec",
                                Integer.toString(n),
                                Integer.toString(concurrency),
                                PROGRAM))));
    for (Map.Entry<String, Peer> peer : arena.peers().entrySet()) {
      try {
        contestants.addAll(peer.getValue().executing());
      } catch (IOException e) {
        arena.absent().add(new Absent(peer.getKey(), "failed in api: " + e.getMessage()));
      }
    }
    for (Entrant entrant : arena.entrants()) {
      arena
          .served(entrant)
          .ifPresent(
              served -> {
                Housed housed = arena.housed(entrant).orElseThrow();
                contestants.add(Contestant.timed(housed.name(), () -> run(housed)));
                contestants.add(Contestant.timed(served.name(), () -> run(served)));
              });
    }
    return new Event("api-exec", "raw", clients, plan.n().orElse(N), WARM_UP, 1, contestants);
  }

  private static void run(Housed housed) throws IOException {
    ExecResult result = housed.sandbox().run(Command.argv(PROGRAM));
    if (!result.succeeded()) {
      throw new IOException(PROGRAM + " ended with " + result.exit());
    }
  }

  static void run(Served served) throws IOException {
    served.ask(
        client -> {
          String answer = client.ask("POST", served.sandbox() + "/exec", EXEC);
          if (!answer.contains("\"exitCode\":0")) {
            throw new IOException("answered " + answer);
          }
        });
  }

  /** A line into {@code cat} and out again: how long an event is on its way. */
  private Event lines() {
    List<Contestant> contestants = new ArrayList<>();
    for (Entrant entrant : arena.entrants()) {
      arena
          .served(entrant)
          .ifPresent(
              served -> {
                Housed housed = arena.housed(entrant).orElseThrow();
                contestants.add(
                    new Contestant(housed.name(), (n, concurrency) -> lines(housed, n)));
                contestants.add(
                    new Contestant(served.name(), (n, concurrency) -> lines(served, n)));
              });
    }
    String reference = contestants.isEmpty() ? "" : contestants.getFirst().name();
    return new Event("api-line", reference, 1, plan.n().orElse(N), WARM_UP, 1, contestants);
  }

  private static Samples lines(Housed housed, int n) throws IOException, InterruptedException {
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

  private static Samples lines(Served served, int n) throws IOException, InterruptedException {
    String executions = served.sandbox() + "/executions";
    try (ApiClient control = served.connect();
        ApiClient stream = served.connect()) {
      String started =
          control.ask(
              "POST", executions, Json.text(Json.object("argv", List.of("cat"), "stdin", true)));
      String one =
          executions
              + "/"
              + JsonValue.parse(started.getBytes(UTF_8))
                  .maybeText("id")
                  .orElseThrow(() -> new IOException("no execution was started"));
      stream.follow(one + "/output");
      Samples samples =
          Parallel.run(
              () -> {
                control.ask("POST", one + "/stdin", "x");
                stream.awaitEvent("output");
              },
              n,
              1);
      control.ask("POST", one + "/signal", Json.text(Map.of("signal", "KILL")));
      return samples;
    }
  }

  private Event upload() throws IOException, InterruptedException {
    makeSource();
    List<Contestant> contestants = comparators(true);
    for (Entrant entrant : arena.entrants()) {
      arena
          .served(entrant)
          .ifPresent(
              served -> {
                Housed housed = arena.housed(entrant).orElseThrow();
                contestants.add(
                    Contestant.timed(
                        housed.name(),
                        () -> write(housed),
                        () -> housed.sandbox().files().remove(THERE, false)));
                contestants.add(
                    Contestant.timed(
                        served.name(),
                        () -> served.ask(one -> one.upload(served.sandbox() + CONTENT, source)),
                        () -> housed.sandbox().files().remove(THERE, false)));
              });
    }
    return files("api-upload", contestants);
  }

  private Event download() throws IOException, InterruptedException {
    List<Contestant> contestants = comparators(false);
    for (Entrant entrant : arena.entrants()) {
      arena
          .served(entrant)
          .ifPresent(
              served -> {
                Housed housed = arena.housed(entrant).orElseThrow();
                contestants.add(reading(housed, housed.name(), () -> read(housed)));
                contestants.add(
                    reading(
                        housed,
                        served.name(),
                        () -> served.ask(one -> one.download(served.sandbox() + CONTENT, target))));
              });
    }
    return files("api-download", contestants);
  }

  /** Makes a contestant of one that reads what was put there before the first round. */
  private Contestant reading(Housed housed, String name, Contestant.Once once) {
    Contestant timed =
        Contestant.timed(
            name,
            () -> {
              once.run();
              whole();
            },
            this::clear);
    return new Contestant(
        name,
        (n, concurrency) -> {
          if (there.add(housed.name())) {
            write(housed);
          }
          return timed.work().run(n, concurrency);
        });
  }

  private void write(Housed housed) throws IOException {
    try (InputStream in = new FileInputStream(source.toFile())) {
      housed.sandbox().files().write(THERE, in, WriteOptions.DEFAULT);
    }
  }

  private void read(Housed housed) throws IOException {
    FileSystem files = housed.sandbox().files();
    try (InputStream in = files.read(THERE, ReadRange.ALL);
        OutputStream out = new FileOutputStream(target.toFile())) {
      in.transferTo(out);
    }
  }

  private void whole() throws IOException {
    if (Files.size(target) != plan.sizes().bytes()) {
      throw new IOException("only " + Files.size(target) + " bytes came");
    }
  }

  private List<Contestant> comparators(boolean in) throws InterruptedException {
    List<Contestant> contestants = new ArrayList<>();
    if (arena.has("cp")) {
      contestants.add(
          Contestant.timed(
              "cp", () -> Tool.run("cp", source.toString(), target.toString()), this::clear));
    }
    contestants.addAll(arena.dockerCopying(docker -> docker.copying(source, target, in)));
    return contestants;
  }

  private Event files(String name, List<Contestant> contestants) {
    int n = Math.min(FILES, plan.n().orElse(FILES));
    return new Event(name, "cp", 1, n, 1, plan.sizes().bytes(), contestants);
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
