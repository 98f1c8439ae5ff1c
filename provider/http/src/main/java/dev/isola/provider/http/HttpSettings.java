package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendAddress;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderSetting;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The settings of the provider.
 *
 * @param address of the backend; the provider is unhealthy without it
 * @param key sent as a bearer token
 * @param ca a PEM file of the certificates that sign the backend's; those of the JDK if empty
 * @param identity the client certificate
 * @param provider which of several kinds of sandboxes of the backend to use
 */
record HttpSettings(
    Optional<BackendAddress> address,
    Optional<Secret> key,
    Optional<Path> ca,
    Optional<ClientIdentity> identity,
    Optional<String> provider) {
  static final String NAME = "http";

  static final List<ProviderSetting> DECLARED = List.of(ProviderSetting.secret("key"));

  /** The PEM files of a client certificate and its private key. */
  record ClientIdentity(Path certificate, Path key) {}

  static HttpSettings of(ProviderConfig config) {
    Optional<Path> certificate = path(config, "certificate");
    Optional<Path> certificateKey = path(config, "certificate_key");
    if (certificate.isPresent() != certificateKey.isPresent()) {
      throw invalid("certificate", "needs certificate_key, and the other way round", "set both");
    }
    return new HttpSettings(
        value(config, "url").map(HttpSettings::address),
        value(config, "key").map(HttpSettings::key),
        path(config, "ca"),
        certificate.map(file -> new ClientIdentity(file, certificateKey.orElseThrow())),
        value(config, "provider"));
  }

  private static BackendAddress address(String text) {
    try {
      return BackendAddress.of(text);
    } catch (IllegalArgumentException e) {
      throw invalid("url", "is not valid", "use a URL such as https://sandboxes.example:8900");
    }
  }

  /** The message does not contain the key. */
  private static Secret key(String text) {
    if (!text.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw invalid("key", "contains a character that a header cannot have", "use another key");
    }
    return Secret.of(text);
  }

  private static Optional<String> value(ProviderConfig config, String name) {
    return config.get(name).map(String::strip).filter(text -> !text.isEmpty());
  }

  private static Optional<Path> path(ProviderConfig config, String name) {
    try {
      return value(config, name).map(Path::of);
    } catch (InvalidPathException e) {
      throw invalid(name, "is not a path", "use the path of a PEM file");
    }
  }

  static SandboxException invalid(String name, String what, String remedy) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the setting " + name + " of provider " + NAME + " " + what,
            remedy)
        .exception();
  }
}
