package dev.isola.dashboard;

import dev.isola.codec.digest.Sha256;
import dev.isola.server.auth.HostOriginFilter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * The page that loads everything else. Its content security policy allows the files of this build,
 * requests to this server, previews in frames, and no inline script or style.
 */
final class Page {
  private final String html;
  private final String importMapHash;

  Page(String build) {
    html =
        new String(Asset.bytes("web/index.html"), StandardCharsets.UTF_8).replace("{build}", build);
    String open = "<script type=\"importmap\">";
    int from = html.indexOf(open) + open.length();
    byte[] map =
        html.substring(from, html.indexOf("</script>", from)).getBytes(StandardCharsets.UTF_8);
    importMapHash = Base64.getEncoder().encodeToString(Sha256.of(map));
  }

  byte[] content() {
    return html.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the content security policy.
   *
   * @param host the Host header, which names this server
   */
  String policy(String host) {
    String files = host + DashboardApi.FILES;
    return String.join(
        "; ",
        "default-src 'none'",
        "script-src " + files + " 'sha256-" + importMapHash + "'",
        "worker-src " + files,
        "style-src " + files,
        "font-src " + files,
        "img-src " + files + " blob: data:",
        "connect-src 'self'",
        "frame-src 'self' blob: *." + HostOriginFilter.previewDomain(host),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'");
  }
}
