package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.LedgerConfig;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Determines the location of the ledger from the configuration. Error messages never contain the
 * URL, which may hold a password.
 */
public final class LedgerLocation {
  /** The folder of a SQLite ledger in the data folder. */
  public static final String FOLDER = "ledger";

  private LedgerLocation() {}

  public static LedgerConfig of(Config config, DataFolder data) {
    Optional<Secret> url = config.get(ConfigKeys.STORE_URL);
    LedgerConfig ledger =
        url.isEmpty()
            ? LedgerConfig.sqlite(data.createIfMissing().resolve(FOLDER))
            : of(new String(url.get().reveal(), StandardCharsets.UTF_8));
    return config.get(ConfigKeys.SERVER_PEER_URL).isEmpty() ? ledger : shared(ledger);
  }

  /**
   * Returns the location of the ledger in PostgreSQL, for one process that no server may run
   * beside.
   *
   * @throws java.util.NoSuchElementException if the configuration names none
   */
  public static LedgerConfig ofOneServer(Config config) {
    return of(
        new String(
            config.get(ConfigKeys.STORE_URL).orElseThrow().reveal(), StandardCharsets.UTF_8));
  }

  private static LedgerConfig shared(LedgerConfig ledger) {
    if (ledger.location() instanceof LedgerConfig.Server server) {
      return new LedgerConfig(server.asShared(), ledger.deadline(), ledger.keyRetention());
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "server.peer_url is set, but several servers cannot share a SQLite ledger",
            "set store.url to a PostgreSQL database, or remove server.peer_url")
        .exception();
  }

  static LedgerConfig of(String url) {
    String plain = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
    if (plain.startsWith("sqlite:")) {
      return LedgerConfig.sqlite(Path.of(plain.substring("sqlite:".length())).toAbsolutePath());
    }
    try {
      URI uri = new URI(plain);
      String[] user =
          uri.getRawUserInfo() == null ? new String[] {""} : uri.getRawUserInfo().split(":", 2);
      if (uri.getHost() == null) {
        throw new URISyntaxException("", "no host");
      }
      String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
      String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
      return LedgerConfig.postgres(
          "jdbc:postgresql://" + uri.getHost() + port + uri.getRawPath() + query,
          decoded(user[0]),
          Secret.of(user.length > 1 ? decoded(user[1]) : ""));
    } catch (URISyntaxException | IllegalArgumentException e) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "store.url is not a PostgreSQL URL",
              "use postgresql://USER:PASSWORD@HOST:PORT/DATABASE")
          .exception(); // without the cause, whose message contains the URL
    }
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
