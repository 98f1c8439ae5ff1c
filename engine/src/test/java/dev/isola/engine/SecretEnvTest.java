package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secret variables reach the commands of a sandbox, but nothing that is stored or displayed. */
class SecretEnvTest {
  private static final SandboxId ID = new SandboxId("keeper");
  private static final String VALUE = "planted-secret-7d2e";
  private static final Duration IDLE = Duration.ofMinutes(10);

  @TempDir Path folder;

  private static CreateResult make(EngineFixture fixture) {
    SandboxSpec spec =
        SandboxSpec.builder(ID)
            .env("PLAIN", "shown")
            .secretEnv("API_KEY", Secret.of(VALUE))
            .build();
    return fixture
        .engine
        .creator()
        .create(
            SandboxRequest.of(
                    CreateRequest.of(spec, "test")
                        .with(
                            Lifecycle.DEFAULT
                                .withWhenIdle(ExpiryAction.SNAPSHOT)
                                .withIdleTimeout(IDLE))
                        .withIdempotencyKey("once"))
                .withFixedId());
  }

  private static String seen(Sandbox sandbox) {
    return sandbox.run(Command.shell("echo $PLAIN $API_KEY")).stdout().text();
  }

  /** Returns the files of the fixture that contain the value. */
  private List<Path> leaks() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .filter(
              file -> {
                try {
                  return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1)
                      .contains(VALUE);
                } catch (IOException e) {
                  return false; // it is destroyed
                }
              })
          .toList();
    }
  }

  @Test
  void secretReachesCommandsAndIsStoredEncrypted() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      CreateResult made = make(fixture);
      assertThat(seen(made.sandbox())).isEqualTo("shown " + VALUE + "\n");
      assertThat(made.view().toString()).contains("API_KEY").doesNotContain(VALUE);
      assertThat(SpecCodec.secretNames(made.view().spec(), made.view().id()))
          .containsExactly("API_KEY");
      assertThat(fixture.ledger.events().after(0, 100).toString()).doesNotContain(VALUE);
      assertThat(leaks()).isEmpty();
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(folder.resolve("secrets.key"))))
          .isEqualTo("rw-------");
      assertThat(make(fixture).repeated()).as("the same request with the same key").isTrue();
    }
  }

  @Test
  void secretSurvivesSnapshotSuspensionAndARestart() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> fixture.engine.sandboxes().view(ID).state() == SandboxState.STOPPED);
      await().until(() -> fixture.registry.get("test").inventory().isEmpty());
      fixture.restart(() -> {});
      assertThat(seen(fixture.engine.sandboxes().get(ID))).isEqualTo("shown " + VALUE + "\n");
      assertThat(leaks()).isEmpty();
    }
  }

  @Test
  void forksInheritSecrets() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture);
      ForkResult fork = fixture.engine.forks().fork(ID, ForkRequest.of(1)).getFirst();
      assertThat(fork).isInstanceOf(ForkResult.Created.class);
      SandboxId id = ((ForkResult.Created) fork).view().id();
      assertThat(seen(fixture.engine.sandboxes().get(id))).isEqualTo("shown " + VALUE + "\n");
    }
  }

  @Test
  void secretIsRemovedWithItsSandbox() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture);
      assertThat(fixture.ledger.settings().all("secret-env")).containsOnlyKeys("keeper");
      fixture.engine.sandboxes().destroy(ID, DestroyOptions.FORCE);
      assertThat(fixture.ledger.settings().all("secret-env")).isEmpty();
      // The next server removes a secret that a crash left behind.
      fixture.restart(() -> fixture.ledger.settings().put("secret-env", "neverwas", "AAAA"));
      await().until(() -> fixture.ledger.settings().all("secret-env").isEmpty());
    }
  }

  @Test
  void missingKeyIsAnError() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture);
      Files.delete(folder.resolve("secrets.key"));
      assertThatThrownBy(() -> fixture.engine.forks().fork(ID, ForkRequest.of(1)))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("secrets.key is missing");
      assertThat(folder.resolve("secrets.key")).doesNotExist();
    }
  }

  @Test
  void recordsOfDestroyedSandboxesArePurgedWithTheirEvents() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "retention: 7d\n")) {
      make(fixture);
      fixture.engine.sandboxes().destroy(ID, DestroyOptions.FORCE);
      fixture.clock.pass(Duration.ofDays(6));
      fixture.restart(() -> {});
      assertThat(fixture.engine.sandboxes().view(ID).state()).isEqualTo(SandboxState.DESTROYED);
      fixture.clock.pass(Duration.ofDays(2));
      fixture.restart(() -> {});
      await().until(() -> fixture.ledger.sandboxes().find(ID).isEmpty());
      assertThatThrownBy(() -> fixture.engine.sandboxes().view(ID)).isInstanceOf(NotFound.class);
      assertThat(fixture.ledger.events().after(0, 100))
          .noneMatch(event -> event.sandbox().filter(ID::equals).isPresent());
      assertThat(make(fixture).repeated()).as("its idempotency key was released").isFalse();
    }
  }
}
