package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola volume} against a server with a provider that supports volumes. */
@Timeout(180)
class VolumeCommandsTest {
  @TempDir static Path data;
  private static LiveServer server;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data, new BubblewrapProviderFactory());
  }

  @AfterAll
  static void end() {
    server.close();
  }

  private CommandResult isola(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture.call(args);
  }

  @Test
  void createsCopiesListsAndRemovesAVolume() throws IOException {
    assertThat(isola("volume", "ls").out())
        .isEqualTo("no volumes; create one with isola volume create NAME\n");
    CommandResult made = isola("volume", "create", "data");
    assumeTrue(made.code() == 0, () -> "NOT RUN: bubblewrap does not work here: " + made.err());
    assertThat(made.out()).isEqualTo("data\n");
    assertThat(isola("volume", "ls").out()).contains("NAME", "data", "bubblewrap", "available");
    assertThat(isola("volume", "ls", "--json").out()).startsWith("{\"volumes\":[{");
    assertThat(isola("volume", "create", "data").err()).contains("already exists");

    Path tree = Files.createDirectories(folder.resolve("tree/sub"));
    Files.writeString(tree.resolve("file"), "hello\n");
    assertThat(isola("volume", "cp", folder.resolve("tree").toString(), "data:in").err()).isEmpty();
    assertThat(isola("volume", "files", "data", "in").out()).contains("folder", "/in/sub");
    assertThat(isola("volume", "cp", "data:in/sub/file", "-").out()).isEqualTo("hello\n");
    Path back = folder.resolve("back");
    assertThat(isola("volume", "cp", "data:in", back.toString()).err()).isEmpty();
    assertThat(back.resolve("sub/file")).hasContent("hello\n");
    assertThat(isola("volume", "cp", "a", "b").err()).contains("NAME:PATH");

    assertThat(isola("volume", "rm", "data").out()).isEqualTo("data\n");
    assertThat(isola("volume", "rm", "data").err()).contains("there is no volume data");
    assertThat(isola("volume").out()).contains("create", "ls", "cp", "rm");
  }
}
