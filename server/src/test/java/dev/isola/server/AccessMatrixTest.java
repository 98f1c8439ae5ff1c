package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.auth.Scope;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Combines every Host, Origin and key on every route of the OpenAPI document. An accepted request
 * fails because of its invalid query, so that it has no effect; a rejected request does not get
 * that far.
 */
class AccessMatrixTest {
  private static final Map<String, Boolean> HOSTS = new LinkedHashMap<>();
  private static final Map<String, Boolean> ORIGINS = new LinkedHashMap<>();

  static {
    HOSTS.put("localhost", true);
    HOSTS.put("isola.example:443", true);
    HOSTS.put("evil.example", false);
    HOSTS.put("localhost\r\nHost: evil.example", false);
    HOSTS.put("evil.example\r\nHost: localhost", false);
    HOSTS.put("", false);
    ORIGINS.put("", true);
    ORIGINS.put("http://localhost:3000", true);
    ORIGINS.put("https://isola.example", true);
    ORIGINS.put("http://evil.example", false);
    ORIGINS.put("null", false);
    ORIGINS.put("http://localhost\r\nOrigin: http://evil.example", false);
  }

  @TempDir Path folder;

  private record Row(String method, String path, Optional<Scope> needed) {
    /**
     * Returns the status of an accepted request: the query is invalid or, for a preview, the
     * sandbox does not exist.
     */
    int acceptedStatus() {
      return path.endsWith("/ports/8000/missing") ? 404 : 400;
    }
  }

  private static List<Row> rows(Map<String, Object> document) {
    List<Row> rows = new ArrayList<>();
    RequestFuzzer.map(document.get("paths"))
        .forEach(
            (template, methods) ->
                RequestFuzzer.map(methods)
                    .forEach(
                        (method, operation) ->
                            rows.add(
                                new Row(
                                    String.valueOf(method).toUpperCase(Locale.ROOT),
                                    String.valueOf(template)
                                        .replace("{port}", "8000")
                                        .replaceAll("\\{[a-z]+}", "missing"),
                                    Optional.ofNullable(RequestFuzzer.map(operation).get("x-scope"))
                                        .flatMap(word -> Scope.of(String.valueOf(word)))))));
    return rows;
  }

  @Test
  void requestNeedsValidHostOriginAndKey() throws IOException {
    try (TestServer testServer = new TestServer(folder)) {
      Map<String, Optional<Scope>> keys = new LinkedHashMap<>();
      keys.put("", Optional.empty());
      keys.put("isk_" + "0".repeat(64), Optional.empty());
      keys.put(testServer.read, Optional.of(Scope.READ));
      keys.put(testServer.use, Optional.of(Scope.USE));
      keys.put(testServer.admin, Optional.of(Scope.ADMIN));
      Map<String, Optional<Scope>> outermost = new LinkedHashMap<>(keys);
      outermost.keySet().retainAll(List.of("", testServer.admin));
      List<Row> rows = rows(testServer.client("").get("/api/v1/openapi.json").json());
      assertThat(rows).hasSameSizeAs(testServer.routes.nativeRoutes());
      int in = 0;
      int rejected = 0;
      for (Row row : rows) {
        for (Map.Entry<String, Boolean> host : HOSTS.entrySet()) {
          for (Map.Entry<String, Boolean> origin : ORIGINS.entrySet()) {
            boolean known = host.getValue() && origin.getValue();
            // What is refused to the admin for its host or origin is refused to lesser keys.
            for (Map.Entry<String, Optional<Scope>> key : (known ? keys : outermost).entrySet()) {
              int expected = !known ? 403 : expectedStatus(row, key.getValue());
              int status =
                  send(testServer.client(), row, host.getKey(), origin.getKey(), key.getKey());
              // Several Host headers, or none, are invalid HTTP and are rejected by Jetty.
              boolean refusedEarlier = !host.getValue() && status == 400;
              if (!refusedEarlier) {
                assertThat(status)
                    .as("%s, host %s, origin %s, key %s", row, host, origin, key.getValue())
                    .isEqualTo(expected);
              } else {
                assertThat(host.getKey()).isNotEqualTo("evil.example");
              }
              if (expected == row.acceptedStatus()) {
                in++;
              } else {
                rejected++;
              }
            }
          }
        }
      }
      assertThat(in).isPositive();
      assertThat(rejected).isGreaterThan(in);
      assertThat(testServer.warnings).isEmpty();
    }
  }

  private static int expectedStatus(Row row, Optional<Scope> has) {
    if (row.needed().isEmpty()) {
      return row.acceptedStatus();
    }
    if (has.isEmpty()) {
      return 401;
    }
    return has.get().allows(row.needed().get()) ? row.acceptedStatus() : 403;
  }

  private static int send(TestClient client, Row row, String host, String origin, String key)
      throws IOException {
    StringBuilder head =
        new StringBuilder(row.method() + " " + row.path() + "?nosuch=1 HTTP/1.1\r\n");
    head.append("Host: ").append(host).append("\r\nConnection: close\r\nContent-Length: 0\r\n");
    if (!origin.isEmpty()) {
      head.append("Origin: ").append(origin).append("\r\n");
    }
    if (!key.isEmpty()) {
      head.append("Authorization: Bearer ").append(key).append("\r\n");
    }
    try (TestClient.OpenResponse open =
        client.raw(head.append("\r\n").toString().getBytes(ISO_8859_1))) {
      return open.status();
    }
  }
}
