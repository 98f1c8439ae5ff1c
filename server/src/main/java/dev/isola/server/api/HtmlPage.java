package dev.isola.server.api;

import dev.isola.codec.digest.Sha256;
import dev.isola.server.route.Exchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A page in a single file. Its content security policy allows its own script and style by their
 * hashes, requests to this server, and nothing else.
 */
final class HtmlPage {
  private final byte[] page;
  private final String policy;

  /**
   * Reads a page.
   *
   * @param name a file next to this class
   * @param version the version of Isola, which replaces {@code {version}} outside of its script
   */
  HtmlPage(String name, String version) {
    String text = read(name).replace("{version}", escaped(version));
    page = text.getBytes(StandardCharsets.UTF_8);
    policy =
        "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'"
            + source(text, "script")
            + source(text, "style");
  }

  void send(Exchange exchange) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Length", Integer.toString(page.length));
    headers.put("Content-Security-Policy", policy);
    headers.put("Referrer-Policy", "no-referrer");
    try (OutputStream out = exchange.begin(200, "text/html; charset=utf-8", headers)) {
      out.write(page);
    }
  }

  private static String read(String name) {
    try (InputStream in = HtmlPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is not in this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }

  /** Returns the directive for an inline element; empty if the page has none. */
  private static String source(String text, String tag) {
    int start = text.indexOf("<" + tag);
    if (start < 0) {
      return "";
    }
    int from = text.indexOf('>', start) + 1;
    String inside = text.substring(from, text.indexOf("</" + tag + ">", from));
    return "; " + tag + "-src '" + hash(inside) + "'";
  }

  private static String hash(String text) {
    return "sha256-" + Base64.getEncoder().encodeToString(Sha256.of(text));
  }
}
