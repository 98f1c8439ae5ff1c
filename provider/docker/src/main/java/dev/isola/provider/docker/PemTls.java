package dev.isola.provider.docker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS from the three files that Docker uses: {@code ca.pem}, {@code cert.pem}, {@code key.pem}. */
final class PemTls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN ((?:RSA )?PRIVATE KEY)-----([^-]+)-----END");

  /** The PKCS #8 prefix that wraps a PKCS #1 RSA key. */
  private static final byte[] VERSION_AND_RSA = {
    2,
    1,
    0,
    0x30,
    0x0d,
    6,
    9,
    0x2a,
    (byte) 0x86,
    0x48,
    (byte) 0x86,
    (byte) 0xf7,
    0x0d,
    1,
    1,
    1,
    5,
    0
  };

  private static final char[] NO_PASSWORD = {};

  private PemTls() {}

  /**
   * Returns a context that trusts {@code ca.pem}, or the default trust store without it, and
   * authenticates with the other two files if they exist.
   */
  static SSLContext of(Path folder) throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(Files.exists(folder.resolve("ca.pem")) ? trusted(folder.resolve("ca.pem")) : null);
      context.init(own(folder), trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("the TLS files in " + folder + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static KeyStore trusted(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = empty();
    int number = 0;
    for (Certificate one : certificates(file)) {
      store.setCertificateEntry("ca" + number++, one);
    }
    return store;
  }

  private static KeyManager[] own(Path folder) throws IOException, GeneralSecurityException {
    if (!Files.exists(folder.resolve("key.pem")) || !Files.exists(folder.resolve("cert.pem"))) {
      return new KeyManager[0];
    }
    KeyStore store = empty();
    Certificate[] chain = certificates(folder.resolve("cert.pem")).toArray(new Certificate[0]);
    store.setKeyEntry("own", key(folder.resolve("key.pem")), NO_PASSWORD, chain);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, NO_PASSWORD);
    return keys.getKeyManagers();
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in);
    }
  }

  private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
    Matcher found = KEY.matcher(Files.readString(file));
    if (!found.find()) {
      throw new IOException(
          file + " has no readable key (convert it with openssl pkcs8 -topk8 -nocrypt)");
    }
    byte[] content = Base64.getMimeDecoder().decode(found.group(2));
    byte[] wrapped = found.group(1).startsWith("RSA") ? wrapped(content) : content;
    for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(wrapped));
      } catch (InvalidKeySpecException another) {
        // The next algorithm may match.
      }
    }
    throw new IOException(file + " has a key of an unsupported algorithm");
  }

  private static byte[] wrapped(byte[] rsa) {
    byte[] octets = tagged(4, rsa);
    return tagged(
        0x30,
        ByteBuffer.allocate(VERSION_AND_RSA.length + octets.length)
            .put(VERSION_AND_RSA)
            .put(octets)
            .array());
  }

  private static byte[] tagged(int tag, byte[] content) {
    return ByteBuffer.allocate(4 + content.length)
        .put((byte) tag)
        .put((byte) 0x82)
        .putShort((short) content.length)
        .put(content)
        .array();
  }
}
