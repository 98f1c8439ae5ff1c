package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script {@code ./isola} in a fresh clone: what it prints while it builds. A fake Maven writes
 * a log like that of the real one; the application is a class that prints its arguments.
 */
@Timeout(120)
@Tag("all")
class LauncherScriptTest {
  private static final String FAKE_MAVEN =
      """
      #!/bin/sh
      echo "$*" >>"$FAKE_ROOT/maven-calls"
      echo '[INFO] Building Isola :: codec 0.1.0-SNAPSHOT                  [1/20]'
      echo '[INFO] Building Isola :: engine 0.1.0-SNAPSHOT                 [7/20]'
      if [ -n "${FAKE_FAILURE:-}" ]; then
        echo "$FAKE_FAILURE"
        exit 1
      fi
      until [ ! -e "$FAKE_ROOT/wait" ] || grep -q '7 of 20' "$FAKE_ROOT/wait"; do sleep 0.1; done
      mkdir -p "$FAKE_ROOT/app/target/dist/lib" "$FAKE_ROOT/bench/target"
      cp "$FAKE_ROOT/app.jar" "$FAKE_ROOT/app/target/dist/lib/isola-app.jar"
      cp "$FAKE_ROOT/app.jar" "$FAKE_ROOT/bench/target/isola-bench.jar"
      """;

  /** The exit code of a JVM that ends because its heap is exhausted. */
  private static final int OUT_OF_MEMORY = 3;

  private static final String APPLICATION =
      """
      package dev.isola.app;

      public class Main {
        public static void main(String[] arguments) throws InterruptedException {
          System.out.println("ran " + String.join(" ", arguments));
          if (arguments.length == 2 && arguments[1].equals("exhaust")) {
            Thread.ofPlatform().start(Main::exhaust).join();
            Thread.currentThread().join(); // One thread has failed, and the process is alive.
          }
        }

        private static void exhaust() {
          java.util.List<byte[]> all = new java.util.ArrayList<>();
          while (true) {
            all.add(new byte[1 << 20]);
          }
        }
      }
      """;

  @TempDir Path folder;
  private Path clone;

  private record Finished(int code, String out, String err) {}

  @BeforeEach
  void createClone() throws Exception {
    Path repository = Path.of("..").toRealPath();
    clone = Files.createDirectories(folder.resolve("clone"));
    Files.copy(repository.resolve("isola"), clone.resolve("isola"));
    Files.createDirectory(clone.resolve(".build"));
    for (String file : List.of("jvm.sh", "lib.sh")) {
      Files.copy(repository.resolve(".build").resolve(file), clone.resolve(".build").resolve(file));
    }
    Files.writeString(clone.resolve("pom.xml"), "<project/>");
    for (String module :
        "codec contract egress guest host provider engine store snapshot server compat dashboard client testing bench"
            .split(" ")) {
      Files.createDirectory(clone.resolve(module));
    }
    Files.createDirectories(clone.resolve("app/src/main"));
    executable(Files.createDirectory(folder.resolve("bin")).resolve("mvn"), FAKE_MAVEN);
    Path source = Files.writeString(folder.resolve("Main.java"), APPLICATION);
    Path classes = Files.createDirectory(folder.resolve("classes"));
    Path tools = Path.of(System.getProperty("java.home"), "bin");
    Assumptions.assumeTrue(
        Files.isExecutable(tools.resolve("javac")), "NOT RUN: the tests do not run on a JDK");
    run(List.of(tools.resolve("javac").toString(), "-d", classes.toString(), source.toString()));
    run(
        List.of(
            tools.resolve("jar").toString(),
            "--create",
            "--file",
            clone.resolve("app.jar").toString(),
            "-C",
            classes.toString(),
            "."));
  }

