package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.Console;
import dev.isola.codec.json.Json;
import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.ProviderResult;
import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.Health;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.testing.fake.FakeProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola conformance}; tests that run checks use a kit of three. */
class ConformanceCommandTest {
  @TempDir Path folder;
  private final FakeProvider good = new FakeProvider("good");
  private final FakeProvider ill = new FakeProvider("ill");
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Returns one check for each outcome. */
  private static List<CheckCase> three(int count) {
    return List.of(
            check("aPasses", "T1", subject -> assertThat(subject.sandbox()).isNotNull()),
            check(
                "bFails",
                "T2",
                subject -> {
                  subject.sandbox();
                  throw new CheckFailed("it did\nnot \u001b[31mwork");
                }),
            check(
                "cIsNotRun",
                "T3",
                subject -> {
                  subject.sandbox();
                  throw subject.notRun("no wand");
                }))
        .subList(0, count);
  }

  private static CheckCase check(String name, String requirement, CheckCase.Body body) {
    return new CheckCase("Three", name, requirement, List.of(), List.of(), List.of(), body);
  }

  private CommandLineFixture isola() {
    ill.health = new Health.Unhealthy("no bwrap", "apt install bubblewrap");
    return new CommandLineFixture(folder.resolve("data"), good, ill);
  }

  private Console console() {
    return console(false, false);
  }

  private Console console(boolean terminal, boolean verbose) {
    CliEnvironment host =
        new CliEnvironment(
            InputStream.nullInputStream(),
            out,
            OutputStream.nullOutputStream(),
            new CliEnvironment.TtyStatus(terminal, terminal, terminal),
            Map.of("NO_COLOR", "1"),
            List.of());
    return new Console(host, false, verbose, "auto");
  }

