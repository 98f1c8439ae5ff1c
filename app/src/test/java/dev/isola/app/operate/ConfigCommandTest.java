package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.cli.ConfigSources;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code isola config} prints every value with its origin, all errors together, and never a secret.
 */
class ConfigCommandTest {
  @TempDir Path folder;
  private Path file = Path.of("");
  private CommandLineFixture isola = new CommandLineFixture(Path.of(""));

  @BeforeEach
  void make() {
    file = folder.resolve("isola.yaml");
    isola = new CommandLineFixture(folder.resolve("data"), new FakeProvider("bubblewrap"));
    isola.env.put("HOME", folder.toString());
    isola.env.put("ISOLA_CONFIG", file.toString());
  }

  private void write(String yaml) throws IOException {
    Files.writeString(file, yaml);
  }

  @Test
  void printsEveryValueWithItsOrigin() throws IOException {
    write("floor: kernel\nproviders:\n  e2b: {api_key: hunter2}\n");
    isola.env.put("ISOLA_SHUTDOWN", "drain");
    CommandResult called = isola.call("config", "--set", "health.interval=10s");
    assertThat(called.code()).isZero();
    assertThat(called.err()).isEmpty();
    assertThat(called.out().lines().map(line -> line.replaceAll(" +", " ")))
        .startsWith("KEY VALUE FROM", "provider auto default")
        .contains(
            "floor kernel " + file + ":1",
            "health.interval 10s flag --set health.interval",
            "shutdown drain environment ISOLA_SHUTDOWN",
            "data " + folder.resolve("data") + " environment ISOLA_DATA",
            "providers.e2b.api_key *** " + file + ":3");
    assertThat(called.out()).doesNotContain("hunter2");
  }

  @Test
  void printsJson() throws IOException {
    write("floor: kernel\n");
    assertThat(isola.call("--json", "config", "--data", "/d").out())
        .startsWith(
            "{\"file\":\"" + file + "\",\"values\":[{\"key\":\"provider\",\"value\":\"auto\"")
        .contains(
            "{\"key\":\"floor\",\"value\":\"kernel\",\"from\":{\"kind\":\"file\",\"name\":\""
                + file
                + "\",\"line\":1}}",
            "{\"key\":\"data\",\"value\":\"/d\",\"from\":{\"kind\":\"flag\",\"name\":\"--data\"}}")
        .endsWith("\"warnings\":[]}\n")
        .hasLineCount(1);
  }

  @Test
  void reportsAllErrorsTogether() throws IOException {
    write("flor: vm\nallow_process: perhaps\n");
    CommandResult called = isola.call("config");
    assertThat(called.code()).isEqualTo(1);
    assertThat(called.out()).isEmpty();
    assertThat(called.err())
        .isEqualTo(
            "isola: %s:1: flor is not a key, did you mean 'floor'?\n".formatted(file)
                + "isola: %s:2: allow_process must be true or false: perhaps\n".formatted(file)
                + "isola: 2 errors in the configuration; docs/config.md documents every key\n");
    assertThat(isola.call("config", "--json").out())
        .startsWith("{\"error\":{\"code\":\"INVALID_REQUEST\",\"category\":\"CALLER\"")
        .contains(
            "\"problems\":[{\"key\":\"flor\",\"problem\":\"is not a key, did you mean 'floor'?\"")
        .hasLineCount(1);
  }

  @Test
  void rejectsASetOptionWithoutValue() throws IOException {
    write("");
    CommandResult called = isola.call("config", "--set", "floor");
    assertThat(called.code()).isEqualTo(2);
    assertThat(called.err())
        .isEqualTo("isola: --set is 'floor'; use KEY=VALUE, such as --set floor=vm\n");
  }

  @Test
  void warnsAboutSuspiciousValues() throws IOException {
    write("allow_process: true\n");
    CommandResult called = isola.call("config");
    assertThat(called.code()).isZero();
    assertThat(called.err())
        .isEqualTo("isola: allow_process does nothing unless floor is process\n");
  }

  @Test
  void explicitFileMustExistAndTheDefaultFileIsOptional() {
    assertThat(isola.call("config").err()).startsWith("isola: " + file + ":1: does not exist\n");
    assertThat(isola.call("config", "--config", "/no/such").code()).isEqualTo(1);
    isola.env.remove("ISOLA_CONFIG");
    assertThat(ConfigSources.defaultFile(isola.env, "me"))
        .isEqualTo(folder.resolve(".config/isola/isola.yaml"));
    assertThat(ConfigSources.defaultFile(Map.of("XDG_CONFIG_HOME", "/x"), "me"))
        .isEqualTo(Path.of("/x/isola/isola.yaml"));
    assertThat(ConfigSources.defaultFile(Map.of("XDG_CONFIG_HOME", "/x"), "root"))
        .isEqualTo(Path.of("/etc/isola/isola.yaml"));
    assertThat(ConfigSources.file(null, isola.env, "me")).isEmpty();
  }
}
