package dev.isola.provider.oci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.IsolatedBooter;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kills the process that forks a sandbox with its memory, its launcher or runsc at each step.
 * Afterwards the source runs and answers, an incomplete fork does not run, and nothing is left
 * behind. NOT RUN where runsc cannot save sandboxes.
 */
class MemoryForkCrashTest {
  private static final int STATUS = 86;
  private static final SandboxId SOURCE = new SandboxId("source");
  private static final SandboxId FORK = new SandboxId("fork");

  /** More than the time after which an agent continues without its server. */
  private static final Duration TIMEOUT = Duration.ofSeconds(50);

  private static final String COUNT =
      "n=0; while :; do n=$((n+1)); echo $n > next; mv next count; sleep 0.05; done";

  /**
   * Runs the real runsc. The file {@code kill} in its folder names a verb and what is killed when
   * runsc is called with that verb, before or while it works.
   */
  private static final String RUNTIME =
      """
      #!/bin/sh
      runsc=@RUNSC@
      if read -r verb victim moment 2> /dev/null < @FOLDER@/kill; then
        case " $* " in *" $verb "*)
          rm @FOLDER@/kill
          if [ $moment = during ]; then
            $runsc "$@" &
            sleep 0.03
          fi
          case $victim in
            launcher) tr '\\0' ' ' < /proc/$PPID/cmdline > @FOLDER@/launcher; kill -9 $PPID ;;
            runsc) [ $moment = before ] || kill -9 $! ;;
          esac
          kill -9 $$ ;;
        esac
      fi
      exec $runsc "$@"
      """;

  /** Found out once, because the probe takes seconds. */
  private static volatile Optional<String> notRun = Optional.empty();

  private ScriptedRuntime runtime;
  private TemporaryInstallation installation;
  private Provider provider;
  private LeakDetector leaks;
  private ResourceScan before;

  @BeforeEach
  void createSource() throws IOException {
    notRun.ifPresent(Assumptions::abort);
    HostProgram runsc =
        HostProgram.find("runsc")
            .orElseGet(() -> Assumptions.abort("NOT RUN: runsc is not installed"));
    runtime = new ScriptedRuntime(RUNTIME.replace("@RUNSC@", runsc.path().toString()));
    installation =
        TemporaryInstallation.of(
            new GvisorProviderFactory(),
            new ProviderConfig(Map.of("program", runtime.script().toString())));
    provider = installation.open();
    if (!provider.info().capabilities().contains(MemoryForking.class)) {
      notRun = Optional.of("NOT RUN: runsc cannot save sandboxes: " + provider.health());
      Assumptions.abort(notRun.get());
    }
    provider.create(spec("warm")); // so that lazily opened files of the JVM do not count as leaks
    provider.destroy(new SandboxId("warm"), DestroyOptions.FORCE);
    leaks = new LeakDetector(installation.instance(), installation.data());
    before = leaks.scan();
    Sandbox source = provider.create(spec(SOURCE.value()));
    source.start(Command.shell(COUNT)).close();
    output(source, "echo kept > file");
    awaitProgress(source);
  }

  @AfterEach
  void close() {
    if (provider != null) {
      provider.close();
      installation.close();
    }
    if (runtime != null) {
      runtime.close();
    }
  }

  private static SandboxSpec spec(String id) {
    return SandboxSpec.builder(new SandboxId(id)).deadline(Duration.ofMinutes(10)).build();
  }

