package dev.isola.client;

import dev.isola.client.error.Problem;
import java.net.URI;
import java.time.Duration;

/**
 * Connection options of a client.
 *
 * @param url of the server; http or https
 * @param key API key
 * @param timeout of short requests
 * @param reconnectFor how long streams and terminals try to reconnect after the connection broke
 * @param attempts how often a request that is safe to retry is sent in total
 */
public record IsolaOptions(
    URI url, String key, Duration timeout, Duration reconnectFor, int attempts) {

  public IsolaOptions {
    if (attempts < 1) {
      throw new IllegalArgumentException("attempts is " + attempts);
    }
  }

  /**
   * Returns default options.
   *
   * @throws dev.isola.client.error.InvalidRequest if the URL or the key is malformed
   */
  public static IsolaOptions of(String url, String key) {
    return new IsolaOptions(
        parseUrl(url), checkKey(key), Duration.ofSeconds(60), Duration.ofSeconds(30), 3);
  }

  private static URI parseUrl(String url) {
    try {
      URI uri = URI.create(url.strip().replaceAll("/+$", ""));
      String scheme = uri.getScheme();
      if (("http".equals(scheme) || "https".equals(scheme))
          && uri.getHost() != null
          && uri.getUserInfo() == null
          && uri.getQuery() == null
          && uri.getFragment() == null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    throw Problem.clientSide(
            "INVALID_REQUEST",
            "'" + url + "' is not a valid server URL",
            "use a URL such as http://127.0.0.1:7777")
        .exception();
  }

  private static String checkKey(String key) {
    if (key.isEmpty() || !key.chars().allMatch(c -> c > 0x20 && c < 0x7f)) {
      throw Problem.clientSide(
              "INVALID_REQUEST",
              key.isEmpty() ? "the API key is empty" : "the API key contains invalid characters",
              "use a key of the server, without spaces or line breaks")
          .exception();
    }
    return key;
  }

  public IsolaOptions withTimeout(Duration time) {
    return new IsolaOptions(url, key, time, reconnectFor, attempts);
  }

  public IsolaOptions withReconnectFor(Duration time) {
    return new IsolaOptions(url, key, timeout, time, attempts);
  }

  public IsolaOptions withAttempts(int count) {
    return new IsolaOptions(url, key, timeout, reconnectFor, count);
  }

  /** Omits the key, because options may be logged. */
  @Override
  public String toString() {
    return "IsolaOptions[url=" + url + ", key=***]";
  }
}
