package dev.isola.app.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.client.Command;
import dev.isola.client.ExecResult;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.error.LimitExceeded;
import dev.isola.conformance.condition.Condition;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Second audit, findings 11 and 14: sandboxes with trees that are larger than the heap of the
 * server are captured and suspended, while the server answers and another sandbox is captured.
 */
@Tag("long")
class HostileTreeServerTest {
  private static final String KEY = "isk_0123456789abcdef0123456789abcdef";
  private static final String LISTENING = "Isola listening on ";
  private static final Duration LONG = Duration.ofMinutes(10);

  @TempDir Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final Queue<String> unhealthy = new ConcurrentLinkedQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);

  @SuppressWarnings("NullAway.Init") // started before each test
  private Process server;

  @SuppressWarnings("NullAway.Init") // connected before each test
  private Isola isola;

  /** What a hostile sandbox has written. */
  enum Tree {
    /** 120 MB of names, which fit into a snapshot. */
    LINKS_THAT_FIT(links(5, 60_000), true),
    /** 770 MB of names. */
    LINKS(links(15, 120_000), false),
    /** 1 GB of attributes. */
    ATTRIBUTES(
        """
        import os
        for i in range(260000):
            name = "d%d/f%d" % (i // 1000, i)
            os.makedirs(os.path.dirname(name), exist_ok=True)
            open(name, "w").close()
            os.setxattr(name, "user.a", (b"%d " % i).ljust(3800, b"v"))
        """,
        false),
    /** 8 TiB of holes. */
    SPARSE("open('huge', 'w').truncate(8 << 40)", false);

    private final String program;
    private final boolean captured;

    Tree(String program, boolean captured) {
      this.program = program;
      this.captured = captured;
    }

    private static String links(int depth, int count) {
      return """
      import os
      for i in range(%d):
          os.mkdir("d" * 200)
          os.chdir("d" * 200)
      for i in range(%d):
          if i %% 60000 == 0:
              target = "target%%d" %% i
              open(target, "w").close()
          os.link(target, "%%06d" %% i + "n" * 194)
      """
          .formatted(depth, count);
    }
  }

  @BeforeEach
  void start() throws IOException, InterruptedException {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/bwrap")), "bwrap is missing");
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(launcherFlags());
    words.addAll(
        List.of(
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.isola.app.Main",
            "serve",
            "--port",
            "0",
            "--data",
            folder.resolve("state").toString(),
            "--set",
            "provider=bubblewrap",
            "--set",
            "health.timeout=30s", // a machine that builds trees of this size is busy
            "--set",
            "shutdown=drain"));
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_API_KEY", KEY);
    server = builder.start();
    String line = String.valueOf(server.inputReader(UTF_8).readLine());
    assertThat(line).startsWith(LISTENING);
    String url = line.substring(LISTENING.length());
    isola = Isola.connect(url, KEY);
    Thread.ofVirtual().start(() -> watchHealth(URI.create(url + "/healthz")));
  }

  /** Returns the flags with which the scripts start a server. */
  private static List<String> launcherFlags() throws IOException, InterruptedException {
    Process shell =
        new ProcessBuilder("sh", "-c", ". ../.build/jvm.sh && jvm_flags serve && echo \"$flags\"")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (InputStream out = shell.getInputStream()) {
      String flags = new String(out.readAllBytes(), UTF_8).strip();
      assertThat(shell.waitFor()).isZero();
      return List.of(flags.split(" +"));
    }
  }

  @AfterEach
  void end() throws InterruptedException {
    ended.countDown();
    if (server.isAlive()) {
      isola.list(SandboxFilter.ALL).forEach(one -> isola.sandbox(one.id()).destroy(true));
    }
    isola.close();
    server.destroy();
    server.waitFor();
    http.close();
  }

  private void watchHealth(URI url) {
    HttpRequest request = HttpRequest.newBuilder(url).timeout(Duration.ofMinutes(1)).build();
    try {
      while (!ended.await(100, TimeUnit.MILLISECONDS)) {
        int status = http.send(request, BodyHandlers.ofString()).statusCode();
        if (status != 200) {
          unhealthy.add("status " + status);
        }
      }
    } catch (IOException e) {
      unhealthy.add(e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Sandbox create() {
    return isola.create(
        SandboxSpec.builder()
            .provider("bubblewrap")
            .ttl(Duration.ofHours(1))
            .whenExpired("snapshot")
            .memoryMb(2048)
            .diskMb(16 << 10)
            .build());
  }

  private static String run(Sandbox sandbox, String... words) {
    ExecResult result = sandbox.exec(Command.argv(words).withTimeout(LONG));
    assertThat(result.exitCode()).as(result.stdout() + result.stderr()).isZero();
    return result.stdout();
  }

  private static String count(Sandbox sandbox) {
    return run(sandbox, "sh", "-c", "find . | wc -l");
  }

  @ParameterizedTest
  @EnumSource
  void serverAnswersAndOthersAreCaptured(Tree tree) throws Exception {
    Sandbox other = create();
    run(other, "sh", "-c", "echo mine > file");
    Sandbox hostile = create();
    run(hostile, "python3", "-c", tree.program);
    String files = count(hostile);

    FutureTask<@Nullable SnapshotInfo> capture = new FutureTask<>(() -> capture(hostile, tree));
    Thread.ofVirtual().start(capture);
    SnapshotInfo mine;
    do {
      mine = other.snapshot();
    } while (!capture.isDone());
    @Nullable SnapshotInfo first = capture.get();
    if (first != null) {
      assertThat(count(isola.snapshots().restore(first.id()))).isEqualTo(files);
      SnapshotInfo second = hostile.snapshot();
      assertThat(isola.snapshots().diff(first.id(), second.id()).changed()).isEmpty();
    }

    suspend(hostile, tree);
    assertThat(count(hostile)).isEqualTo(files);
    isola.snapshots().collectGarbage();
    assertThat(run(isola.snapshots().restore(mine.id()), "cat", "file")).isEqualTo("mine\n");
    assertThat(server.isAlive()).isTrue();
    assertThat(unhealthy).isEmpty();
  }

  /** Returns a snapshot, or nothing if it was refused as it should be. */
  private static @Nullable SnapshotInfo capture(Sandbox hostile, Tree tree) {
    if (tree.captured) {
      return hostile.snapshot();
    }
    LimitExceeded refused = catchThrowableOfType(LimitExceeded.class, () -> hostile.snapshot());
    assertThat(refused).hasMessageContaining("snapshot");
    assertThat(refused.remedy()).isNotEmpty();
    return null;
  }

  /** Lets the sandbox expire, waits for its suspension, and resumes it. */
  private void suspend(Sandbox hostile, Tree tree) {
    Queue<String> events = new ConcurrentLinkedQueue<>();
    try (var _ = hostile.on("snapshot", event -> events.add(event.type()));
        var _ = hostile.on("snapshotFailed", event -> events.add(event.type()))) {
      hostile.renew(Duration.ofSeconds(1));
      assertThat(Condition.holdsWithin(LONG, () -> !events.isEmpty())).isTrue();
      assertThat(events.peek()).isEqualTo(tree.captured ? "snapshot" : "snapshotFailed");
    }
    hostile.resume();
    hostile.renew(Duration.ofHours(1));
  }
}