  private ProviderResult run(int count, boolean terminal, boolean verbose) {
    Console console = console(terminal, verbose);
    try (TemporaryInstallation trial = TemporaryInstallation.of(good)) {
      return new ConformanceRun(three(count), new ConformanceProgress(console, terminal))
          .run(trial);
    }
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void printsFailuresImmediatelyAndOneLinePerClass() {
    ProviderResult result = run(3, false, true);
    assertThat(printed())
        .isEqualTo(
            """
            good
              FAILED Three.bFails (T2): it did not ?[31mwork
              NOT RUN Three.cIsNotRun (T3): no wand
              Three       1/3 passed, 1 failed, 1 not run
            good: 1 passed, 1 failed, 1 not run
            """);
    assertThat(ConformanceRun.passed(List.of(result))).isFalse();
    assertThat(good.alive).isEmpty();
    assertThat(good.context().dataFolder()).doesNotExist();
  }

  @Test
  void updatesTheCountOnATerminal() {
    run(1, true, false);
    assertThat(printed())
        .isEqualTo(
            "good\n  Three       0/1 passed\r\u001b[K  Three       1/1 passed"
                + "\r\u001b[K  Three       1/1 passed\ngood: 1 passed, 0 failed, 0 not run\n");
  }

  @Test
  void printsJson() {
    assertThat(Json.text(ConformanceRun.json(List.of(run(2, false, false)))))
        .isEqualTo(
            "{\"providers\":[{\"name\":\"good\",\"passed\":1,\"failed\":1,\"notRun\":0,\"checks\":["
                + "{\"id\":\"Three.aPasses\",\"requirement\":\"T1\",\"result\":\"passed\","
                + "\"reason\":\"\"},"
                + "{\"id\":\"Three.bFails\",\"requirement\":\"T2\",\"result\":\"failed\","
                + "\"reason\":\"it did\\nnot \\u001B[31mwork\"}]}]}");
  }

  @Test
  void passesIfNothingFailedAndSomethingRan() {
    ProviderResult passed = run(1, false, false);
    assertThat(ConformanceRun.passed(List.of(passed))).isTrue();
    assertThat(ConformanceRun.passed(List.of())).isFalse();
    assertThat(ConformanceRun.passed(List.of(new ProviderResult("idle", List.of())))).isFalse();
  }

  @Test
  void namedUnhealthyProviderFailsTheRun() throws IOException {
    Path matrix = folder.resolve("matrix.md");
    String group = ConformanceKit.groups().getFirst();
    CommandResult called =
        isola()
            .call("conformance", "ill", "--only", group, "--json", "--matrix", matrix.toString());
    assertThat(called.code()).isEqualTo(1);
    assertThat(called.out())
        .startsWith("{\"providers\":[{\"name\":\"ill\",\"passed\":0,\"failed\":0,\"notRun\":")
        .hasLineCount(1);
    assertThat(Files.readString(matrix)).startsWith("# Conformance\n").contains("| ill | 0 | 0 |");
  }

  @Test
  void unnamedUnhealthyProviderIsSkippedWithAMessage() {
    good.health = new Health.Unhealthy("ill too", "rest");
    CommandResult called = isola().call("conformance");
    assertThat(called.code()).isEqualTo(1);
    assertThat(called.err())
        .contains("isola: good is skipped: ill too", "isola: ill is skipped: no bwrap");
  }

  @Test
  void listsTheChecks() {
    assertThat(isola().call("conformance", "--list").out().lines().count())
        .isEqualTo(ConformanceKit.checks().size());
    assertThat(isola().call("conformance", "--list", "--json").out()).startsWith("{\"checks\":[");
  }

  @Test
  void unknownNamesAreRejectedWithTheKnownOnes() {
    CommandResult provider = isola().call("conformance", "god");
    assertThat(provider.code()).isEqualTo(2);
    assertThat(provider.err())
        .isEqualTo("isola: no provider is named 'god'; did you mean good? Known: good, ill\n");
    CommandResult group = isola().call("conformance", "good", "--only", "Nothing");
    assertThat(group.code()).isEqualTo(2);
    assertThat(group.err())
        .startsWith("isola: no class of checks is named 'Nothing'; ")
        .contains("Lifecycle, Exec");
    assertThat(good.specs).isEmpty();
  }

  @Test
  void settingsRequireExactlyOneProvider() {
    CommandResult two = isola().call("conformance", "good", "ill", "--set", "a=b");
    assertThat(two.code()).isEqualTo(2);
    assertThat(two.err())
        .isEqualTo(
            "isola: --set requires exactly one provider, but 2 are named; name one provider\n");
    ProviderConfig given = new ProviderConfig(Map.of("a", "b"));
    try (TemporaryInstallation trial = TemporaryInstallation.of(good, given)) {
      new ConformanceRun(three(1), new ConformanceProgress(console(), false)).run(trial);
    }
    assertThat(good.config).isEqualTo(given);
  }

  @Test
  void urlChecksThatBackendWithTheKeyOfTheOptionOrOfTheVariable() {
    FakeProvider http = new FakeProvider("http");
    http.health = new Health.Unhealthy("not there", "start it");
    CommandLineFixture isola = new CommandLineFixture(folder.resolve("data"), good, http);
    isola.env.put("ISOLA_BACKEND_KEY", "of the variable");
    String[] line = {"conformance", "--url", "http://host", "--only", "SecretEnv"};
    assertThat(isola.call(line).out()).contains("http: 0 passed");
    assertThat(http.config)
        .isEqualTo(new ProviderConfig(Map.of("url", "http://host", "key", "of the variable")));
    isola.call("conformance", "--url", "http://host", "--key", "own", "--only", "SecretEnv");
    assertThat(http.config)
        .isEqualTo(new ProviderConfig(Map.of("url", "http://host", "key", "own")));
    assertThat(good.specs).isEmpty();
  }

  @Test
  void urlExcludesOtherProvidersAndKeyNeedsUrl() {
    assertThat(isola().call("conformance", "good", "--url", "http://host").err())
        .isEqualTo("isola: --url checks the provider http only; do not name a provider\n");
    CommandResult alone = isola().call("conformance", "--key", "k");
    assertThat(alone.code()).isEqualTo(2);
    assertThat(alone.err()).isEqualTo("isola: --key requires --url; add --url URL\n");
  }
}
