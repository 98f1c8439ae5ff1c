package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.client.Command;
import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.FileChange;
import dev.isola.client.FileWatch;
import dev.isola.client.Fork;
import dev.isola.client.ForkOptions;
import dev.isola.client.Isola;
import dev.isola.client.Output;
import dev.isola.client.Preview;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.SnapshotOptions;
import dev.isola.client.Terminal;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.LimitExceeded;
import dev.isola.client.error.NotFound;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.conformance.UniqueResources;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The handles and streams of the Java SDK against a real server with the subprocess provider. */
@Tag("all")
@Timeout(120)
class JavaSdkHandleTest {
  @TempDir static Path data;
  private static TestServer server;
  private static Isola isola;

  @BeforeAll
  static void start() {
    server = TestServer.start(data, "subprocess");
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  private static String state(String id) {
    return isola.sandbox(id).info().state();
  }

  @Test
  void closeDestroysACreatedSandbox() {
    Sandbox created = isola.create();
    try (created) {
      assertThat(created.exec("echo 1").stdout()).isEqualTo("1\n");
    }
    assertThat(state(created.id())).isEqualTo("destroyed");
    created.close(); // idempotent
  }

  @Test
  void detachedSandboxSurvivesCloseAndAHandleByIdDoesNotDestroy() {
    String id;
    try (Sandbox sandbox = isola.create()) {
      id = sandbox.detach().id();
    }
    assertThat(state(id)).isEqualTo("running");
    try (Sandbox sandbox = isola.sandbox(id)) {
      assertThat(sandbox.exec("true").exitCode()).isZero();
    }
    assertThat(state(id)).isEqualTo("running");
    isola.sandbox(id).destroyOnClose().close();
    assertThat(state(id)).isEqualTo("destroyed");
  }

  @Test
  void closeIgnoresASandboxThatIsGone() {
    try (Sandbox sandbox = isola.create()) {
      isola.sandbox(sandbox.id()).destroy();
    }
    isola.sandbox("neverexisted").destroyOnClose().close();
  }

  @Test
  void closeDoesNotMaskAnExceptionAndWorksOnAnInterruptedThread() {
    Sandbox sandbox = isola.create();
    IllegalStateException thrown =
        catchThrowableOfType(
            IllegalStateException.class,
            () -> {
              try (sandbox) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("from the body");
              }
            });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(thrown).hasMessage("from the body").hasNoSuppressedExceptions();
    assertThat(state(sandbox.id())).isEqualTo("destroyed");
  }

  @Test
  void failedCloseIsReportedAndCanBeRepeated(@TempDir Path other) {
    TestServer stopped = TestServer.start(other, "subprocess");
    Sandbox sandbox;
    try (Isola client = Isola.connect(stopped.url(), stopped.key())) {
      sandbox = client.create();
      stopped.close();
      assertThatThrownBy(sandbox::close).isInstanceOf(ProviderUnavailable.class);
      assertThatThrownBy(sandbox::close).isInstanceOf(ProviderUnavailable.class);
    }
    TestServer restarted = TestServer.start(other, "subprocess");
    try (Isola client = Isola.connect(restarted.url(), restarted.key())) {
      client.sandbox(sandbox.id()).destroyOnClose().close();
      assertThat(client.list(SandboxFilter.ALL)).isEmpty();
    } finally {
      restarted.close();
    }
  }

  @Test
  void forksAreHandles() {
    try (Sandbox sandbox = isola.create()) {
      sandbox.exec("printf here > kept");
      try (Sandbox fork = sandbox.fork()) {
        assertThat(fork.id()).isNotEqualTo(sandbox.id());
        assertThat(fork.exec("cat kept; printf changed > kept").stdout()).isEqualTo("here");
      }
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
      List<Sandbox> forks = sandbox.fork(2);
      assertThat(forks).hasSize(2);
      forks.forEach(Sandbox::close);
      assertThat(sandbox.exec("cat kept").stdout()).isEqualTo("here");
      Fork each = sandbox.forkEach(ForkOptions.filesystem()).getFirst();
      assertThat(each.error()).isEmpty();
      isola.sandbox(each.sandbox().orElseThrow().id()).destroy();
    }
  }

