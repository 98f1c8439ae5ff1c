package dev.isola.integrations.springboot;

import dev.isola.client.IsolaOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the client.
 *
 * @param url of the server; {@code embedded} runs the engine in this JVM
 * @param key API key; if not set, the value of {@code ISOLA_API_KEY}
 * @param timeout of short requests
 * @param reconnectFor how long streams and terminals try to reconnect after the connection broke
 * @param attempts how often a request that is safe to retry is sent in total
 */
@ConfigurationProperties("isola")
public record IsolaProperties(
    @DefaultValue("http://127.0.0.1:7777") String url,
    @Nullable String key,
    @DefaultValue("60s") Duration timeout,
    @DefaultValue("30s") Duration reconnectFor,
    @DefaultValue("3") int attempts) {

  IsolaOptions options(String secret) {
    return IsolaOptions.of(url, secret)
        .withTimeout(timeout)
        .withReconnectFor(reconnectFor)
        .withAttempts(attempts);
  }

  /** Omits the key, because properties may be logged. */
  @Override
  public String toString() {
    return "IsolaProperties[url=" + url + ", key=***]";
  }
}
