package dev.isola.integrations.springai.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.testing.server.TestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springaicommunity.sandbox.ExecResult;
import org.springaicommunity.sandbox.ExecSpec;
import org.springaicommunity.sandbox.FileSpec;
import org.springaicommunity.sandbox.Sandbox;
import org.springaicommunity.sandbox.SandboxException;

/** What the community's tests do not cover: interactive processes, large output, hostile paths. */
@Timeout(60)
class IsolaSandboxTest {
  private static Isola isola;
  private Sandbox sandbox;

  @BeforeAll
  static void connect() {
    TestServer server = TestServer.shared();
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void disconnect() {
    isola.close();
  }

  @BeforeEach
  void create() {
    sandbox = IsolaSandbox.create(isola, SandboxSpec.DEFAULT);
  }

  @AfterEach
  void closeLeavesNothing() {
    sandbox.close();
    sandbox.close();
    assertThat(sandbox.isClosed()).isTrue();
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  @Test
  void interactiveProcessTalks() throws Exception {
    Process process = sandbox.startInteractive(ExecSpec.of("cat"));
    OutputStream in = process.getOutputStream();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      in.write("one\n".getBytes(StandardCharsets.UTF_8));
      in.flush();
      assertThat(out.readLine()).isEqualTo("one");
      assertThat(process.isAlive()).isTrue();
      assertThatThrownBy(process::exitValue).isInstanceOf(IllegalThreadStateException.class);
      in.write("two\n".getBytes(StandardCharsets.UTF_8));
      assertThat(out.readLine()).isEqualTo("two");
      in.close();
      assertThat(out.readLine()).isNull();
    }
    assertThat(process.waitFor()).isZero();
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void channelsOfAnInteractiveProcessAreSeparateAndComplete() throws Exception {
    Process process =
        sandbox.startInteractive(
            ExecSpec.builder()
                .shellCommand("head -c 300000 /dev/zero; echo $WORD >&2; exit 7")
                .env("WORD", "error")
                .build());
    try (InputStream out = process.getInputStream();
        InputStream err = process.getErrorStream()) {
      assertThat(out.readAllBytes()).hasSize(300_000);
      assertThat(new String(err.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("error\n");
    }
    assertThat(process.waitFor()).isEqualTo(7);
  }

  @Test
  void destroyedProcessEndsThoughItsOutputIsNotRead() throws Exception {
    for (boolean force : List.of(true, false)) {
      Process process = sandbox.startInteractive(ExecSpec.of("yes"));
      assertThat(process.waitFor(200, TimeUnit.MILLISECONDS)).isFalse();
      if (force) {
        process.destroyForcibly();
      } else {
        process.destroy();
      }
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(force ? 137 : 143);
      process.destroy(); // does nothing
    }
  }

  @Test
  void sandboxThatVanishesEndsItsProcess() throws Exception {
    Process process = sandbox.startInteractive(ExecSpec.of("sleep", "50"));
    isola.sandbox(isola.list(SandboxFilter.ALL).getFirst().id()).destroy();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isNotZero();
    assertThatThrownBy(() -> sandbox.exec(ExecSpec.of("true")))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("SANDBOX_");
  }

  @Test
  void truncatedOutputSaysSo() {
    ExecResult result =
        sandbox.exec(ExecSpec.builder().shellCommand("head -c 5000000 /dev/zero").build());
    assertThat(result.stdout()).hasSizeLessThan(2_000_000);
    assertThat(result.stderr()).contains("the command wrote 5000000 bytes");
  }

  @Test
  void shellCommandsRunInBash() {
    assertThat(
            sandbox
                .exec(ExecSpec.builder().shellCommand("a=(x y); echo ${a[1]} \"'\"").build())
                .stdout())
        .isEqualTo("y '\n");
  }

  @Test
  void filesAreWrittenListedAndRead() {
    sandbox
        .files()
        .setup(List.of(FileSpec.of("a/b.txt", "b"), FileSpec.of("c.txt", "héllo")))
        .createDirectory("d/e");
    assertThat(sandbox.files().read("c.txt")).isEqualTo("héllo");
    assertThat(sandbox.files().exists("d/e")).isTrue();
    assertThat(sandbox.files().exists("missing")).isFalse();
    assertThat(sandbox.files().list(".", 2))
        .extracting(entry -> entry.path())
        .contains("a/b.txt", "c.txt", "d/e");
    assertThat(sandbox.files().and()).isSameAs(sandbox);
    assertThatThrownBy(() -> sandbox.files().delete("a")).isInstanceOf(SandboxException.class);
    assertThatThrownBy(() -> sandbox.files().read("missing")).isInstanceOf(SandboxException.class);
  }

  @Test
  void pathsStayInTheSandbox() throws IOException {
    SandboxSpec unisolated = SandboxSpec.builder().provider("subprocess").build();
    try (Sandbox other = IsolaSandbox.create(isola, unisolated)) {
      for (String path : List.of("../../escape", "/etc/passwd")) {
        assertThatThrownBy(() -> other.files().read(path)).hasMessageContaining("PATH_OUTSIDE");
        assertThatThrownBy(() -> other.files().create(path, ""))
            .hasMessageContaining("PATH_OUTSIDE");
        assertThatThrownBy(() -> other.files().delete(path)).hasMessageContaining("PATH_OUTSIDE");
      }
    }
  }

  @Test
  void givenSandboxStays() {
    try (dev.isola.client.Sandbox own = isola.create()) {
      Sandbox view = IsolaSandbox.of(own);
      assertThat(view.shouldCleanupOnClose()).isFalse();
      view.close();
      assertThatThrownBy(() -> view.exec(ExecSpec.of("true")))
          .isInstanceOf(IllegalStateException.class);
      assertThat(
              own.exec(
                      dev.isola.client.Command.shell("echo alive")
                          .withTimeout(Duration.ofSeconds(9)))
                  .stdout())
          .isEqualTo("alive\n");
    }
    assertThat(sandbox.shouldCleanupOnClose()).isTrue();
  }
}
