package dev.isola.egress.http;

import dev.isola.spi.Secret;
import dev.isola.spi.spec.HttpRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/** A proxy for one host, with a rule and a secret. */
final class ProxyFixture {
  static final String HOST = "api.example";
  static final String ALLOWED = "/v1/";
  static final String VALUE = "sk-live-/+=ABCDEFGHIJKL";
  static final String PLACEHOLDER = "isola-secret-0123456789";
  static final String AUTHORIZATION = "Bearer " + VALUE;

  private static final HttpGate.Limits LIMITS =
      new HttpGate.Limits(
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          Duration.ofMillis(20));
  private static final HttpRule RULE =
      new HttpRule(
          List.of("GET", "POST", "HEAD"),
          Optional.of(ALLOWED + "*"),
          Map.of(),
          Map.of("Authorization", "Bearer ${secret.key}"));

  private static final HttpGate.Observer OBSERVER =
      new HttpGate.Observer() {
        @Override
        public void allowed(String method, String path, int status) {
          requireSecretAbsent(method + path);
        }

        @Override
        public void denied(String method, String path, String reason) {
          requireSecretAbsent(method + path + reason);
        }

        @Override
        public void failed(String reason) {
          requireSecretAbsent(reason);
        }
      };

  private ProxyFixture() {}

  /** Serves one connection to its end. */
  static void serve(MemoryConnection client, MemoryConnection server, boolean http2)
      throws IOException {
    RequestPolicy policy =
        new RequestPolicy(
            HOST,
            80,
            List.of(RULE),
            new SecretSubstitution(
                List.of(new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(VALUE), true))));
    try (ConnectionMonitor monitor = new ConnectionMonitor(LIMITS.idle())) {
      monitor.add(client);
      monitor.add(server);
      ProxiedConnection connection =
          new ProxiedConnection(
              client,
              http2,
              new ProxiedConnection.Upstream(() -> server),
              OBSERVER,
              monitor,
              LIMITS);
      if (http2) {
        new Http2Proxy(connection, policy).run();
      } else {
        new Http1Proxy(connection, policy).run();
      }
    }
  }

  /** Requires that a request, as the server understands it, is one that the rule allows. */
  static void requireAllowed(String method, String target, List<HttpField> fields) {
    require(List.of("GET", "POST", "HEAD").contains(method), "method " + method);
    require(target.startsWith(ALLOWED), "target " + target);
    require(count(fields, "authorization") == 1, "authorization is not there once");
    require(
        fields.stream().anyMatch(f -> f.is("authorization") && AUTHORIZATION.equals(f.getValue())),
        "another authorization");
  }

  static long count(List<HttpField> fields, String name) {
    return fields.stream().filter(f -> f.is(name)).count();
  }

  /**
   * Returns whether the client sends the secret itself, so that it may also get it back. A fuzzer
   * that sees comparisons with the secret learns it.
   */
  static boolean knowsSecret(byte[] input) {
    return new String(input, StandardCharsets.ISO_8859_1).contains(VALUE);
  }

  /** Requires that the client does not receive the secret as it is. */
  static void requireSecretAbsent(byte[] bytes) {
    requireSecretAbsent(new String(bytes, StandardCharsets.ISO_8859_1));
  }

  private static void requireSecretAbsent(String text) {
    require(!text.contains(VALUE), "the client receives the secret");
  }

  static void require(boolean condition, String problem) {
    if (!condition) {
      throw new AssertionError(problem);
    }
  }
}
