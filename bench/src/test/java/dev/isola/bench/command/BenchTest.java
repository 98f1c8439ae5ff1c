package dev.isola.bench.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.Main;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandFactory;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.testing.fake.FakeProvider;
import dev.isola.testing.provider.FakeMemoryForking;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola bench}: its arguments and its report, not its measurements. */
class BenchTest {
  @TempDir Path folder;
  private final FakeProvider fake = new FakeProvider("fake");

  private record Called(int code, String out, String err) {}

  private Called call(String... args) {
    return call(List.of(fake), args);
  }

  private Called call(List<ProviderFactory> providers, String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        Main.execute(
            args,
            new CliEnvironment(
                InputStream.nullInputStream(),
                out,
                err,
                CliEnvironment.TtyStatus.NONE,
                Map.of("ISOLA_DATA", folder.resolve("data").toString()),
                providers,
                ServiceLoader.load(CommandFactory.class)));
    return new Called(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void helpAndCompletionIncludeBench() {
    assertThat(call("help").out()).contains("  bench ");
    assertThat(call("help", "bench").out()).contains("--against");
    assertThat(call("complete", "--", "bench", "--docker").out()).contains("--docker-host");
  }

  @Test
  void unknownNamesAreReportedWithTheKnownOnes() {
    assertThat(call("bench").err())
        .isEqualTo(
            "isola: no benchmark is named; known: create, warm, exec, files, flood, density, api,"
                + " soak, snapshot, fork, fork-memory, machine, peer, egress\n");
    assertThat(call("bench", "exce").err())
        .isEqualTo(
            "isola: no benchmark is named 'exce'; did you mean exec? Known: create, warm, exec,"
                + " files, flood, density, api, soak, snapshot, fork, fork-memory, machine, peer, egress\n");
    assertThat(call("bench", "exec", "--against", "rwa").err())
        .contains("no comparator is named 'rwa'; did you mean raw?");
    assertThat(call("bench", "exec", "--provider", "fkae").err())
        .contains("no provider is named 'fkae'; did you mean fake?");
    assertThat(call("bench", "exec", "fkae").err())
        .contains("no provider is named 'fkae'; did you mean fake?");
    assertThat(call("bench", "fake", "exec").err()).contains("no benchmark is named 'fake'");
    assertThat(call("bench", "density", "--count", "0").err()).contains("--count is 0");
    for (String n : new String[] {"0", "-1", "many", "1000001"}) {
      assertThat(call("bench", "exec", "--n", n).code()).as(n).isEqualTo(2);
    }
    assertThat(fake.specs).isEmpty();
  }

  /** The fake provider's sandbox has no /bin/true, so the subject is skipped. */
  @Test
  void skippedSubjectsAreReported() {
    Called called =
        call(
            "bench",
            "exec",
            "--provider",
            "fake",
            "--against",
            "processbuilder",
            "--n",
            "1",
            "--json");
    assertThat(called.code()).isZero();
    assertThat(called.out())
        .startsWith(
            "{\"results\":[{\"benchmark\":\"exec\",\"subject\":\"processbuilder\","
                + "\"concurrency\":1,\"n\":1,\"medianMs\":")
        .contains("\"ratio\":null},")
        .contains("\"absent\":[{\"subject\":\"fake\",\"reason\":\"failed in exec: ")
        .contains("\"machine\":{\"cpus\":")
        .hasLineCount(1);
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void defaultOutputIsATable() {
    Called called = call("bench", "exec", "--against", "processbuilder", "--n", "1");
    assertThat(called.out())
        .startsWith("BENCHMARK ")
        .containsPattern("exec +processbuilder +1 ")
        .containsOnlyOnce("NOT RUN: fake: failed in exec: ")
        .contains("machine: cpus ");
  }

  /**
   * Unavailable peers are reported, including those that are installed without a running engine.
   */
  @Test
  void unavailablePeersAreNotRun() {
    Called called =
        call(
            "bench",
            "create",
            "fake",
            "--against",
            "docker,docker-api",
            "--docker-host",
            "unix:///nowhere/docker.sock",
            "--n",
            "1");
    assertThat(called.code()).isEqualTo(125);
    assertThat(called.out())
        .contains(
            "NOT RUN: docker: ",
            "NOT RUN: docker-api: the engine at unix:///nowhere/docker.sock is unreachable",
            "NOT RUN: fake: failed in create: ")
        .doesNotContain("MEDIAN");
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void densityCreatesQueriesAndDestroysManySandboxes() {
    Called called =
        call(
            List.of(new TestProviderFactory(), fake), "bench", "density", "--count", "3", "--json");
    assertThat(called.code()).isZero();
    assertThat(called.out())
        .contains("\"density\":[{\"subject\":\"test\",\"count\":3,\"answered\":3,")
        .contains("\"left\":[]}]")
        .contains("{\"subject\":\"fake\",\"reason\":\"failed in density: ");
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void providerThatDoesNotForkMemoryIsNotRun() {
    Called called = call(List.of(new TestProviderFactory()), "bench", "fork-memory", "test");
    assertThat(called.code()).isEqualTo(125);
    assertThat(called.out())
        .contains(
            "NOT RUN: test: cannot run fork-memory-10: the provider does not declare"
                + " memory-forking")
        .doesNotContain("median");
  }

  /** The fake copies files only, which must not pass for forks of memory. */
  @Test
  void forksWithoutTheInterpreterFail() {
    FakeMemoryForking files = new FakeMemoryForking();
    Called called = call(List.of(files), "bench", "fork-memory", files.name(), "--n", "2");
    assertThat(called.out())
        .contains("20 of 20 answered, 0 continued")
        .contains("published by others, not measured here", "Mitos: 27 ms");
    assertThat(called.code()).isEqualTo(125);
    assertThat(files.points).hasValue(2);
    assertThat(files.open).hasValue(0);
  }

  @Test
  void creationAndDestructionAreTimedSeparately() {
    Called called =
        call(
            List.of(new TestProviderFactory()),
            "bench",
            "create",
            "test",
            "--against",
            "raw",
            "--n",
            "2");
    assertThat(called.code()).isZero();
    assertThat(called.out()).contains("create               test", "destroy              test");
  }
}
