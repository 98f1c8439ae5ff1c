package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.client.Command;
import dev.isola.client.Execution;
import dev.isola.client.Isola;
import dev.isola.client.Output;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.SnapshotOptions;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.LimitExceeded;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.TemporaryInstallation;
import dev.isola.provider.oci.GvisorProviderFactory;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.provider.Provider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * N4: a running interpreter is stored as a snapshot and continues after its sandbox and its server
 * are gone, with a real runsc; NOT RUN where it cannot save sandboxes.
 */
@Timeout(300)
class StoredMemoryTest {
  private static final String PYTHON = "/usr/bin/python3";

  private final Path folder;
  private LiveServer server;
  private Isola isola;

  StoredMemoryTest() throws IOException {
    folder = Files.createTempDirectory("isola");
  }

  @BeforeEach
  void start() {
    Assumptions.assumeTrue(Files.exists(Path.of(PYTHON)), "NOT RUN: there is no " + PYTHON);
    try (TemporaryInstallation trial = TemporaryInstallation.of(new GvisorProviderFactory());
        Provider provider = trial.open()) {
      Assumptions.assumeTrue(
          provider.info().capabilities().contains(MemoryForking.class),
          "NOT RUN: runsc cannot save sandboxes: " + provider.health());
    }
    open();
  }

  private void open() {
    server = LiveServer.start(folder, new GvisorProviderFactory(), "expiry.interval=200ms");
    isola = server.client();
  }

  private void restart() {
    isola.close();
    server.close();
    open();
  }

  @AfterEach
  void end() {
    if (server != null) {
      isola.list(SandboxFilter.ALL).forEach(one -> isola.sandbox(one.id()).destroy(true));
      isola.close();
      server.close();
    }
    TemporaryFolder.remove(folder);
  }

  /** Starts an interpreter and returns its id. */
  private static String startInterpreter(Sandbox sandbox) throws IOException {
    try (Execution python = sandbox.start(Command.argv(PYTHON, "-u", "-i", "-q"), true)) {
      assertThat(answer(python, "import os; x = 41; print('ready')")).isEqualTo("ready");
      return python.id();
    }
  }

