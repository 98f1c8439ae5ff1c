package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An installed program can be executed at once. */
@Timeout(30)
class EmbeddedProgramTest {
  @TempDir Path folder;

  private Path program() throws IOException {
    Path program = folder.resolve("program");
    Files.copy(Path.of("/bin/true"), program);
    return program;
  }

  @Test
  void waitsForAProcessThatStillHasTheFileOpen() throws Exception {
    Path program = program();
    CompletableFuture<Void> waiting;
    try (FileChannel writer = FileChannel.open(program, StandardOpenOption.WRITE)) {
      assertThat(writer.isOpen()).isTrue();
      assertThatThrownBy(() -> new ProcessBuilder(program.toString()).start())
          .hasMessageContaining("26");
      AtomicReference<Thread> waiter = new AtomicReference<>();
      waiting =
          CompletableFuture.runAsync(
              () -> EmbeddedProgram.awaitExecutable(program),
              task -> waiter.set(Thread.ofPlatform().daemon().start(task)));
      // Only between two attempts does it wait for a limited time.
      await().until(() -> waiter.get().getState() == Thread.State.TIMED_WAITING);
      assertThat(waiting).isNotDone();
    }
    waiting.get(10, TimeUnit.SECONDS);
    assertThat(new ProcessBuilder(program.toString()).start().waitFor()).isZero();
  }

  @Test
  void aFileThatCannotBeExecutedForAnotherReasonIsLeftToItsFirstUse() throws IOException {
    EmbeddedProgram.awaitExecutable(Files.writeString(folder.resolve("text"), "not a program"));
  }
}
