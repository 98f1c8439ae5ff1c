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
 * Every Host with every Origin with every key on every route of the served document. Who comes in
 * is told that the query is wrong, so that nothing is done; everybody else is not told even that.
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
     * What the right one is answered: the query is wrong, or belongs to a sandbox, and there is
     * none.
     */
    int inside() {
      return path.endsWith("/ports/8000/nobody") ? 404 : 400;
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
                                        .replaceAll("\\{[a-z]+}", "nobody"),
                                    Optional.ofNullable(RequestFuzzer.map(operation).get("x-scope"))
                                        .flatMap(word -> Scope.of(String.valueOf(word)))))));
    return rows;
  }

  @Test
  void onlyTheRightHostOriginAndKeyTogetherComeIn() throws IOException {
    try (TestServer house = new TestServer(folder)) {
      Map<String, Optional<Scope>> keys = new LinkedHashMap<>();
      keys.put("", Optional.empty());
      keys.put("isk_" + "0".repeat(64), Optional.empty());
      keys.put(house.read, Optional.of(Scope.READ));
      keys.put(house.use, Optional.of(Scope.USE));
      keys.put(house.admin, Optional.of(Scope.ADMIN));
      List<Row> rows = rows(house.client("").get("/api/v1/openapi.json").json());
      assertThat(rows).hasSameSizeAs(house.routes.nativeRoutes());
      int in = 0;
      int out = 0;
      for (Row row : rows) {
        for (Map.Entry<String, Boolean> host : HOSTS.entrySet()) {
          for (Map.Entry<String, Boolean> origin : ORIGINS.entrySet()) {
            for (Map.Entry<String, Optional<Scope>> key : keys.entrySet()) {
              boolean known = host.getValue() && origin.getValue();
              int wanted = !known ? 403 : byKey(row, key.getValue());
              int status = send(house.client(), row, host.getKey(), origin.getKey(), key.getKey());
              // Two Hosts, or none, are no HTTP at all, which is said before we are asked.
              boolean refusedEarlier = !host.getValue() && status == 400;
              if (!refusedEarlier) {
                assertThat(status)
                    .as("%s, host %s, origin %s, key %s", row, host, origin, key.getValue())
                    .isEqualTo(wanted);
              } else {
                assertThat(host.getKey()).isNotEqualTo("evil.example");
              }
              if (wanted == row.inside()) {
                in++;
              } else {
                out++;
              }
            }
          }
        }
      }
      assertThat(in).isPositive();
      assertThat(out).isGreaterThan(in);
      assertThat(house.warnings).isEmpty();
    }
  }

  private static int byKey(Row row, Optional<Scope> has) {
    if (row.needed().isEmpty()) {
      return row.inside();
    }
    if (has.isEmpty()) {
      return 401;
    }
    return has.get().allows(row.needed().get()) ? row.inside() : 403;
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
