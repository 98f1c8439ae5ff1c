package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.cli.DataFolder;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.engine.lease.SandboxLease;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code isola run} and {@code isola serve} as separate processes on one data folder. */
@Timeout(300)
@Tag("all")
class RunBesideServerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  private static final int RUNS = 3;
  private static final Map<String, ProviderFactory> PROVIDERS =
      Map.of(
          "subprocess", new SubprocessProviderFactory(),
          "bubblewrap", new BubblewrapProviderFactory());

  private final TemporaryFolder scratch = TemporaryFolder.create("beside");
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() throws Exception {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
    removeControlGroups();
    scratch.close();
  }

  /**
   * Removes the cgroups of a runtime probe. A server that is killed during the probe leaves them to
   * the next server with the same data folder, and after this test there is none.
   */
  private void removeControlGroups() {
    InstanceId instance = new DataFolder(data()).instance();
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              ControlGroups.ofHost().removeEmpty(instance, Duration.ZERO, id -> true);
              return controlGroups(instance).isEmpty();
            });
  }

  private static List<Path> controlGroups(InstanceId instance) throws IOException {
    String prefix = "isola-" + instance.value() + "-";
    List<Path> found = new ArrayList<>();
    for (ControlGroups.Controller one : ControlGroups.ofHost().controllers().values()) {
      Files.walkFileTree(
          one.folder(),
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes any) {
              if (folder.getFileName().toString().startsWith(prefix)) {
                found.add(folder);
                return FileVisitResult.SKIP_SUBTREE;
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path gone, IOException e) {
              return FileVisitResult.CONTINUE;
            }
          });
    }
    return found;
  }

  private Process isola(String... args) throws IOException {
    List<String> java =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Dslf4j.internal.verbosity=ERROR",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.isola.app.Main");
    ProcessBuilder builder =
        new ProcessBuilder(Stream.concat(java.stream(), Stream.of(args)).toList())
            .redirectError(scratch.path().resolve("err-" + started.size()).toFile());
    builder.environment().put("ISOLA_DATA", data().toString());
    builder.environment().put("ISOLA_API_KEY", LiveServer.KEY);
    builder.environment().put("XDG_CONFIG_HOME", scratch.path().toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private Path data() {
    return scratch.path().resolve("data");
  }

  private Process serve(String provider) throws IOException {
    Process server =
        isola(
            "serve",
            "--port",
            "0",
            "--set",
            "floor=process",
            "--set",
            "reconcile.interval=1s",
            "--set",
            "provider=" + provider);
    BufferedReader out = server.inputReader();
    assertThat(out.readLine()).startsWith("Isola listening on ");
    return server;
  }

  private void requireHealthy(Provider provider) {
    if (provider.health() instanceof Health.Unhealthy(String reason, String _)) {
      Assumptions.abort("NOT RUN: " + reason);
    }
  }

  /** Returns once the server has reconciled all sandboxes: it has removed one without a lease. */
  private void awaitReconciliation(String name, Provider provider) {
    SandboxId unknown = SandboxId.random(new SecureRandom());
    try (SandboxLease _ = new SandboxLeases(data()).acquire(unknown, name)) {
      provider.create(SandboxSpec.builder(unknown).deadline(Duration.ofMinutes(10)).build());
    }
    await()
        .atMost(TIMEOUT)
        .until(() -> provider.inventory().stream().noneMatch(one -> one.id().equals(unknown)));
  }

  private int exit(Process process) throws InterruptedException {
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"subprocess", "bubblewrap"})
  void runsSurviveReconciliationAndAServerCrash(String name) throws Exception {
    Process server = serve(name);
    ProviderContext context =
        new ProviderContext(
            new DataFolder(data()).instance(),
            new DataFolder(data()).providerFolder(name),
            data(),
            InstantSource.system());
    ProviderFactory factory = Objects.requireNonNull(PROVIDERS.get(name));
    try (Provider provider = factory.create(ProviderConfig.EMPTY, context)) {
      requireHealthy(provider);
      Path workspace = Files.createDirectory(scratch.path().resolve("shared"));
      List<Process> runs = new ArrayList<>();
      for (int i = 0; i < RUNS; i++) {
        runs.add(
            isola(
                "run",
                "--provider",
                name,
                "--workspace",
                workspace.toString(),
                "--",
                "sh",
                "-c",
                "touch began-" + i + "; until [ -e go ]; do sleep 0.1; done; touch done-" + i));
      }
      for (int i = 0; i < RUNS; i++) {
        Path began = workspace.resolve("began-" + i);
        await().atMost(TIMEOUT).until(() -> Files.exists(began));
      }

      awaitReconciliation(name, provider);
      server.destroyForcibly().waitFor();
      Process second = serve(name);
      awaitReconciliation(name, provider);

      // The sandbox of a killed run is removed with its lease; the others keep running.
      Process killed = runs.removeLast();
      killed.destroyForcibly().waitFor();
      await().atMost(TIMEOUT).until(() -> provider.inventory().size() == RUNS - 1);
      await().atMost(TIMEOUT).until(() -> leases().size() == RUNS - 1);

      Files.createFile(workspace.resolve("go"));
      for (Process run : runs) {
        assertThat(exit(run)).isZero();
      }
      assertThat(workspace.resolve("done-0")).exists();
      assertThat(workspace.resolve("done-1")).exists();
      assertThat(provider.inventory()).isEmpty();
      assertThat(leases()).isEmpty();
      second.destroy();
      assertThat(exit(second)).isEqualTo(143);
    }
  }

  private List<Path> leases() throws IOException {
    try (Stream<Path> files = Files.list(data().resolve("leases"))) {
      return files.toList();
    }
  }
}