  private static void executable(Path file, String content) throws IOException {
    Files.writeString(file, content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Finished run(List<String> command, String... environment)
      throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("FAKE_ROOT", clone.toString());
    builder.environment().merge("PATH", "", (path, _) -> folder.resolve("bin") + ":" + path);
    for (String variable : environment) {
      String[] parts = variable.split("=", 2);
      builder.environment().put(parts[0], parts[1]);
    }
    Process process = builder.start();
    assertThat(process.waitFor(600, TimeUnit.SECONDS)).isTrue();
    return new Finished(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  private Finished isola(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(clone.resolve("isola").toString()));
    command.addAll(List.of(arguments));
    return run(command);
  }

  private List<String> mavenCalls() throws IOException {
    return Files.readAllLines(clone.resolve("maven-calls"));
  }

  /** Second audit, finding 11: a server without memory stayed alive and answered nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"serve", "microvmctl", "mcp", "conformance"})
  void processWithoutMemoryEnds(String command) throws Exception {
    Finished clone =
        run(
            List.of(this.clone.resolve("isola").toString(), command, "exhaust"),
            "ISOLA_JAVA_OPTS=-Xmx32m");
    assertThat(clone.code()).as(clone.err()).isEqualTo(OUT_OF_MEMORY);
    Path release = release();
    Finished released =
        run(
            List.of(release.resolve("bin/isola").toString(), command, "exhaust"),
            "ISOLA_JAVA_OPTS=-Xmx32m");
    assertThat(released.code()).as(released.err()).isEqualTo(OUT_OF_MEMORY);
  }

  /** Returns a folder with the layout of a release. */
  private Path release() throws IOException {
    Path repository = Path.of("..").toRealPath();
    Path release = Files.createDirectory(folder.resolve("release"));
    Files.createDirectory(release.resolve("lib"));
    Files.createSymbolicLink(release.resolve("runtime"), Path.of(System.getProperty("java.home")));
    Files.copy(
        repository.resolve("packaging/isola"),
        Files.createDirectory(release.resolve("bin")).resolve("isola"));
    Files.copy(repository.resolve(".build/jvm.sh"), release.resolve("lib/jvm.sh"));
    Files.copy(clone.resolve("app.jar"), release.resolve("lib/app.jar"));
    return release;
  }

  @Test
  void firstUseInAPipePrintsOneLineAndTheNextUseNone() throws Exception {
    Finished first = isola("run", "--", "true");
    assertThat(first.code()).as(first.err()).isZero();
    assertThat(first.out()).isEqualTo("ran run -- true\n");
    assertThat(first.err())
        .matches(
            "isola: building \\(first use\\), which takes about a minute on two cores; the"
                + " log is \\S+/target/build.log\n");
    Finished second = isola("version");
    assertThat(second.out()).isEqualTo("ran version\n");
    assertThat(second.err()).isEmpty();
    assertThat(mavenCalls()).hasSize(1);
  }

  @Test
  void benchmarksAreBuiltByTheFirstBenchOnly() throws Exception {
    assertThat(isola("run").code()).isZero();
    assertThat(mavenCalls()).hasSize(1).first().asString().contains("-pl app -am");
    assertThat(isola("bench", "exec").out()).isEqualTo("ran bench exec\n");
    assertThat(mavenCalls()).hasSize(2).last().asString().contains("-pl app,bench -am");
    assertThat(isola("bench", "exec").err()).isEmpty();
    assertThat(isola("run").err()).isEmpty();
    assertThat(mavenCalls()).hasSize(2);
  }

  @Test
  void firstUseOnATerminalShowsTheModuleAndTheTime() throws Exception {
    Assumptions.assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/script")), "NOT RUN: script is not installed");
    // Maven waits until the progress has been seen in the transcript.
    Path seen = Files.createFile(clone.resolve("wait"));
    Finished finished =
        run(
            List.of(
                "script",
                "-q",
                "-f",
                "-e",
                "-c",
                clone.resolve("isola") + " run",
                seen.toString()));
    String transcript = Files.readString(seen);
    assertThat(finished.code()).as(transcript).isZero();
    assertThat(transcript)
        .containsPattern("Building Isola \\(first use\\): 7 of 20: Isola :: engine, [0-9]+ s")
        .contains("ran run")
        .doesNotContain("isola: building");
  }

  @Test
  void failedBuildPrintsTheErrorsAndTheNextStep() throws Exception {
    Finished failed =
        run(
            List.of(clone.resolve("isola").toString(), "run"),
            "FAKE_FAILURE=[ERROR] Could not resolve dependencies for project isola-app");
    assertThat(failed.code()).isEqualTo(70);
    assertThat(failed.out()).isEmpty();
    assertThat(failed.err())
        .contains("[ERROR] Could not resolve dependencies")
        .contains("check the network")
        .contains("The whole log is " + clone.resolve("target/build.log"));
    Finished silent =
        run(List.of(clone.resolve("isola").toString(), "run"), "FAKE_FAILURE=the disk is full");
    assertThat(silent.err()).contains("the disk is full").contains("run the command again");
  }

  @Test
  void cachesAreTrainedInTheBackground() throws Exception {
    assertThat(isola("run").code()).isZero();
    awaitTraining();
    assertThat(isola("version").out()).isEqualTo("ran version\n");
  }

  /** The training writes to the clone, which is removed after the test. */
  @AfterEach
  void awaitTraining() throws IOException {
    Path runs = clone.resolve("target/isola");
    if (!Files.exists(runs.resolve("current"))) {
      return;
    }
    await("the caches in " + runs).atMost(Duration.ofMinutes(10)).until(() -> trained(runs));
  }

  /** Returns whether the newest build, the one in use, has its caches. */
  private static boolean trained(Path runs) throws IOException {
    Path run = Path.of(Files.readAllLines(runs.resolve("current")).getFirst());
    return Files.exists(run.resolve("trained"))
        && Files.exists(run.resolve("cli.aot"))
        && Files.exists(run.resolve("server.aot"));
  }
}
