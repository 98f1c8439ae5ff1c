package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class UnixHttpTest {
  private static final String CHUNKS =
      String.join("\r\n", "5;x=y", "hello", "a", ", everyone", "0", "", "");

  private static UnixHttp.Answer ask(String answer) throws IOException {
    try (FakeEngine engine = new FakeEngine(line -> answer);
        UnixHttp http = UnixHttp.connect(engine.socket())) {
      return http.ask("GET", "/x", "");
    }
  }

  @Test
  void readsABodyByItsLengthInChunksOrToTheEnd() throws IOException {
    assertThat(ask("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
        .isEqualTo(new UnixHttp.Answer(200, "hello"));
    assertThat(ask("HTTP/1.1 201 Created\r\ntransfer-encoding: CHUNKED\r\n\r\n" + CHUNKS))
        .isEqualTo(new UnixHttp.Answer(201, "hello, everyone"));
    assertThat(ask("HTTP/1.0 200 OK\r\n\r\nall there is"))
        .isEqualTo(new UnixHttp.Answer(200, "all there is"));
    assertThat(ask("HTTP/1.1 204 No Content\r\n\r\n")).isEqualTo(new UnixHttp.Answer(204, ""));
  }

  @Test
  void keepsTheConnectionUnlessItWasClosed() throws IOException {
    try (FakeEngine engine =
            new FakeEngine(
                line ->
                    line.endsWith("last")
                        ? "HTTP/1.0 200 OK\r\n\r\nbye"
                        : FakeEngine.answer(200, "x"));
        UnixHttp http = UnixHttp.connect(engine.socket())) {
      http.ask("GET", "/first", "");
      http.ask("POST", "/second", "{\"a\":1}");
      assertThat(http.ended()).isFalse();
      http.ask("GET", "/last", "");
      assertThat(http.ended()).isTrue();
      assertThat(engine.requests).containsExactly("GET /first", "POST /second", "GET /last");
      assertThat(engine.connections).hasSize(1);
    }
  }

  @Test
  void whatIsNoAnswerIsAnError() {
    assertThatThrownBy(() -> ask("SSH-2.0-x\r\n\r\n")).hasMessageContaining("does not speak HTTP");
    assertThatThrownBy(() -> ask("HTTP/1.1 abc\r\n\r\n")).hasMessageContaining("not speak HTTP");
    assertThatThrownBy(() -> ask("HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nshort"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed in the middle");
    assertThatThrownBy(() -> ask("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"))
        .hasMessageContaining("length of '-1'");
    assertThatThrownBy(() -> ask("HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n"))
        .hasMessageContaining("longer than");
    assertThatThrownBy(() -> ask("HTTP/1.1 200 OK\r\nX: " + "x".repeat(9000) + "\r\n\r\n"))
        .hasMessageContaining("a line longer than");
    assertThatThrownBy(() -> UnixHttp.connect(Path.of("/nowhere/s")))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("nobody answers on /nowhere/s");
  }
}
