package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.TestSite;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E2B tokens at private ports: access, failure counting, and stripping of credentials. */
class E2bPortCredentialsTest {
  private static final List<String> HEADERS = List.of("X-Access-Token", "E2b-Traffic-Access-Token");

  @TempDir Path folder;
  private TestSite site;
  private TestServer testServer;
  private TestClient.Response made;

  @BeforeEach
  void open() throws IOException {
    site = new TestSite();
    site.respondWith("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    testServer =
        E2bTestServer.open(
            folder,
            new SubprocessProviderFactory(),
            context ->
                new HttpServerOptions(
                    Optional.empty(), new RequestLimits(0, 1, 2, 0, 0), List.of(), Optional::empty),
            Map.of("shutdown", "drain"));
    made =
        testServer
            .client("")
            .send(
                "POST",
                "/v2/sandboxes",
                Map.of("X-API-KEY", testServer.admin, "Content-Type", "application/json"),
                "{\"templateID\":\"host\",\"network\":{\"allowPublicTraffic\":false}}"
                    .getBytes(UTF_8));
    assertThat(made.status()).as(made.text()).isEqualTo(201);
  }

  @AfterEach
  void close() throws IOException {
    testServer.client().delete("/api/v1/sandboxes/" + made.field("sandboxID") + "?force=true");
    testServer.close();
    site.close();
  }

  private TestClient.Response preview(Map<String, String> more) throws IOException {
    Map<String, String> headers = new HashMap<>(more);
    headers.put("E2b-Sandbox-Id", made.field("sandboxID"));
    headers.put("E2b-Sandbox-Port", Integer.toString(site.port()));
    return testServer.client("").send("GET", "/", headers, new byte[0]);
  }

  @Test
  void validTokensGrantAccessToAPrivatePortAndAreNotForwarded() throws IOException {
    assertThat(preview(Map.of()).status()).isEqualTo(403);
    List<String> tokens = List.of(made.field("envdAccessToken"), made.field("trafficAccessToken"));
    for (int i = 0; i < HEADERS.size(); i++) {
      TestClient.Response answer =
          preview(
              Map.of(HEADERS.get(i), tokens.get(i), "X-API-KEY", testServer.use, "X-Own", "yes"));
      assertThat(answer.status()).as(HEADERS.get(i) + answer.text()).isEqualTo(200);
      assertThat(site.lastHead())
          .contains("X-Own: yes")
          .doesNotContain(tokens.get(i), testServer.use, "X-API-KEY", HEADERS.get(i));
    }
  }

  @Test
  void failedTokensBlockFurtherOnesAndNoValidToken() throws IOException {
    for (String header : HEADERS) {
      assertThat(preview(Map.of(header, "wrong")).status()).as(header).isEqualTo(403);
    }
    assertThat(preview(Map.of(HEADERS.getFirst(), "wrong")).status()).isEqualTo(429);
    assertThat(preview(Map.of(HEADERS.getFirst(), made.field("envdAccessToken"))).status())
        .isEqualTo(200);
  }
}
