package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.SnapshotOptions;
import dev.isola.testing.provider.FakeMemoryForking;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** N4: {@code isola snapshot} with memory and the Java SDK, on a fake that declares it. */
@Timeout(180)
class MemorySnapshotCommandTest {
  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private LiveServer server;

  @BeforeEach
  void start() {
    server = LiveServer.start(folder.resolve("server"), fake, "floor=process");
  }

  @AfterEach
  void end() {
    try (Isola isola = Isola.connect(server.url, LiveServer.KEY)) {
      isola.list(SandboxFilter.ALL).forEach(one -> isola.sandbox(one.id()).destroy());
    }
    server.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private CommandResult isola(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    fixture.env.put("PLANTED", "planted-secret-90aa");
    return fixture.call(args);
  }

  @Test
  void commandStoresListsAndRestoresMemory() {
    String id = isola("create", "--memory", "333").out().strip();
    String files = isola("snapshot", "create", id).out().strip();
    String memory = isola("snapshot", "create", id, "--kind", "memory").out().strip();
    assertThat(isola("snapshot", "ls").out())
        .contains("KIND")
        .containsPattern(files + ".* filesystem ")
        .containsPattern(memory + ".* memory ");
    assertThat(isola("snapshot", "show", memory).out()).containsPattern("kind +memory");
    CommandResult diff = isola("snapshot", "diff", files, memory);
    assertThat(diff.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(diff.err()).contains(memory, "kind memory");
    assertThat(isola("rm", "--force", id).code()).isZero();
    CommandResult restored = isola("snapshot", "restore", memory, "--name", "copy");
    assertThat(restored.code()).as(restored.err()).isZero();
    assertThat(isola("inspect", "copy").out()).contains("333");
    CommandResult refused = isola("snapshot", "restore", memory, "--memory", "444");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err()).contains("resources");
    assertThat(fake.forks).hasValue(1);
  }

  @Test
  void commandNeedsAnOptionForSecrets() {
    String id = isola("create", "--secret-env", "PLANTED").out().strip();
    CommandResult refused = isola("snapshot", "create", id, "--kind", "memory");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err()).contains("PLANTED", "--allow-secrets").doesNotContain("planted-");
    assertThat(fake.points).hasValue(0);
    assertThat(isola("snapshot", "create", id, "--kind", "memory", "--allow-secrets").code())
        .isZero();
  }

  @Test
  void sdkStoresAndRestoresMemory() {
    try (Isola isola = Isola.connect(server.url, LiveServer.KEY);
        Sandbox sandbox = isola.create()) {
      sandbox.files().write("kept", "kept");
      SnapshotInfo stored = sandbox.snapshot(SnapshotOptions.memory().tag("a", "b"));
      assertThat(stored.kind()).isEqualTo("memory");
      assertThat(stored.tags()).containsEntry("a", "b");
      try (Sandbox copy = isola.snapshots().restore(stored.id())) {
        assertThat(copy.exec("cat kept").stdout()).isEqualTo("kept");
      }
    }
  }
}