  @Test
  void forkWithOneFailureLeavesNoSandbox(@TempDir Path other) {
    TestServer small =
        TestServer.start(
            other,
            "subprocess",
            "admission.cpu=3",
            "admission.cpu_overcommit=1",
            "admission.queue_timeout=0s");
    try (Isola client = Isola.connect(small.url(), small.key())) {
      try (Sandbox sandbox = client.create(SandboxSpec.builder().cpu(1).build())) {
        assertThat(sandbox.forkEach(ForkOptions.filesystem().count(2)))
            .allMatch(fork -> fork.error().isEmpty());
        client.list(SandboxFilter.ALL).stream()
            .filter(info -> !info.id().equals(sandbox.id()))
            .forEach(info -> client.sandbox(info.id()).destroy());
        assertThatThrownBy(() -> sandbox.fork(3)).isInstanceOf(LimitExceeded.class);
        assertThat(client.list(SandboxFilter.ALL)).hasSize(1);
      }
    } finally {
      small.close();
    }
  }

  @Test
  void snapshotIsTypedAndRestoresToAHandle() {
    SnapshotInfo snapshot;
    try (Sandbox sandbox = isola.create()) {
      sandbox.files().write("src/a.txt", "first");
      sandbox.files().write("src/b.log", "noise");
      snapshot =
          sandbox.snapshot(SnapshotOptions.workspace().exclude("**/*.log").tag("made", "by-test"));
    }
    assertThat(snapshot.tags()).containsEntry("made", "by-test");
    assertThat(snapshot.bytes()).isEqualTo(5);
    try (Sandbox restored = isola.snapshots().restore(snapshot.id())) {
      assertThat(restored.exec("cat src/a.txt; ls src").stdout()).isEqualTo("firsta.txt\n");
    }
    isola.snapshots().remove(snapshot.id());
    assertThatThrownBy(() -> isola.snapshots().restore(snapshot.id())).isInstanceOf(NotFound.class);
  }

  @Test
  void callbacksReceiveWholeCharacters() {
    try (Sandbox sandbox = isola.create();
        // ü in two writes, and a byte that is not UTF-8 at the end.
        Execution execution =
            sandbox.start(
                Command.shell(
                    "printf '\\303'; sleep 0.2; printf '\\274 out'; printf 'err\\377' >&2; exit 3"))) {
      StringBuilder out = new StringBuilder();
      StringBuilder err = new StringBuilder();
      Exit exit = execution.onStdout(out::append).onStderr(err::append).await();
      assertThat(exit).isEqualTo(new Exit.Exited(3));
      assertThat(out).hasToString("ü out");
      assertThat(err).hasToString("err\ufffd");
    }
  }

  @Test
  void outputStreamIsLazyAndEndsWithTheCommand() {
    try (Sandbox sandbox = isola.create()) {
      try (Execution execution = sandbox.start(Command.shell("echo a; echo b >&2; exit 4"));
          Stream<Output> output = execution.output()) {
        String all =
            output
                .map(piece -> ((Output.Data) piece).text())
                .sorted()
                .collect(Collectors.joining());
        assertThat(all).isEqualTo("a\nb\n");
        assertThat(execution.await()).isEqualTo(new Exit.Exited(4));
      }
      // An endless command: the stream stops reading, the command is held back and can be killed.
      Execution endless = sandbox.start(Command.argv("yes"));
      try (Stream<Output> output = endless.output()) {
        assertThat(output.limit(3)).hasSize(3);
      }
      long end = sandbox.execution(endless.id(), 0).info().endOffset();
      assertThat(end).isPositive();
      endless.kill();
    }
  }

  @Test
  void watchReportsChangesAndEndsOnClose() throws Exception {
    try (Sandbox sandbox = isola.create()) {
      sandbox.files().makeFolder("watched/sub");
      FileWatch watch = sandbox.watch("watched", true);
      List<FileChange> seen = new ArrayList<>();
      sandbox.files().write("watched/sub/new.txt", "x");
      try (Stream<FileChange> changes = watch.changes()) {
        assertThat(
                changes
                    .peek(seen::add)
                    .filter(change -> change.path().endsWith("new.txt"))
                    .findFirst())
            .isPresent();
      }
      assertThat(watch.next()).isEmpty(); // the stream closed it

      FileWatch other = sandbox.watch("watched", false);
      CompletableFuture<Optional<FileChange>> next = CompletableFuture.supplyAsync(other::next);
      other.close();
      assertThat(next.get(20, TimeUnit.SECONDS)).isEmpty();

      FileWatch gone = sandbox.watch("watched/sub", false);
      sandbox.files().remove("watched", true);
      List<FileChange.Kind> kinds = new ArrayList<>();
      gone.forEach(change -> kinds.add(change.kind()));
      assertThat(kinds).endsWith(FileChange.Kind.GONE);
      assertThatThrownBy(() -> sandbox.watch("missing", false)).isInstanceOf(NotFound.class);
    }
  }

