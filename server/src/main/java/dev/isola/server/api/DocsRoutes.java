package dev.isola.server.api;

import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Serves a page that displays the OpenAPI document. The page is a single file, and its content
 * security policy allows no other resource.
 */
final class DocsRoutes {
  private final byte[] page;
  private final String policy;

  DocsRoutes() {
    page = read();
    String text = new String(page, StandardCharsets.UTF_8);
    policy =
        "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'; script-src '"
            + hash(between(text, "<script>", "</script>"))
            + "'; style-src '"
            + hash(between(text, "<style>", "</style>"))
            + "'";
  }

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/api/v1/docs", "docs", "Displays this document as an HTML page.")
            .withoutKey()
            .answers(Response.of("text/html", "a page without external resources"))
            .handledBy(this::show));
  }

  private void show(Exchange exchange) throws IOException {
    try (OutputStream out =
        exchange.begin(
            200,
            "text/html; charset=utf-8",
            Map.of(
                "Content-Length",
                Integer.toString(page.length),
                "Content-Security-Policy",
                policy,
                "Referrer-Policy",
                "no-referrer"))) {
      out.write(page);
    }
  }

  private static byte[] read() {
    try (InputStream in = DocsRoutes.class.getResourceAsStream("docs.html")) {
      if (in == null) {
        throw new IllegalStateException("docs.html is not in this build");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String between(String text, String begin, String end) {
    int from = text.indexOf(begin) + begin.length();
    return text.substring(from, text.indexOf(end, from));
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is not available", e);
    }
  }
}
