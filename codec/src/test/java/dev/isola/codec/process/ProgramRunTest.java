package dev.isola.codec.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramRunTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static ProgramRun shell(String script) {
    return ProgramRun.of(List.of("/bin/sh", "-c", script));
  }

  @Test
  void resultHasTheExitCodeAndBothOutputs() throws IOException {
    ProgramRun.Result result = shell("echo out; echo err >&2; exit 3").run(MINUTE);
    assertThat(result.code()).isEqualTo(3);
    assertThat(result.succeeded()).isFalse();
    assertThat(result.output()).isEqualTo("out\nerr\n");
    assertThat(result.errors()).isEmpty();
    assertThat(result.complete()).isTrue();
  }

  @Test
  void errorsCanBeSeparate() throws IOException {
    ProgramRun.Result result = shell("echo out; echo err >&2").separateErrors().run(MINUTE);
    assertThat(result.output()).isEqualTo("out\n");
    assertThat(result.errors()).isEqualTo("err\n");
  }

  @Test
  void outputBeyondTheLimitIsDroppedAndDoesNotBlockTheProgram() throws IOException {
    ProgramRun.Result result =
        shell("head -c 1000000 /dev/zero | tr '\\0' x; exit 7").maxOutput(10).run(MINUTE);
    assertThat(result.output()).isEqualTo("x".repeat(10));
    assertThat(result.code()).isEqualTo(7);
  }

  @Test
  void inputEnvironmentAndFolderArePassed(@TempDir Path folder) throws IOException {
    ProgramRun.Result result =
        shell("cat; echo $NAME; pwd")
            .input("in\n")
            .environment(
                variables -> {
                  variables.clear();
                  variables.put("NAME", "value");
                })
            .folder(folder.toRealPath())
            .run(MINUTE);
    assertThat(result.output()).isEqualTo("in\nvalue\n" + folder.toRealPath() + "\n");
  }

  @Test
  void programWithoutInputReadsItsEnd() throws IOException {
    assertThat(shell("cat").run(MINUTE).succeeded()).isTrue();
  }

  @Test
  void programThatDoesNotReadItsInputIsNoFailure() throws IOException {
    assertThat(shell("exit 0").input("x".repeat(1 << 20)).run(MINUTE).succeeded()).isTrue();
  }

  @Test
  void programThatDoesNotEndIsKilledWithItsDescendants(@TempDir Path folder) throws IOException {
    Path pids = folder.resolve("pids");
    assertThatThrownBy(
            () -> shell("sleep 3600 & echo $! $$ >" + pids + "; wait").run(Duration.ofSeconds(1)))
        .isInstanceOf(ProgramTimeoutException.class)
        .hasMessage("/bin/sh did not end within 1 s");
    for (String pid : Files.readString(pids).strip().split(" ")) {
      Optional<ProcessHandle> process = ProcessHandle.of(Long.parseLong(pid));
      process.ifPresent(left -> left.onExit().join());
    }
  }

  @Test
  void timeoutHasTheOutputOfAProgramThatPrintsWithoutEnd() {
    assertThatThrownBy(() -> shell("yes").maxOutput(4).run(Duration.ofSeconds(1)))
        .isInstanceOfSatisfying(
            ProgramTimeoutException.class, e -> assertThat(e.output()).isEqualTo("y\ny\n"));
  }

  @Test
  void processLeftBehindDoesNotBlockTheRun(@TempDir Path folder) throws IOException {
    Path pid = folder.resolve("pid");
    ProgramRun.Result result =
        shell("echo begun; setsid sleep 3600 & echo $! >" + pid).run(Duration.ofSeconds(1));
    assertThat(result.succeeded()).isTrue();
    assertThat(result.output()).isEqualTo("begun\n");
    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void programThatDoesNotExistIsNamed() {
    assertThatThrownBy(() -> ProgramRun.of(List.of("/nowhere/program")).run(MINUTE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/nowhere/program");
  }

  @Test
  void interruptEndsTheRun() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> shell("sleep 3600").run(MINUTE))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
  }
}
