package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Unavailable or failing peers are reported with the reason and have no results. */
class PeersTest {
  private final List<SkippedSubject> skippedSubjects = new ArrayList<>();

  /** Responds like an engine whose commands exit with {@code code}. */
  private static String engine(String request, int code) {
    String path = request.replaceAll("[?].*", "");
    return switch (path) {
      case "GET /version" -> FakeEngine.answer(200, "{\"Platform\":{},\"Version\":\"20.10\"}");
      case "GET /images/box/json" -> FakeEngine.answer(200, "{}");
      case "POST /containers/create" -> FakeEngine.answer(201, "{\"Id\":\"c0ffee\"}");
      case "POST /containers/c0ffee/start", "DELETE /containers/c0ffee" ->
          "HTTP/1.1 204 No Content\r\n\r\n";
      case "POST /containers/c0ffee/wait" ->
          FakeEngine.answer(200, "{\"Error\":null,\"StatusCode\":" + code + "}");
      case "POST /containers/c0ffee/exec" -> FakeEngine.answer(201, "{\"Id\":\"e1\"}");
      case "POST /exec/e1/start" -> "HTTP/1.0 200 OK\r\n\r\n";
      case "GET /exec/e1/json" -> FakeEngine.answer(200, "{\"ExitCode\": " + code + "}");
      default -> FakeEngine.answer(404, "{\"message\":\"no such thing\"}");
    };
  }

  private static BenchPlan.Engines at(FakeEngine engine, String image) {
    return new BenchPlan.Engines("unix://" + engine.socket(), image);
  }

  private List<Result> play(List<BenchSubject> subjects) throws InterruptedException {
    return new Benchmark("work", "none", 1, 2, 1, 1, subjects, "after").run(skippedSubjects);
  }

  @Test
  void apiCreationIsTimedSeparatelyFromRemoval() throws IOException, InterruptedException {
    try (FakeEngine engine = new FakeEngine(request -> engine(request, 0))) {
      DockerApi api = DockerApi.open(at(engine, "box"));
      assertThat(api.version()).isEqualTo("engine 20.10");
      assertThat(play(api.createSubjects()))
          .extracting(result -> result.benchmark() + " " + result.subject() + " " + result.n())
          .containsExactly("work docker-api run 2", "after docker-api run 2");
      assertThat(play(api.execSubjects())).extracting(Result::n).containsExactly(2);
      assertThat(skippedSubjects).isEmpty();
      api.close();
      assertThat(engine.requests).last().isEqualTo("DELETE /containers/c0ffee?force=1&v=1");
      assertThat(engine.requests.stream().filter(request -> request.startsWith("DELETE")))
          .hasSize(4);
    }
  }

  @Test
  void failedCommandHasNoResult() throws IOException, InterruptedException {
    try (FakeEngine engine = new FakeEngine(request -> engine(request, 1));
        DockerApi api = DockerApi.open(at(engine, "box"))) {
      assertThat(play(api.createSubjects())).isEmpty();
      assertThat(play(api.execSubjects())).isEmpty();
      assertThat(skippedSubjects)
          .containsExactly(
              new SkippedSubject("docker-api run", "failed in work: true exited with 1"),
              new SkippedSubject("docker-api exec", "failed in work: true exited with 1"));
    }
  }

  @Test
  void unreachableEngineIsReported() throws IOException {
    assertThatThrownBy(() -> DockerApi.open(new BenchPlan.Engines("unix:///nowhere/s", "box")))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("the engine at unix:///nowhere/s is unreachable");
    assertThatThrownBy(() -> DockerApi.open(new BenchPlan.Engines("tcp://127.0.0.1:1", "box")))
        .hasMessageContaining("only an engine on a unix socket");
    try (FakeEngine engine = new FakeEngine(request -> engine(request, 0))) {
      assertThatThrownBy(() -> DockerApi.open(at(engine, "nosuch")))
          .hasMessageContaining("404")
          .hasMessageContaining("no such thing");
    }
  }

  @Test
  void fieldsOfResponsesAreParsed() throws IOException {
    assertThat(DockerApi.field("{\"Id\":\"abc\",\"Warnings\":[]}", "Id")).isEqualTo("abc");
    assertThat(DockerApi.field("{ \"StatusCode\" : -7 }", "StatusCode")).isEqualTo("-7");
    assertThatThrownBy(() -> DockerApi.field("{\"Running\":true}", "ExitCode"))
        .hasMessageContaining("has no field ExitCode");
  }

  @Test
  void failedProgramReportsItsOutput() throws IOException, InterruptedException {
    LocalProgram.run(Map.of("GREETING", "x"), List.of("sh", "-c", "test $GREETING = x"));
    assertThatThrownBy(
            () -> LocalProgram.run(Map.of(), List.of("sh", "-c", "echo no room >&2; exit 3")))
        .isInstanceOf(IOException.class)
        .hasMessage("sh exited with 3: no room");
    assertThatThrownBy(() -> LocalProgram.run(Map.of(), List.of("isola-no-such-program")))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> LocalProgram.requireInstalled("isola-no-such-program"))
        .hasMessage("not installed");
    assertThatThrownBy(() -> LocalProgram.cleanUp(Map.of(), List.of("false")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("something remains");
  }

  /** {@code run --detach} of a runtime leaves a process that holds the output pipe. */
  @Test
  void outputOfBackgroundProcessesIsNotAwaited() throws IOException, InterruptedException {
    LocalProgram.run(Map.of(), List.of("sh", "-c", "sleep 5 & exit 0"));
    assertThatThrownBy(
            () -> LocalProgram.run(Map.of(), List.of("sh", "-c", "echo why; sleep 5 & exit 9")))
        .hasMessage("sh exited with 9: why");
  }
}
