package dev.isola.provider.bubblewrap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.IsolatedBooter;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kills the process that forks a sandbox, or the launcher that changes its mounts, at each step.
 * Afterwards the source has all its files and continues, an incomplete fork does not run, and
 * nothing is left behind.
 */
@Tag("all")
final class ForkCrashTest extends ForkTestBase {
  private static final int STATUS = 86;
  private static final SandboxId SOURCE = new SandboxId("source");
  private static final String FILES = "one\ntwo\n";
  private static final String SHOW = "cat a/one two; test ! -e gone";

  @BeforeEach
  void createSource() {
    Sandbox source = make(SOURCE.value());
    output(source, "mkdir a; echo one > a/one; echo x > gone");
    try (ForkPoint origin =
        forking(source).createForkPoint()) { // so that there is a layer to change
      assertThat(origin.frozenFor()).isPositive();
    }
    output(source, "echo two > two; rm gone");
  }

  @ParameterizedTest
  @EnumSource(
      value = ForkStep.class,
      mode = EnumSource.Mode.MATCH_NONE, // those of forks of memory
      names = {"SAVE_.*", ".*_SAVED", "RESTORE.*"})
  void killedForkingProcess(ForkStep step) throws Exception {
    Process process = child(step.name());
    String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("it came to %s: %s", step, answer).isEqualTo(STATUS);
    look(step.toString());
  }

  @Test
  void forkWithoutACrash() throws Exception {
    Process process = child("none");
    String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isZero();
    assertThat(answer).isEqualTo("frozen\nforked\nended\nmerged\n");
    look("no crash");
  }

  private Process child(String step) throws IOException {
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
            step)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Checks what a later process sees. */
  private void look(String where) throws IOException {
    reopen();
    Sandbox source = provider.attach(SOURCE).orElseThrow();
    assertThat(output(source, SHOW)).as(where).isEqualTo(FILES);
    for (InventoryItem other : provider.inventory()) {
      if (other.state() == SandboxState.RUNNING && !other.id().equals(SOURCE)) {
        Sandbox fork = provider.attach(other.id()).orElseThrow();
        assertThat(output(fork, SHOW)).as("%s: %s", where, other).isEqualTo(FILES);
      }
    }
    output(source, "echo three > three");
    Sandbox again;
    try (ForkPoint origin = forking(source).createForkPoint()) {
      again = origin.create(spec("again"));
    }
    assertThat(output(again, SHOW + "; cat three")).as(where).isEqualTo(FILES + "three\n");
    output(source, "echo four > four");
    Pausing pausing = source.as(Pausing.class).orElseThrow();
    pausing.pause(PauseKind.FILESYSTEM);
    pausing.resume();
    assertThat(output(source, SHOW + "; cat three four"))
        .as("%s, booted again", where)
        .isEqualTo(FILES + "three\nfour\n");
    assertThat(names(folderOf(SOURCE), "{next,push,plan,layers}-*")).as(where).isEmpty();
    provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
    assertThat(names(installation.data().resolve("layers"), "*")).as(where).isEmpty();
    provider.close(); // together with its launcher
    assertThat(leaks.leakedSince(before)).as(where).isEmpty();
  }

  private Path folderOf(SandboxId id) {
    return installation.data().resolve("sandboxes").resolve(id.value());
  }

