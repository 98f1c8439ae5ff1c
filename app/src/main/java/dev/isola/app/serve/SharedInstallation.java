package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.VersionCommand;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.engine.secret.EncryptionKeys;
import dev.isola.engine.secret.SealedScope;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.link.InstallationKey;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.store.Ledger;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.StreamSupport;

/**
 * What the servers that share a ledger have in common: the instance id of the installation, and the
 * keys of the providers whose sandboxes all of them reach. The first server provides them, the
 * others copy them to their data folders.
 */
public final class SharedInstallation {
  private static final String SCOPE = "installation";
  private static final String INSTANCE = "instance";
  private static final String PROVIDER_KEY = "provider-key/";
  private static final int MAX_HOST_NAME = 40;

  private final Config config;
  private final SealedSettings sealed;
  private final ServerIdentity identity;

  private SharedInstallation(Config config, SealedSettings sealed, ServerIdentity identity) {
    this.config = config;
    this.sealed = sealed;
    this.identity = identity;
  }

  /**
   * Joins the servers of a ledger.
   *
   * @throws dev.isola.spi.error.Conflict if the data folder belongs to another installation
   */
  static SharedInstallation join(Config config, URI url, Ledger ledger, DataFolder data) {
    SecureRandom random = new SecureRandom();
    Optional<InstanceId> existing = data.existingInstance();
    String instance =
        ledger
            .settings()
            .putIfAbsent(
                SCOPE,
                INSTANCE,
                existing.map(InstanceId::value).orElseGet(() -> SandboxId.random(random).value()));
    data.join(new InstanceId(instance));
    boolean wasAlone = existing.isPresent() && data.serverName().isEmpty();
    data.recordServerName(newName(random));
    String name = data.serverName().orElseThrow();
    if (wasAlone) {
      int _ = ledger.sandboxes().adopt(name);
    }
    EncryptionKeys keys =
        EncryptionKeys.open(
            config.get(ConfigKeys.DATA),
            config.get(ConfigKeys.SECRETS_KEY),
            config.get(ConfigKeys.SECRETS_OLD_KEY),
            System.getenv());
    return new SharedInstallation(
        config,
        new SealedSettings(ledger, keys),
        new ServerIdentity(
            name,
            UUID.randomUUID().toString(),
            url,
            VersionCommand.version(),
            config.get(ConfigKeys.SERVER_LEASE)));
  }

  /** Records the instance id of a server that has its ledger to itself, for servers that join. */
  static void record(Ledger ledger, DataFolder data) {
    String _ = ledger.settings().putIfAbsent(SCOPE, INSTANCE, data.instance().value());
  }

  /** Returns the instance id of the servers that have used a ledger in PostgreSQL. */
  public static Optional<InstanceId> recorded(Ledger ledger) {
    return ledger.settings().get(SCOPE, INSTANCE).map(InstanceId::new);
  }

  /** Records another instance id, for a ledger that was restored as a copy. */
  public static void replace(Ledger ledger, InstanceId instance) {
    ledger.settings().put(SCOPE, INSTANCE, instance.value());
  }

  /** Returns whether a server has used a ledger in PostgreSQL. */
  public static boolean isRecorded(Ledger ledger) {
    return ledger.settings().get(SCOPE, INSTANCE).isPresent();
  }

  private static String newName(SecureRandom random) {
    byte[] suffix = new byte[4];
    random.nextBytes(suffix);
    return hostName() + "-" + HexFormat.of().formatHex(suffix);
  }

  private static String hostName() {
    try {
      String name =
          InetAddress.getLocalHost()
              .getHostName()
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^a-z0-9-]", "-");
      return name.substring(0, Math.min(name.length(), MAX_HOST_NAME));
    } catch (UnknownHostException e) {
      return "server";
    }
  }

  ServerIdentity identity() {
    return identity;
  }

  /**
   * Gives a provider the key of the other servers, if all of them reach its sandboxes.
   *
   * @param name the name of the provider's folder
   */
  void shareKey(Iterable<ProviderFactory> factories, String name, Path folder) {
    String instance = name.substring(name.lastIndexOf('/') + 1);
    String type =
        Optional.ofNullable(config.providers().get(instance))
            .map(ProviderSettings::type)
            .orElse(instance);
    boolean shared =
        StreamSupport.stream(factories.spliterator(), false)
            .anyMatch(factory -> factory.name().equals(type) && factory.profile().shared());
    if (shared) {
      InstallationKey.share(
          folder,
          offered ->
              sealed.putIfAbsent(SealedScope.INSTALLATION, PROVIDER_KEY + instance, offered));
    }
  }
}
