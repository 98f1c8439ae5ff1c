package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.scripts.ShellWords;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Provider;
import dev.isola.testing.ssh.TestSshServer;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sandboxes by the verbs alone, with a controller in shell that has nothing beyond the contract: on
 * this machine, and through a real sshd.
 */
@Timeout(120)
class VerbContractTest {
  abstract static class Verbs {
    @TempDir Path folder;
    Provider provider = null_();
    Sandbox sandbox = null_();

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // set by start()
    private static <T> T null_() {
      return null;
    }

    void start(Map<String, String> settings) throws Exception {
      provider = ScriptedController.provider(folder.resolve("data"), settings);
      sandbox =
          provider.create(
              ScriptedController.spec(folder.resolve("work"))
                  .env("HOSTILE", ShellWordsTest.HOSTILE.toString())
                  .build());
    }

    @AfterEach
    void end() {
      if (provider != null) {
        provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
        provider.close();
      }
    }

    void checkArguments() {
      ExecResult result =
          sandbox.run(
              Command.argv(
                  "printf",
                  Stream.concat(Stream.of("%s\\0"), ShellWordsTest.HOSTILE.stream()).toList()));
      assertThat(result.stdout().text())
          .isEqualTo(String.join("\0", ShellWordsTest.HOSTILE) + "\0");
      assertThat(Path.of("/tmp/broken-out")).doesNotExist();
    }

    void checkEnvironment() {
      assertThat(sandbox.run(Command.shell("printf %s \"$HOSTILE\"")).stdout().text())
          .isEqualTo(ShellWordsTest.HOSTILE.toString());
      Map<String, String> values = new LinkedHashMap<>();
      for (String value : ShellWordsTest.HOSTILE) {
        values.put("V" + values.size(), value);
      }
      String words =
          String.join(" ", values.keySet().stream().map(name -> "\"$" + name + '"').toList());
      ExecResult result = sandbox.run(Command.shell("printf '%s\\0' " + words).withEnv(values));
      assertThat(result.stdout().text())
          .isEqualTo(String.join("\0", ShellWordsTest.HOSTILE) + "\0");
      assertThat(Path.of("/tmp/broken-out")).doesNotExist();
    }

    void checkFiles() throws Exception {
      byte[] content = new byte[200_000];
      new Random(1).nextBytes(content);
      List<String> names = List.of("-rf", "it's $(touch broken-out)\n`touch broken-out`\"; #");
      for (String name : names) {
        sandbox.files().write(name, new ByteArrayInputStream(content), WriteOptions.DEFAULT);
      }
      assertThat(sandbox.files().list(".", 1).map(FileInfo::name))
          .containsExactlyInAnyOrderElementsOf(names);
      for (String name : names) {
        assertThat(sandbox.files().readBytes(name, content.length)).isEqualTo(content);
      }
      sandbox.files().move("-rf", "-moved", false);
      sandbox.files().remove("-moved", false);
      assertThat(sandbox.files().exists("-moved")).isFalse();
      assertThat(folder.resolve("work/broken-out")).doesNotExist();
    }

    abstract Provider another() throws Exception;
  }

  @Nested
  class OnThisMachine extends Verbs {
    @BeforeEach
    void begin() throws Exception {
      Path cli = ScriptedController.folders(folder);
      start(Map.of("cli", ShellWords.quote(cli.toString())));
    }

    @Test
    void outputExitAndTimeoutAreThoseOfTheCommand() {
      ExecResult result = sandbox.run(Command.shell("echo out; echo err >&2; exit 7"));
      assertThat(result.exitCode()).isEqualTo(7);
      assertThat(result.stdout().text()).isEqualTo("out\n");
      assertThat(result.stderr().text()).isEqualTo("err\n");
      assertThat(sandbox.run(Command.argv("pwd")).stdout().text())
          .isEqualTo(folder.resolve("work") + "\n");
      ExecResult endless =
          sandbox.run(Command.shell("exec tail -f /dev/null").withTimeout(Duration.ofSeconds(1)));
      assertThat(endless.succeeded()).isFalse();
    }

    @Test
    void killEndsTheCommand() {
      try (Execution execution = sandbox.start(Command.argv("sleep", "60"))) {
        execution.kill();
        assertThat(execution.await().shellCode()).isNotZero();
      }
    }

