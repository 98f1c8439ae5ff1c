package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.app.remote.Contexts.Context;
import dev.isola.app.remote.ServerOptions.Server;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which server a command uses. */
class ServerOptionsTest {
  @TempDir Path folder;
  private final Map<String, String> env = new HashMap<>();
  private final ServerOptions options = new ServerOptions();

  @BeforeEach
  void home() {
    env.put("XDG_CONFIG_HOME", folder.toString());
  }

  private void login(String name) {
    Contexts.of(env).put(new Context(name, "http://" + name, "key-" + name));
  }

  @Test
  void missingServerIsReportedWithARemedy() {
    assertThatThrownBy(() -> options.resolve(env))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("isola serve")
        .hasMessageContaining("isola login URL");
  }

  @Test
  void usesTheLastLogin() {
    login("one");
    login("two");
    assertThat(options.resolve(env)).isEqualTo(new Server("http://two", "key-two"));
    Contexts.of(env).use("one");
    assertThat(options.resolve(env)).isEqualTo(new Server("http://one", "key-one"));
  }

  @Test
  void environmentOverridesTheLogin() {
    login("one");
    env.put("ISOLA_URL", "http://other/");
    assertThatThrownBy(() -> options.resolve(env))
        .hasMessageContaining("no API key for http://other");
    env.put("ISOLA_API_KEY", "given");
    assertThat(options.resolve(env)).isEqualTo(new Server("http://other", "given"));
    env.remove("ISOLA_URL");
    assertThat(options.resolve(env)).isEqualTo(new Server("http://one", "given"));
  }

  @Test
  void keyWithoutUrlUsesTheLocalServer() {
    env.put("ISOLA_API_KEY", "given");
    assertThat(options.resolve(env)).isEqualTo(new Server("http://127.0.0.1:7777", "given"));
  }

  @Test
  void optionOverridesEverything() {
    login("one");
    login("two");
    env.put("ISOLA_URL", "http://other");
    options.context = "one";
    assertThat(options.resolve(env)).isEqualTo(new Server("http://one", "key-one"));
    options.url = "http://two/";
    assertThat(options.resolve(env)).isEqualTo(new Server("http://two", "key-two"));
  }

  @Test
  void unknownContextIsReported() {
    login("one");
    options.context = "tow";
    assertThatThrownBy(() -> options.resolve(env)).hasMessageContaining("'tow'");
  }

  @Test
  void contextsFileIsPrivate() throws IOException {
    login("one");
    login("two");
    Contexts.of(env).remove("two");
    Path file = folder.resolve("isola/contexts");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
        .isEqualTo("rwx------");
    assertThat(Files.readString(file)).contains("key-one").doesNotContain("key-two");
    try (Stream<Path> left = Files.list(file.getParent())) {
      assertThat(left).containsExactly(file);
    }
    assertThat(Contexts.of(env).current()).isEmpty();
    assertThat(Contexts.of(env).all().get("one")).hasToString("one (http://one)");
  }
}