  /** Has the interpreter run a statement, and returns the next line that it prints. */
  private static String answer(Execution python, String statement) throws IOException {
    OutputStream stdin = python.stdin();
    stdin.write((statement + "\n").getBytes(UTF_8));
    stdin.flush();
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\n") < 0) {
      Optional<Output> next = python.read();
      if (next.orElseThrow() instanceof Output.Data data
          && data.channel() == Output.Channel.STDOUT) {
        text.append(data.text());
      }
    }
    return text.toString().strip();
  }

  private static String answer(Sandbox sandbox, String python, String statement)
      throws IOException {
    long end =
        sandbox.executions().stream()
            .filter(one -> one.id().equals(python))
            .findFirst()
            .orElseThrow()
            .endOffset();
    try (Execution execution = sandbox.execution(python, end)) {
      return answer(execution, statement);
    }
  }

  @Test
  void interpreterContinuesAfterItsSandboxAndServerAreGone() throws Exception {
    Sandbox source = isola.create(SandboxSpec.builder().env("COLOR", "red").build());
    String python = startInterpreter(source);
    long begin = System.nanoTime();
    SnapshotInfo snapshot = source.snapshot(SnapshotOptions.memory());
    System.out.println(
        "stored "
            + snapshot.bytes()
            + " bytes as "
            + snapshot.storedBytes()
            + " in "
            + (System.nanoTime() - begin) / 1_000_000
            + " ms, frozen for "
            + snapshot.document().get("heldMs")
            + " ms");
    assertThat(snapshot.kind()).isEqualTo("memory");
    assertThat(answer(source, python, "x += 1; print(x)")).isEqualTo("42");
    assertThat(folder.resolve("gvisor/saved")).isEmptyDirectory();
    source.destroy(true);
    restart();

    assertThatThrownBy(
            () ->
                isola
                    .snapshots()
                    .restore(snapshot.id(), SandboxSpec.builder().memoryMb(777).build()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("resources");
    List<CompletableFuture<Sandbox>> copies =
        List.of(
            CompletableFuture.supplyAsync(() -> isola.snapshots().restore(snapshot.id())),
            CompletableFuture.supplyAsync(
                () ->
                    isola
                        .snapshots()
                        .restore(
                            snapshot.id(), SandboxSpec.builder().env("COLOR", "blue").build())));
    Set<String> different = new HashSet<>();
    for (CompletableFuture<Sandbox> future : copies) {
      try (Sandbox copy = future.get()) {
        assertThat(answer(copy, python, "print(x)")).isEqualTo("41");
        different.add(answer(copy, python, "print(os.urandom(16).hex())"));
        different.add(copy.exec("echo $ISOLA_SANDBOX").stdout().strip());
        different.add(copy.exec("echo $COLOR").stdout().strip());
        assertThat(different).contains(copy.id());
        assertThat(copy.info().provider()).isEqualTo("gvisor");
      }
    }
    assertThat(different).hasSize(6);
    assertThat(folder.resolve("gvisor/saved")).isEmptyDirectory();
    isola.snapshots().remove(snapshot.id());
    assertThat(isola.snapshots().collectGarbage().bytes()).isPositive();
  }

  @Test
  void idleSandboxIsResumedWithItsProcesses() throws Exception {
    Sandbox sandbox =
        isola.create(
            SandboxSpec.builder().idleTimeout(Duration.ofSeconds(2)).whenIdle("snapshot").build());
    String python = startInterpreter(sandbox);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                isola.list(SandboxFilter.ALL).stream()
                    .allMatch(one -> one.state().equals("stopped")));
    await().atMost(Duration.ofSeconds(60)).until(() -> isola.snapshots().list().size() == 2);
    restart();
    Sandbox again = isola.sandbox(sandbox.id());
    assertThat(answer(again, python, "print(x + 1)")).as(server.log()).isEqualTo("42");
    assertThat(isola.snapshots().list()).isEmpty();
  }

  @Test
  void fullDiskLeavesTheSourceAndNothingElse() throws Exception {
    isola.close();
    server.close();
    Path full = Files.createDirectories(folder.resolve("snapshots"));
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=3m", "none", full.toString()) == 0,
        "NOT RUN: no small file system can be mounted here");
    try {
      open();
      Sandbox source = isola.create();
      String python = startInterpreter(source);
      assertThat(answer(source, python, "y = os.urandom(20_000_000); print(len(y))"))
          .isEqualTo("20000000");
      assertThatThrownBy(() -> source.snapshot(SnapshotOptions.memory()))
          .isInstanceOf(LimitExceeded.class);
      assertThat(folder.resolve("gvisor/saved")).isEmptyDirectory();
      assertThat(isola.snapshots().list()).isEmpty();
      assertThat(answer(source, python, "print(x)")).isEqualTo("41");
      source.destroy(true);
      server.close();
    } finally {
      assertThat(run("umount", full.toString())).isZero();
    }
    open();
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).start().waitFor();
  }

  @Test
  void serverKilledWhileStoringLeavesTheSourceAndNoSnapshot() throws Exception {
    isola.close();
    server.close();
    Process killed = serve();
    try (BufferedReader out = killed.inputReader(UTF_8)) {
      String url = out.readLine().substring("Isola listening on ".length()).split(" ", 2)[0];
      String id;
      String python;
      CompletableFuture<SnapshotInfo> storing;
      try (Isola client = Isola.connect(url, LiveServer.KEY)) {
        Sandbox source = client.create().detach();
        id = source.id();
        python = startInterpreter(source);
        assertThat(answer(source, python, "y = os.urandom(200_000_000); print(len(y))"))
            .isEqualTo("200000000");
        storing = CompletableFuture.supplyAsync(() -> source.snapshot(SnapshotOptions.memory()));
        await()
            .pollInterval(Duration.ofMillis(2))
            .atMost(Duration.ofSeconds(60))
            .until(() -> !savedFiles("secret").isEmpty());
        killed.destroyForcibly().waitFor();
        assertThatThrownBy(storing::get).as("it was being stored").isNotNull();
      }
      assertThat(savedFiles("secret")).as("left by the killed server").isNotEmpty();
      open();
      assertThat(isola.snapshots().list()).isEmpty();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(folder.resolve("gvisor/saved")).isEmptyDirectory());
      Sandbox source = isola.sandbox(id);
      assertThat(answer(source, python, "print(x, len(y))")).isEqualTo("41 200000000");
      assertThat(source.snapshot(SnapshotOptions.memory()).bytes()).isGreaterThan(200_000_000);
    } finally {
      killed.destroyForcibly().waitFor();
    }
  }

  private List<Path> savedFiles(String name) throws IOException {
    List<Path> found = new ArrayList<>();
    Path saved = folder.resolve("gvisor/saved");
    if (Files.isDirectory(saved)) {
      try (DirectoryStream<Path> all = Files.newDirectoryStream(saved)) {
        for (Path one : all) {
          if (Files.exists(one.resolve(name))) {
            found.add(one);
          }
        }
      }
    }
    return found;
  }

  /** Starts a server in a process of its own, which can be killed. */
  private Process serve() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main",
                "serve",
                "--port",
                "0",
                "--data",
                folder.toString(),
                "--set",
                "provider=gvisor")
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("ISOLA_API_KEY", LiveServer.KEY);
    return builder.start();
  }
}