  private static List<String> names(Path folder, String pattern) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, pattern)) {
      found.forEach(one -> names.add(one.getFileName().toString()));
    }
    return names;
  }

  /** The process to kill: forks the source and the fork, and destroys both. */
  static final class Work {
    private Work() {}

    public static void main(String[] args) throws InterruptedException {
      ProviderContext context =
          new ProviderContext(new InstanceId(args[0]), Path.of(args[1]), InstantSource.system());
      CountDownLatch merged = new CountDownLatch(1);
      ForkStepListener steps =
          step -> {
            if (step.name().equals(args[2])) {
              Runtime.getRuntime().halt(STATUS); // as after kill -9
            }
            if (step == ForkStep.MERGE_RECORDED) {
              merged.countDown();
            }
          };
      BubblewrapIsolator isolator =
          new BubblewrapIsolator(
              new BubblewrapProbe(ProviderConfig.EMPTY, new SandboxProbe(context)));
      try (Provider provider =
          new LocalProvider(context, new IsolatedBooter(context, isolator, steps))) {
        Sandbox fork;
        Sandbox source = provider.attach(SOURCE).orElseThrow();
        try (ForkPoint origin = forking(source).createForkPoint()) {
          say("frozen");
          fork = origin.create(spec("fork"));
        }
        say("forked");
        output(fork, "echo more > more");
        try (ForkPoint origin = forking(fork).createForkPoint()) {
          provider.destroy(origin.create(spec("second")).id(), DestroyOptions.FORCE);
        }
        provider.destroy(fork.id(), DestroyOptions.FORCE);
        say("ended");
        pushUntil(merged, source);
        say("merged");
      }
      System.exit(0);
    }

    private static void pushUntil(CountDownLatch merged, Sandbox source)
        throws InterruptedException {
      for (int i = 0; i < 40 && merged.getCount() > 0; i++) {
        output(source, "echo " + i + " > a/more");
        forking(source).createForkPoint().close();
      }
      assertThat(merged.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void say(String line) {
      System.out.print(line + "\n");
      System.out.flush();
    }
  }

  /**
   * Kills the launcher at each system call that changes something: first during the commit, usually
   * also during the recovery, until a launcher survives.
   */
  @Test
  void killedLauncher() throws Exception {
    Optional<HostProgram> strace = HostProgram.find("strace");
    Assumptions.assumeTrue(strace.isPresent(), "NOT RUN: there is no strace");
    Path launcher = launcher();
    Path real = Files.copy(launcher, launcher.resolveSibling("real"));
    Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path trace = launcher.resolveSibling("trace");
    int kills = 0;
    for (String call :
        List.of("kill", "mount", "mount_setattr", "move_mount", "setns", "renameat")) {
      boolean killed = true;
      for (int time = 1; killed; time++) {
        String killing =
            "-e trace=" + call + " -e inject=" + call + ":signal=KILL:when=" + time + " ";
        String words = " -f -q -o " + trace + " " + killing + real + " \"$@\"";
        standOn(launcher, List.of("#!/bin/sh", "exec " + strace.get().path() + words));
        killed = killedOnce(call + " " + time, trace);
        if (killed) {
          kills++;
        }
        goOn(call + " " + time, kills);
      }
    }
    assertThat(kills).isGreaterThan(10);
    output(provider.attach(SOURCE).orElseThrow(), "rm -f change fresh");
    look("the launcher");
  }

  /** The next process starts its own launcher. */
  private void reopen() {
    provider.close();
    provider = installation.open();
  }

  /** Replaces the launcher by another program until the next process starts. */
  private void standOn(Path launcher, List<String> script) throws IOException {
    reopen();
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    replace(launcher, script);
    ProcessHandle.current()
        .children()
        .filter(one -> one.info().commandLine().orElse("").contains(" serve "))
        .forEach(
            one -> {
              one.destroyForcibly();
              one.onExit().join();
            });
  }

  private Path launcher() throws IOException {
    return installation
        .data()
        .resolve("bin")
        .resolve(names(installation.data().resolve("bin"), "isola-launch-*").getFirst());
  }

  private static void replace(Path file, List<String> lines) throws IOException {
    Path next = Files.write(file.resolveSibling("next"), lines);
    Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Returns whether the launcher was killed. */
  private boolean killedOnce(String where, Path trace) throws IOException {
    Sandbox source = provider.attach(SOURCE).orElseThrow();
    output(source, "echo '" + where + "' > change");
    try (ForkPoint origin = forking(source).createForkPoint()) {
      assertThat(origin.frozenFor()).as(where).isPositive();
    } catch (ProviderUnavailable unknown) {
      assertThat(unknown).as(where).hasMessageContaining("cannot be shared");
    }
    return Files.readString(trace).contains("killed by SIGKILL");
  }

  private void goOn(String where, int number) {
    reopen();
    Sandbox source = provider.attach(SOURCE).orElseThrow();
    assertThat(output(source, SHOW + "; cat change # " + where)).isEqualTo(FILES + where + "\n");
    output(source, "echo " + number + " > fresh");
    Sandbox fork;
    try (ForkPoint origin = forking(source).createForkPoint()) {
      fork = origin.create(spec("after" + number));
    }
    assertThat(output(fork, SHOW + "; cat change fresh"))
        .as(where)
        .isEqualTo(FILES + where + "\n" + number + "\n");
    provider.destroy(fork.id(), DestroyOptions.FORCE);
  }
}
