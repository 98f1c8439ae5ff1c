package dev.isola.app.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.testing.fake.FakeProvider;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunJsonTest {
  @TempDir Path folder;
  private final FakeProvider fake = new FakeProvider("crun");

  @Test
  void printsOneObject() {
    CommandResult called = isola().call("run", "--json", "--", "echo", "a \"b\"");
    String id = fake.specs.getFirst().id().value();
    assertThat(called.out())
        .isEqualTo(
            "{\"sandbox\":\""
                + id
                + "\",\"provider\":\"crun\",\"isolation\":\"container\",\"command\":\"echo 'a"
                + " \\\"b\\\"'\",\"exitCode\":0,\"exit\":{\"kind\":\"exited\",\"code\":0},\"stdout\":\"a"
                + " \\\"b\\\"\\n"
                + "\",\"stderr\":\"\",\"stdoutBytes\":6,\"stderrBytes\":0,\"stdoutTruncated\":false,\"stderrTruncated\":false,\"durationMs\":7,\"timedOut\":false,\"limitsMet\":[]}\n");
    assertThat(called.code()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "exit 3        | 3   | {\"kind\":\"exited\",\"code\":3}",
        "kill 15       | 143 | {\"kind\":\"signaled\",\"signal\":\"SIGTERM\",\"number\":15}",
        "sleep         | 124 | {\"kind\":\"timedOut\",\"afterMs\":2000}",
        "oom           | 137 | {\"kind\":\"outOfMemory\"}",
        "lose          | 125 | {\"kind\":\"lost\",\"why\":\"it sank\"}",
      })
  void reportsTheExit(String words, int code, String exit) {
    CommandResult called = isola().call(("--json run --timeout 2 " + words).split(" "));
    assertThat(called.out()).contains("\"exitCode\":" + code + ",\"exit\":" + exit + ",");
    assertThat(called.code()).isEqualTo(code);
    assertThat(called.err()).isEmpty();
  }

  @Test
  void passesStandardInput() {
    assertThat(isola().stdin("in").call("run", "--json", "cat").out())
        .contains("\"stdout\":\"in\"");
  }

  @Test
  void providerIsTheInstanceThatCreatedTheSandbox() {
    String out =
        isola()
            .call(
                "--json",
                "run",
                "--set",
                "providers.crun-east.type=crun",
                "--provider",
                "crun-east",
                "true")
            .out();
    assertThat(out).contains("\"provider\":\"crun-east\",\"isolation\":\"container\"");
  }

  private CommandLineFixture isola() {
    return new CommandLineFixture(folder.resolve("data"), fake);
  }
}
