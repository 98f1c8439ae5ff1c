package dev.isola.provider.microvmctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.provider.Provider;
import dev.isola.testing.ssh.TestSshServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The transport {@code ssh} with a real sshd: keys, host keys, a connection that drops. */
@Timeout(120)
class SshTransportTest {
  @TempDir Path folder;
  private Optional<TestSshServer> server = Optional.empty();
  private Path cli = Path.of("");

  @BeforeEach
  void begin() throws Exception {
    TestSshServer.missing().ifPresent(why -> Assumptions.abort("NOT RUN: " + why));
    server = Optional.of(TestSshServer.start(Files.createDirectory(folder.resolve("ssh"))));
    cli = ScriptedController.folders(folder);
  }

  @AfterEach
  void end() {
    server.ifPresent(TestSshServer::close);
  }

  private TestSshServer ssh() {
    return server.orElseThrow();
  }

  private Health health(Map<String, String> settings) throws Exception {
    try (Provider provider = ScriptedController.provider(folder.resolve("data"), settings)) {
      return provider.health();
    }
  }

  @Test
  void keyAndHostKeyAreAccepted() throws Exception {
    assertThat(health(SshSettings.of(ssh(), cli))).isInstanceOf(Health.Healthy.class);
  }

  @Test
  void wrongHostKeyIsRefused() throws Exception {
    assertThat(health(SshSettings.of(ssh(), cli, ssh().configWithWrongHostKey(), true)))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class,
            health ->
                assertThat(health.reason())
                    .contains("the connection to 127.0.0.1 failed")
                    .contains("Host key verification failed"));
  }

  @Test
  void unknownHostKeyIsRefusedUnlessCheckingIsOff() throws Exception {
    assertThat(health(SshSettings.of(ssh(), cli, ssh().configWithoutHostKey(), true)))
        .isInstanceOf(Health.Unhealthy.class);
    assertThat(health(SshSettings.of(ssh(), cli, ssh().configWithoutHostKey(), false)))
        .isInstanceOf(Health.Healthy.class);
  }

  @Test
  void wrongKeyIsRefusedWithoutAsking() throws Exception {
    Map<String, String> settings = new HashMap<>(SshSettings.of(ssh(), cli));
    settings.put("ssh_key_path", folder.resolve("ssh/host").toString());
    assertThat(health(settings))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class,
            health -> assertThat(health.reason()).contains("Permission denied"));
  }

  @Test
  void missingRemoteCommandIsReported() throws Exception {
    assertThat(health(SshSettings.of(ssh(), Path.of("/nowhere/microvmctl"))))
        .isInstanceOfSatisfying(
            Health.Unhealthy.class,
            health ->
                assertThat(health.reason())
                    .contains("/nowhere/microvmctl on 127.0.0.1 was not found"));
  }

  @Test
  void droppedConnectionIsAClearErrorAndLeavesTheSandbox() throws Exception {
    try (Provider provider =
        ScriptedController.provider(folder.resolve("data"), SshSettings.of(ssh(), cli))) {
      Sandbox sandbox = provider.create(ScriptedController.spec(folder.resolve("work")).build());
      try (Execution execution = sandbox.start(Command.shell("echo begun; sleep 60"))) {
        assertThat(execution.read()).isPresent();
        assertThat(ssh().dropConnections()).isPositive();
        assertThatThrownBy(execution::await)
            .isInstanceOf(OutcomeUnknown.class)
            .hasMessageContaining("the connection to 127.0.0.1 failed");
      }
      assertThat(sandbox.run(Command.argv("true")).succeeded()).isTrue();
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
  }
}
