package dev.isola.dashboard;

import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Serves the dashboard at {@code /ui}. The page and its files are the same for everyone and need no
 * key; what they show comes from the API.
 */
public final class DashboardApi implements ApiExtension {
  /** The path of the page. */
  static final String PAGE = "/ui";

  /** What the paths of all files begin with. */
  static final String FILES = "/ui/";

  /** A worker has the policy of its own file: it may follow the streams of this server. */
  private static final String FILE_POLICY = "default-src 'none'; connect-src 'self'";

  private static final Shape NAME = new Shape.NonEmptyText(64);

  private final Assets assets = new Assets();
  private final Page page = new Page(assets.build());

  @Override
  public List<Route> routes() {
    return List.of(
        Route.of("GET", PAGE, "dashboard", "Displays the dashboard.")
            .withoutKey()
            .answers(Route.Response.of("text/html", "a page"))
            .handledBy(this::page),
        Route.of("GET", FILES + "{build}/{file}", "dashboardFile", "A file of the dashboard.")
            .withoutKey()
            .takes(
                Parameter.path("build", NAME, "the build of the dashboard"),
                Parameter.path("file", NAME, "the name of a file"))
            .answers(Route.Response.of("application/octet-stream", "a file"))
            .handledBy(this::file));
  }

  private void page(Exchange exchange) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put(
        "Content-Security-Policy", page.policy(exchange.header("Host").orElse("localhost")));
    headers.put("Referrer-Policy", "no-referrer");
    headers.put("Cross-Origin-Opener-Policy", "same-origin");
    send(exchange, "text/html; charset=utf-8", page.content(), headers);
  }

  private void file(Exchange exchange) throws IOException {
    Asset asset =
        assets
            .find(exchange.path("build"), exchange.path("file"))
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.ROUTE_NOT_FOUND,
                            "this build of the dashboard has no such file",
                            "load the page again")
                        .exception());
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Cache-Control", "public, max-age=31536000, immutable");
    headers.put("Cross-Origin-Resource-Policy", "same-origin");
    headers.put("Content-Security-Policy", FILE_POLICY);
    headers.put("Vary", "Accept-Encoding");
    if (acceptsGzip(exchange)) {
      headers.put("Content-Encoding", "gzip");
      send(exchange, asset.mediaType(), asset.compressed(), headers);
    } else {
      send(exchange, asset.mediaType(), asset.content(), headers);
    }
  }

  private static boolean acceptsGzip(Exchange exchange) {
    return exchange
        .header("Accept-Encoding")
        .filter(accepted -> accepted.toLowerCase(Locale.ROOT).contains("gzip"))
        .isPresent();
  }

  private static void send(
      Exchange exchange, String mediaType, byte[] content, Map<String, String> headers)
      throws IOException {
    headers.put("Content-Length", Integer.toString(content.length));
    try (OutputStream out = exchange.begin(200, mediaType, headers)) {
      out.write(content);
    }
  }

  @Override
  public Optional<String> home() {
    return Optional.of(PAGE);
  }
}