    @Test
    void declaresOnlyWhatTheVerbsCanDo() {
      assertThat(provider.info().capabilities()).isEmpty();
      assertThat(provider.info().isolation()).isEqualTo(Isolation.VM);
      assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      assertThatThrownBy(() -> sandbox.files().glob(".", "*")).isInstanceOf(Unsupported.class);
    }

    @Test
    void argumentsReachTheCommandExactly() {
      checkArguments();
    }

    @Test
    void environmentValuesReachTheCommandExactly() {
      checkEnvironment();
    }

    @Test
    void filesWithHostileNamesAreWrittenReadListedAndRemoved() throws Exception {
      checkFiles();
    }

    @Test
    void fileErrorsHaveTheirCodes() {
      assertThatThrownBy(() -> sandbox.files().readText("missing", UTF_8, 10))
          .isInstanceOf(NotFound.class);
      assertThatThrownBy(() -> sandbox.files().list("missing", 1)).isInstanceOf(NotFound.class);
      assertThatThrownBy(() -> sandbox.files().readText(".", UTF_8, 10))
          .isInstanceOf(InvalidRequest.class);
      sandbox.files().makeFolder("full/inner", 0755);
      assertThatThrownBy(() -> sandbox.files().remove("full", false)).isInstanceOf(Conflict.class);
      assertThatThrownBy(() -> sandbox.files().stat("a\0b")).isInstanceOf(InvalidRequest.class);
      assertThat(sandbox.files().stat("full").type()).isEqualTo(FileType.FOLDER);
    }

    @Test
    void contentThatFailsReplacesNothing() throws Exception {
      sandbox.files().writeText("kept", "before", UTF_8);
      InputStream failing =
          new FilterInputStream(new ByteArrayInputStream(new byte[100_000])) {
            @Override
            public int read(byte[] to, int offset, int length) throws IOException {
              int count = super.read(to, offset, length);
              if (count < 0) {
                throw new IOException("the source failed");
              }
              return count;
            }
          };
      assertThatThrownBy(() -> sandbox.files().write("kept", failing, WriteOptions.DEFAULT))
          .hasMessageContaining("the source failed");
      assertThat(sandbox.files().readText("kept", UTF_8, 100)).isEqualTo("before");
    }

    @Test
    void anotherProcessAttachesAndDestroys() throws Exception {
      sandbox.files().writeText("here", "yes", UTF_8);
      try (Provider other = another()) {
        assertThat(other.inventory())
            .singleElement()
            .extracting("state")
            .isEqualTo(SandboxState.RUNNING);
        Optional<Sandbox> again = other.attach(sandbox.id());
        assertThat(again.orElseThrow().files().readText("here", UTF_8, 10)).isEqualTo("yes");
        other.destroy(sandbox.id(), DestroyOptions.FORCE);
        other.destroy(sandbox.id(), DestroyOptions.FORCE);
        assertThat(other.inventory()).isEmpty();
        assertThat(other.attach(sandbox.id())).isEmpty();
      }
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
    }

    @Override
    Provider another() throws Exception {
      return ScriptedController.provider(
          folder.resolve("data"),
          Map.of("cli", ShellWords.quote(folder.resolve("microvmctl").toString())));
    }
  }

  @Nested
  class OverSsh extends Verbs {
    private Map<String, String> settings = Map.of();
    private Optional<TestSshServer> server = Optional.empty();

    @BeforeEach
    void begin() throws Exception {
      TestSshServer.missing().ifPresent(why -> Assumptions.abort("NOT RUN: " + why));
      TestSshServer ssh = TestSshServer.start(Files.createDirectory(folder.resolve("ssh")));
      server = Optional.of(ssh);
      settings = SshSettings.of(ssh, ScriptedController.folders(folder));
      start(settings);
    }

    /** One test, because every call is a connection. */
    @Test
    void argumentsEnvironmentAndFileNamesArriveExactly() throws Exception {
      checkArguments();
      checkEnvironment();
      checkFiles();
    }

    @AfterEach
    void stop() {
      end();
      server.ifPresent(TestSshServer::close);
    }

    @Override
    Provider another() throws Exception {
      return ScriptedController.provider(folder.resolve("data"), settings);
    }
  }
}
