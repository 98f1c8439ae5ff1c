package dev.isola.codec.x509;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
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
import org.jspecify.annotations.Nullable;

/** Creates TLS contexts from certificates and keys in PEM. */
public final class PemTls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN ((?:RSA |EC )?)PRIVATE KEY-----([^-]+)-----END");
  private static final String RSA = "1.2.840.113549.1.1.1";
  private static final String ELLIPTIC_CURVE = "1.2.840.10045.2.1";
  private static final byte[] NULL = {5, 0};
  private static final int OBJECT_IDENTIFIER = 6;
  private static final int FIRST_PARAMETER = 0xa0;
  private static final char[] NO_PASSWORD = {};

  /** The certificates of one end, its own first, and the private key, both in PEM. */
  public static final class Identity {
    private final byte[] certificates;
    private final byte[] key;

    public Identity(byte[] certificates, byte[] key) {
      this.certificates = certificates.clone();
      this.key = key.clone();
    }
  }

  private PemTls() {}

  /**
   * Returns a context.
   *
   * @param authorities the certificates to trust; empty for those of the JDK
   * @param identity how to authenticate; empty for not at all
   * @throws IOException if one of them cannot be used
   */
  public static SSLContext context(Optional<byte[]> authorities, Optional<Identity> identity)
      throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          identity.isPresent() ? own(identity.get()) : null,
          authorities.isPresent() ? trusted(authorities.get()) : null,
          null);
      return context;
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(e.getClass().getSimpleName() + " " + e.getMessage(), e);
    }
  }

  private static TrustManager @Nullable [] trusted(byte[] authorities)
      throws IOException, GeneralSecurityException {
    KeyStore store = emptyStore();
    int count = 0;
    for (Certificate authority : certificates(authorities)) {
      store.setCertificateEntry("ca" + count++, authority);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static KeyManager @Nullable [] own(Identity identity)
      throws IOException, GeneralSecurityException {
    KeyStore store = emptyStore();
    store.setKeyEntry(
        "own",
        privateKey(identity.key),
        NO_PASSWORD,
        certificates(identity.certificates).toArray(Certificate[]::new));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  private static Collection<? extends Certificate> certificates(byte[] pem)
      throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> found =
        CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
    if (found.isEmpty()) {
      throw new IOException("there is no certificate in it");
    }
    return found;
  }

  private static PrivateKey privateKey(byte[] pem) throws IOException, GeneralSecurityException {
    Matcher found = KEY.matcher(new String(pem, ISO_8859_1));
    if (!found.find()) {
      throw new IOException(
          "there is no PRIVATE KEY in it that can be read (convert it with openssl pkcs8 -topk8 -nocrypt)");
    }
    byte[] content = Base64.getMimeDecoder().decode(found.group(2));
    byte[] encoded =
        switch (found.group(1)) {
          case "RSA " -> pkcs8(content, Der.oid(RSA), NULL);
          case "EC " -> pkcs8(content, Der.oid(ELLIPTIC_CURVE), curve(content));
          default -> content;
        };
    for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      } catch (InvalidKeySpecException another) {
        // The next algorithm may match.
      }
    }
    throw new IOException("the key is neither EC nor RSA nor EdDSA");
  }

  /** Wraps a key of an older format (RFC 8017, RFC 5915) as RFC 5958 does. */
  private static byte[] pkcs8(byte[] key, byte[] algorithm, byte[] parameters) {
    return Der.sequence(Der.integer(0), Der.sequence(algorithm, parameters), Der.octets(key));
  }

  /** Returns the curve of a key: the object identifier that follows the private number. */
  private static byte[] curve(byte[] key) throws IOException {
    for (int at = 0; at + 4 < key.length; at++) {
      int length = 2 + key[at + 3];
      if ((key[at] & 0xff) == FIRST_PARAMETER
          && key[at + 1] == length
          && key[at + 2] == OBJECT_IDENTIFIER
          && at + 2 + length <= key.length) {
        return Arrays.copyOfRange(key, at + 2, at + 2 + length);
      }
    }
    throw new IOException("the key does not name its curve");
  }

  private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }
}
