package dev.isola.provider.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Creates a TLS context from PEM files. */
final class PemFiles {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = new char[0];

  private PemFiles() {}

  /**
   * Returns the context of the settings; empty if they leave everything to the JDK.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming the setting whose file is not usable
   */
  static Optional<SSLContext> context(HttpSettings settings) {
    if (settings.ca().isEmpty() && settings.identity().isEmpty()) {
      return Optional.empty();
    }
    String setting = "ca";
    try {
      TrustManager[] trusted =
          settings.ca().isPresent() ? trusted(certificates(settings.ca().get())) : null;
      setting = "certificate";
      KeyManager[] own = settings.identity().isPresent() ? own(settings.identity().get()) : null;
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own, trusted, null);
      return Optional.of(context);
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw HttpSettings.invalid(
          setting,
          "is not usable: " + e.getClass().getSimpleName() + " " + e.getMessage(),
          "use PEM files; the private key as PKCS #8 without a password");
    }
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> found =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
    if (found.isEmpty()) {
      throw new IOException("no certificate in " + file);
    }
    return found;
  }

  private static TrustManager[] trusted(Collection<? extends Certificate> authorities)
      throws IOException, GeneralSecurityException {
    KeyStore store = emptyStore();
    int count = 0;
    for (Certificate authority : authorities) {
      store.setCertificateEntry("ca" + count++, authority);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static KeyManager[] own(HttpSettings.ClientIdentity identity)
      throws IOException, GeneralSecurityException {
    KeyStore store = emptyStore();
    store.setKeyEntry(
        "client",
        privateKey(identity.key()),
        NO_PASSWORD,
        certificates(identity.certificate()).toArray(Certificate[]::new));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
    Matcher pem = KEY.matcher(Files.readString(file));
    if (!pem.find()) {
      throw new IOException("no PRIVATE KEY in " + file);
    }
    PKCS8EncodedKeySpec encoded =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
    for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException e) {
        // Of another algorithm.
      }
    }
    throw new IOException("the key in " + file + " is neither EC nor RSA nor EdDSA");
  }

  private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }
}
