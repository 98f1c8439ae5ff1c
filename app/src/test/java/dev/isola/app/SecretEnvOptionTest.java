package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.testing.fake.FakeProvider;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The option {@code --secret-env} of {@code isola run} and {@code isola create}. */
@Timeout(180)
class SecretEnvOptionTest {
  private static final String VALUE = "s3cret-of-the-caller";

  @TempDir Path folder;
  private final FakeProvider fake = new FakeProvider("bubblewrap");

  private CommandLineFixture isola() {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"), fake);
    fixture.env.put("TOKEN", VALUE);
    return fixture;
  }

  @Test
  void runReadsTheValueFromItsEnvironment() {
    CommandResult run =
        isola().call("run", "--json", "-v", "--secret-env", "TOKEN", "-e", "A=1", "true");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(fake.commands.getFirst().env()).isEqualTo(Map.of("A", "1", "TOKEN", VALUE));
    assertThat(fake.specs.getFirst().environment()).isEmpty();
    assertThat(run.out() + run.err()).doesNotContain(VALUE);
  }

  @Test
  void unsetVariableIsRejected() {
    CommandResult run = isola().call("run", "--secret-env", "NO_SUCH", "true");
    assertThat(run.code()).isNotZero();
    assertThat(run.err())
        .isEqualTo(
            "isola: --secret-env NO_SUCH: the variable is not set; export it before"
                + " running isola\n");
    assertThat(fake.specs).isEmpty();
  }

  @Test
  void valueOnTheCommandLineIsRejectedAndNotPrinted() {
    CommandResult run = isola().call("run", "--secret-env", "TOKEN=" + VALUE, "true");
    assertThat(run.code()).isNotZero();
    assertThat(run.err())
        .contains("takes the name of a variable, without a value")
        .doesNotContain(VALUE);
    assertThat(fake.specs).isEmpty();
  }

  @Test
  void variableAlsoSetWithEnvIsRejected() {
    CommandResult run = isola().call("run", "-e", "TOKEN=x", "--secret-env", "TOKEN", "true");
    assertThat(run.code()).isNotZero();
    assertThat(run.err()).contains("--secret-env TOKEN is also set with --env");
  }

  @Test
  void createPassesItToTheSandboxAndNoResponseContainsIt() {
    try (LiveServer server = LiveServer.start(folder.resolve("server"))) {
      CommandLineFixture isola = isola();
      isola.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
      isola.env.put("ISOLA_URL", server.url);
      isola.env.put("ISOLA_API_KEY", LiveServer.KEY);
      CommandResult made =
          isola.call("create", "--json", "--secret-env", "TOKEN", "--id", "withsecret");
      assertThat(made.code()).as(made.err()).isZero();
      assertThat(made.out()).contains("withsecret").doesNotContain(VALUE);
      CommandResult inside = isola.call("exec", "withsecret", "--", "sh", "-c", "echo $TOKEN");
      assertThat(inside.out()).isEqualTo(VALUE + "\n");
      assertThat(isola.call("ls", "--json").out()).doesNotContain(VALUE);
      assertThat(isola.call("rm", "--force", "withsecret").code()).isZero();
    }
  }
}
