package dev.isola.provider.subprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A server process that is killed with SIGKILL while a command runs. */
final class ServerCrashTest extends SubprocessFixture {
  private static final String COMMAND =
      "i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); sleep 0.1; done; exit 9";

  /**
   * The server process: creates a sandbox, starts a command, prints what it has read so far, and
   * waits.
   */
  static final class CrashingServer {
    public static void main(String[] words) throws InterruptedException {
      Provider provider =
          new SubprocessProviderFactory()
              .create(
                  ProviderConfig.EMPTY,
                  new ProviderContext(
                      new InstanceId(INSTANCE), Path.of(words[0]), InstantSource.system()));
      SandboxSpec.Builder spec =
          SandboxSpec.builder(new SandboxId("victim")).deadline(Duration.ofMinutes(1));
      if (words[1].equals("short-lived")) {
        spec.linger(Duration.ZERO);
      }
      Sandbox sandbox = provider.create(spec.build());
      Execution execution = sandbox.start(Command.shell(COMMAND));
      Output first = execution.read().orElseThrow();
      System.out.println(execution.id() + " " + first.end());
      Thread.currentThread().join();
    }
  }

  private Process victim(String kind) throws IOException {
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                CrashingServer.class.getName(),
                data.toString(),
                kind))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void commandSurvivesAndItsOutputIsReadAfterARestart() throws Exception {
    Process victim = victim("server");
    String[] reported;
    try (BufferedReader out = victim.inputReader()) {
      reported = out.readLine().split(" ");
      victim.destroyForcibly().waitFor();
    }
    long offset = Long.parseLong(reported[1]);
    Sandbox sandbox = provider.attach(new SandboxId("victim")).orElseThrow();
    Attaching attaching = sandbox.as(Attaching.class).orElseThrow();
    assertThat(attaching.executions())
        .singleElement()
        .satisfies(info -> assertThat(info.running()).isTrue());
    Execution again = attaching.attach(new ExecutionId(reported[0]), offset);
    StringBuilder rest = new StringBuilder();
    while (again.read().orElse(null) instanceof Output.Data piece) {
      assertThat(piece.offset()).isEqualTo(offset + rest.length());
      rest.append(piece.bytes().utf8());
    }
    assertThat(rest.toString()).endsWith("line 29\n");
    assertThat(offset + rest.length()).isEqualTo(10 * 7 + 20 * 8);
    assertThat(again.await()).isEqualTo(new Exit.Exited(9));
  }

  @Test
  void shortLivedSandboxEndsWithItsServer() throws Exception {
    Process victim = victim("short-lived");
    try (BufferedReader out = victim.inputReader()) {
      assertThat(out.readLine()).isNotNull();
    }
    InventoryItem before = provider.inventory().getFirst();
    assertThat(before.state()).as("precondition: it was running").isEqualTo(SandboxState.RUNNING);
    victim.destroyForcibly().waitFor();
    await()
        .atMost(Duration.ofSeconds(2))
        .until(() -> AgentProcess.findByCommandLine(INSTANCE, "victim").isEmpty());
    assertThat(provider.inventory().getFirst().state()).isEqualTo(SandboxState.ERROR);
  }
}
