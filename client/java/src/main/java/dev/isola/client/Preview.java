package dev.isola.client;

import java.net.URI;
import java.net.http.HttpRequest;

/**
 * A port of a sandbox as a web site, for programs. Its addresses are paths of the server, so they
 * need no name beneath {@code *.localhost} to resolve. Requests carry a token that opens the ports
 * of this sandbox and nothing else; it never reaches the sandbox.
 *
 * <pre>{@code
 * Preview preview = sandbox.ports().preview(8000, Duration.ofHours(1));
 * HttpClient.newHttpClient().send(preview.request("/health").build(), BodyHandlers.ofString());
 * }</pre>
 */
public final class Preview {
  private static final String TOKEN_HEADER = "X-Isola-Token";

  private final String prefix;
  private final int port;
  private final SandboxToken token;

  Preview(String prefix, int port, SandboxToken token) {
    this.prefix = prefix;
    this.port = port;
    this.token = token;
  }

  public int port() {
    return port;
  }

  /** Returns the credential of the requests. */
  public SandboxToken token() {
    return token;
  }

  /**
   * Returns the address of a path of the site.
   *
   * @param path path and query as in an HTTP request, such as {@code /search?q=a%20b}
   * @throws IllegalArgumentException if it does not start with a slash or is not percent-encoded
   */
  public URI uri(String path) {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("the path '" + path + "' does not start with a slash");
    }
    return URI.create(prefix + path);
  }

  /** Returns a GET request for a path of the site, with the credential. Change it as needed. */
  public HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(uri(path)).header(TOKEN_HEADER, token.token());
  }

  @Override
  public String toString() {
    return "Preview[" + prefix + "/]";
  }
}