  private static String output(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script));
    assertThat(result.succeeded()).as("%s: %s", script, result).isTrue();
    return result.stdout().text();
  }

  private static ForkPoint createForkPoint(Sandbox sandbox) {
    return sandbox.as(MemoryForking.class).orElseThrow().createForkPoint();
  }

  private static long count(Sandbox sandbox) {
    return Long.parseLong(output(sandbox, "cat count 2> /dev/null || echo 0").strip());
  }

  private static void awaitProgress(Sandbox sandbox) {
    long now = count(sandbox);
    await(sandbox.id() + " counts beyond " + now).atMost(TIMEOUT).until(() -> count(sandbox) > now);
  }

  @ParameterizedTest
  @EnumSource(
      value = ForkStep.class,
      mode = EnumSource.Mode.MATCH_ANY,
      names = {"SAVE_.*", ".*_SAVED", "RESTORE.*"})
  void killedForkingProcess(ForkStep step) throws Exception {
    Process process = child(step.name());
    String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("it came to %s: %s", step, answer).isEqualTo(STATUS);
    verify(step.toString());
  }

  @Test
  void forkWithoutACrash() throws Exception {
    Process process = child("none");
    String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(answer).isEqualTo("saved\nforked\nended\n");
    assertThat(process.waitFor()).isZero();
    verify("no crash");
  }

  /** Kills it at moments that are not steps, also while runsc and the launcher work. */
  @ParameterizedTest
  @ValueSource(ints = {30, 90, 200, 450, 700})
  void processKilledAtAnyMoment(int millis) throws Exception {
    Process process = child("wait");
    assertThat(process.inputReader().readLine()).isEqualTo("attached");
    process.outputWriter().append('\n').close();
    boolean ended = process.waitFor(millis, TimeUnit.MILLISECONDS);
    assertThat(ended).as("it is killed while it works").isFalse();
    process.destroyForcibly().waitFor();
    verify("after " + millis + " ms");
  }

  private Process child(String step) throws IOException {
    provider.close();
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Work.class.getName(),
            installation.instance().value(),
            installation.data().toString(),
            runtime.script().toString(),
            step)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The process to kill: saves the source, forks it and destroys the fork. */
  static final class Work {
    private Work() {}

    public static void main(String[] args) throws IOException {
      ProviderContext context =
          new ProviderContext(new InstanceId(args[0]), Path.of(args[1]), InstantSource.system());
      ProviderConfig config = new ProviderConfig(Map.of("program", args[2]));
      ForkStepListener steps =
          step -> {
            if (step.name().equals(args[3])) {
              Runtime.getRuntime().halt(STATUS); // as after kill -9
            }
          };
      try (Provider provider = provider(context, config, steps)) {
        Sandbox source = provider.attach(SOURCE).orElseThrow();
        boolean repeat = args[3].equals("wait");
        if (repeat) {
          output(source, "true");
          print("attached");
          int _ = System.in.read();
        }
        do {
          Sandbox fork;
          try (ForkPoint point = createForkPoint(source)) {
            print("saved");
            fork = point.create(spec(FORK.value()));
          }
          print("forked");
          provider.destroy(fork.id(), DestroyOptions.FORCE);
          print("ended");
        } while (repeat);
      }
      System.exit(0);
    }

    private static Provider provider(
        ProviderContext context, ProviderConfig config, ForkStepListener steps) {
      SandboxProbe probe = new SandboxProbe(context);
      GvisorPlatform platform = new GvisorPlatform(config, probe);
      GvisorMemory memory = new GvisorMemory(config, probe, platform::choose);
      OciRuntime runtime = new GvisorRuntime(platform::choose, memory::problem);
      OciIsolator isolator = new OciIsolator(runtime, new RuntimeProbe(runtime, config, probe));
      return new LocalProvider(context, new IsolatedBooter(context, isolator, steps));
    }

    private static void print(String line) {
      System.out.print(line + "\n");
      System.out.flush();
    }
  }

  /** Kills the launcher or runsc, before runsc saves or restores a sandbox and meanwhile. */
  @ParameterizedTest
  @CsvSource({
    "checkpoint, runsc, before",
    "checkpoint, runsc, during",
    "checkpoint, launcher, before",
    "checkpoint, launcher, during",
    "restore, runsc, before",
    "restore, runsc, during",
    "restore, launcher, before",
    "restore, launcher, during"
  })
  void killedProgram(String verb, String victim, String moment) throws Exception {
    String where = verb + " " + victim + " " + moment;
    Sandbox source = provider.attach(SOURCE).orElseThrow();
    Files.writeString(runtime.folder().resolve("kill"), where + "\n");
    assertThatThrownBy(
            () -> {
              try (ForkPoint point = createForkPoint(source)) {
                point.create(spec(FORK.value()));
              }
            })
        .as(where)
        .isInstanceOf(SandboxException.class);
    assertThat(runtime.folder().resolve("kill")).as("the kill of %s", where).doesNotExist();
    if (victim.equals("launcher")) {
      assertThat(runtime.folder().resolve("launcher")).content().contains("isola-launch");
    }
    awaitProgress(source);
    assertThat(provider.inventory()).as(where).extracting(InventoryItem::id).containsOnly(SOURCE);
    expectFork(source, where);
    verify(where);
  }

  private void expectFork(Sandbox source, String where) {
    long saved = count(source);
    Sandbox fork;
    try (ForkPoint point = createForkPoint(source)) {
      fork = point.create(spec("again"));
    }
    assertThat(count(fork)).as(where).isGreaterThanOrEqualTo(saved);
    awaitProgress(fork);
    assertThat(output(fork, "echo $ISOLA_SANDBOX; cat file")).as(where).isEqualTo("again\nkept\n");
    provider.destroy(fork.id(), DestroyOptions.NORMAL);
  }

  /** Checks what the next process finds. */
  private void verify(String where) throws IOException {
    provider.close();
    provider = installation.open();
    Sandbox source = provider.attach(SOURCE).orElseThrow();
    assertThat(output(source, "cat file")).as(where).isEqualTo("kept\n");
    awaitProgress(source);
    for (InventoryItem other : provider.inventory()) {
      if (!other.id().equals(SOURCE)) {
        expectCompleteOrEnded(other, source, where);
      }
    }
    expectFork(source, where);
    assertThat(names(installation.data().resolve("saved"))).as(where).isEmpty();
    provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
    // A folder without a record is not in the inventory. The engine has its id in the ledger.
    provider.destroy(FORK, DestroyOptions.FORCE);
    assertThat(provider.inventory()).as(where).isEmpty();
    provider.close(); // together with its launcher
    assertThat(leaks.leakedSince(before)).as(where).isEmpty();
  }

  /** A fork that has its own id works completely; commands of any other do not run. */
  private void expectCompleteOrEnded(InventoryItem fork, Sandbox source, String where)
      throws IOException {
    if (fork.state() == SandboxState.RUNNING) {
      Sandbox sandbox = provider.attach(fork.id()).orElseThrow();
      awaitProgress(sandbox);
      assertThat(output(sandbox, "echo $ISOLA_SANDBOX; cat file"))
          .as("%s: %s", where, fork)
          .isEqualTo(fork.id() + "\nkept\n");
    } else {
      Path count = Path.of(fork.details().getOrDefault("workspace", "/"), "count");
      String first = Files.exists(count) ? Files.readString(count) : "";
      awaitProgress(source); // which counts as fast as its fork would
      awaitProgress(source);
      String second = Files.exists(count) ? Files.readString(count) : "";
      assertThat(second).as("%s: the count of %s", where, fork).isEqualTo(first);
    }
  }

  private static List<String> names(Path folder) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
      found.forEach(one -> names.add(one.getFileName().toString()));
    } catch (NoSuchFileException none) {
      return names;
    }
    return names;
  }
}
