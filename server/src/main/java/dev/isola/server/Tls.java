package dev.isola.server;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A TLS certificate with its chain and private key. */
public final class Tls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private final KeyStore store;
  private final boolean plainToo;

  private Tls(KeyStore store, boolean plainToo) {
    this.store = store;
    this.plainToo = plainToo;
  }

  /**
   * Returns a copy that also allows plain HTTP on the same port; the first byte of a connection
   * tells the protocols apart.
   */
  public Tls allowPlaintext(boolean allowed) {
    return new Tls(store, allowed);
  }

  boolean allowsPlaintext() {
    return plainToo;
  }

  /**
   * Loads the configured certificate; empty if none is configured.
   *
   * @throws dev.isola.spi.error.InvalidRequest when only one file is configured, or a file is not
   *     usable
   */
  public static Optional<Tls> of(Optional<Path> certificate, Optional<Path> key) {
    if (certificate.isEmpty() && key.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || key.isEmpty()) {
      throw invalid(
          "server.tls.cert and server.tls.key must be set together", "set both or neither", null);
    }
    Certificate[] chain = chain(certificate.get());
    PrivateKey secret = key(key.get(), chain[0]);
    try {
      return Optional.of(new Tls(store(chain, secret), false));
    } catch (GeneralSecurityException | IOException e) {
      throw invalid(
          key.get() + " and the certificate cannot be used together", "check both files", e);
    }
  }

  /**
   * Returns a certificate with its key.
   *
   * @param chain the certificate of the server, followed by those of its issuers
   */
  public static Tls of(List<? extends Certificate> chain, PrivateKey key) {
    try {
      return new Tls(store(chain.toArray(new Certificate[0]), key), false);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("the certificate and its key cannot be used together", e);
    }
  }

  private static Certificate[] chain(Path file) {
    try {
      Certificate[] chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(read(file)))
              .toArray(new Certificate[0]);
      if (chain.length > 0) {
        return chain;
      }
    } catch (GeneralSecurityException e) {
      throw invalid(
          file + " is not a PEM certificate",
          "use a PEM file with the certificate followed by its chain",
          e);
    }
    throw invalid(
        file + " contains no certificate",
        "use a PEM file with the certificate followed by its chain",
        null);
  }

  private static PrivateKey key(Path file, Certificate certificate) {
    Matcher found = KEY.matcher(new String(read(file), StandardCharsets.ISO_8859_1));
    String remedy =
        "convert it to unencrypted PKCS #8: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW";
    if (!found.find()) {
      throw invalid(file + " contains no readable private key", remedy, null);
    }
    try {
      PrivateKey key =
          KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
              .generatePrivate(
                  new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(1))));
      if (isKeyPair(certificate.getPublicKey(), key)) {
        return key;
      }
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw invalid(file + " is not a private key of the certificate's type", remedy, e);
    }
    throw invalid(
        file + " does not match the certificate", "use the private key of the certificate", null);
  }

  /**
   * Returns whether the private key belongs to the public key, by signing and verifying; otherwise
   * every handshake would fail later.
   */
  private static boolean isKeyPair(PublicKey open, PrivateKey secret)
      throws GeneralSecurityException {
    String algorithm =
        switch (secret.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> secret.getAlgorithm();
        };
    byte[] text = "isola".getBytes(StandardCharsets.UTF_8);
    Signature signing = Signature.getInstance(algorithm);
    signing.initSign(secret);
    signing.update(text);
    Signature checking = Signature.getInstance(algorithm);
    checking.initVerify(open);
    checking.update(text);
    return checking.verify(signing.sign());
  }

  private static KeyStore store(Certificate[] chain, PrivateKey key)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("isola", key, new char[0], chain);
    return store;
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw invalid(file + " cannot be read", "check its path and permissions", e);
    }
  }

  private static SandboxException invalid(
      String what, String remedy, @org.jspecify.annotations.Nullable Exception cause) {
    Fault fault = Fault.of(ErrorCode.INVALID_REQUEST, what, remedy);
    return cause == null ? fault.exception() : fault.exception(cause);
  }

  /** Replaces the certificate of a running server; open connections are not affected. */
  void replaceIn(SslContextFactory.Server factory) throws Exception {
    factory.reload(running -> running.setKeyStore(store));
  }

  SslContextFactory.Server factory() {
    SslContextFactory.Server factory = new SslContextFactory.Server();
    factory.setKeyStore(store);
    factory.setKeyStorePassword("");
    factory.setIncludeProtocols("TLSv1.3", "TLSv1.2");
    return factory;
  }
}