  @Test
  void terminalCanBeWrittenBeforeItIsRead() throws IOException {
    try (Sandbox sandbox = isola.create();
        Terminal terminal = sandbox.terminal(Command.shell("read x; echo got $x"), 24, 80)) {
      terminal.stdin().write("first\r".getBytes(StandardCharsets.UTF_8));
      StringBuilder screen = new StringBuilder();
      for (Optional<Output> piece = terminal.read(); piece.isPresent(); piece = terminal.read()) {
        screen.append(((Output.Data) piece.get()).text());
      }
      assertThat(screen.toString()).contains("got first");
      assertThat(terminal.await()).isEqualTo(new Exit.Exited(0));
    }
  }

  @Test
  void terminalThatIsNeverReadCanBeWritten() throws IOException {
    try (Sandbox sandbox = isola.create()) {
      Terminal terminal = sandbox.terminal(Command.shell("read x; echo $x > typed"), 24, 80);
      try (terminal) {
        terminal.stdin().write("kept\r".getBytes(StandardCharsets.UTF_8));
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> sandbox.files().find("typed").filter(f -> f.size() == 5).isPresent());
      }
      assertThatThrownBy(() -> terminal.stdin().write('x')).isInstanceOf(IOException.class);
    }
  }

  @Test
  void previewByPathNeedsNoNameAndKeepsItsCredential() throws Exception {
    try (Sandbox sandbox = isola.create();
        HttpClient http = HttpClient.newHttpClient()) {
      int port = UniqueResources.reservePort(); // the subprocess provider shares the host's network
      sandbox.files().write("page.txt", "from the sandbox");
      sandbox.files().write("serve.py", SITE);
      Execution site = sandbox.start(Command.argv("python3", "serve.py", Integer.toString(port)));
      Preview preview = sandbox.ports().preview(port, Duration.ofMinutes(5));
      assertThat(preview.uri("/x?y=1").toString()).startsWith(server.url() + "/api/v1/sandboxes/");
      assertThat(preview.toString() + preview.token()).doesNotContain(preview.token().token());
      HttpResponse<String> response =
          await()
              .atMost(Duration.ofSeconds(30))
              .until(
                  () -> http.send(preview.request("/page.txt").build(), BodyHandlers.ofString()),
                  answer -> answer.statusCode() == 200);
      // The site returns the headers that reached it.
      assertThat(response.body().toLowerCase(java.util.Locale.ROOT))
          .contains("x-forwarded-prefix")
          .doesNotContain("x-isola-token", preview.token().token());
      HttpResponse<String> refused =
          http.send(
              java.net.http.HttpRequest.newBuilder(preview.uri("/page.txt")).build(),
              BodyHandlers.ofString());
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(401);
      assertThat(sandbox.ports().linkByPath(port, Duration.ofMinutes(1)).url())
          .startsWith(server.url() + "/api/v1/sandboxes/" + sandbox.id() + "/ports/" + port + "/");
      site.kill();
    }
  }

  private static final String SITE =
      """
      import http.server, sys
      class Site(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              body = str(self.headers).encode()
              self.send_response(200)
              self.send_header('Content-Length', str(len(body)))
              self.end_headers()
              self.wfile.write(body)
      http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Site).serve_forever()
      """;

  @Test
  void imagesAreListedAndMissingOnesAreNotFound() {
    assertThat(isola.images().list()).isEmpty();
    assertThatThrownBy(() -> isola.images().get("missing")).isInstanceOf(NotFound.class);
    List<String> steps = new ArrayList<>();
    assertThatThrownBy(
            () -> isola.images().pull("x", "docker-archive:/no/such/file", false, steps::add))
        .isInstanceOf(IsolaException.class);
    assertThat(isola.images().list()).isEmpty();
  }
}
