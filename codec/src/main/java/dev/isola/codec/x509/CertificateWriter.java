package dev.isola.codec.x509;

import dev.isola.codec.digest.Sha256;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import javax.security.auth.x500.X500Principal;

/**
 * Creates certificates with keys on the curve P-256: those of authorities, which may be limited to
 * one domain, and those of servers.
 */
public final class CertificateWriter {
  private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.oid("1.2.840.10045.4.3.2"));
  private static final String SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";
  private static final String SUBJECT_KEY = "2.5.29.14";
  private static final String KEY_USAGE = "2.5.29.15";
  private static final String ALTERNATIVE_NAMES = "2.5.29.17";
  private static final String BASIC_CONSTRAINTS = "2.5.29.19";
  private static final String NAME_CONSTRAINTS = "2.5.29.30";
  private static final String AUTHORITY_KEY = "2.5.29.35";
  private static final String EXTENDED_KEY_USAGE = "2.5.29.37";

  /** Tags of a GeneralName. */
  private static final int DNS = 2;

  private static final int ADDRESS = 7;
  private static final Pattern ADDRESS_LITERAL =
      Pattern.compile("[0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
  private static final int KEY_ID_BYTES = 20;
  private static final SecureRandom RANDOM = new SecureRandom();

  private CertificateWriter() {}

  /** A certificate with its private key. */
  public record SigningCertificate(X509Certificate certificate, PrivateKey key) {}

  /** The period in which a certificate is valid; rounded down to seconds. */
  public record Validity(Instant from, Instant until) {}

  /** Generates a key pair. */
  public static KeyPair generateKeys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  /**
   * Creates the certificate of an authority with a new key. Clients that trust it accept from it
   * certificates for the domain and names beneath it, and for no other name and no address.
   *
   * @param name the common name
   */
  public static SigningCertificate authority(String name, String domain, Validity validity) {
    byte[] constraints =
        Der.sequence(
            Der.tagged(0, Der.sequence(Der.taggedBytes(DNS, Der.ascii(domain)))),
            Der.tagged(
                1,
                Der.sequence(Der.taggedBytes(ADDRESS, new byte[8])),
                Der.sequence(Der.taggedBytes(ADDRESS, new byte[32]))));
    return authority(name, validity, critical(NAME_CONSTRAINTS, constraints));
  }

  /**
   * Creates the certificate of an authority with a new key. Clients that trust it accept from it
   * certificates for every name and address.
   *
   * @param name the common name
   */
  public static SigningCertificate authority(String name, Validity validity) {
    return authority(name, validity, new byte[0]);
  }

  private static SigningCertificate authority(String name, Validity validity, byte[] constraints) {
    KeyPair keys = generateKeys();
    byte[] subject = new X500Principal("CN=" + name).getEncoded();
    byte[] extensions =
        Der.sequence(
            critical(BASIC_CONSTRAINTS, Der.sequence(Der.yes(), Der.integer(0))),
            // keyCertSign and cRLSign
            critical(KEY_USAGE, Der.bits(1, (byte) 0x06)),
            constraints,
            extension(SUBJECT_KEY, Der.octets(keyId(keys.getPublic()))),
            authorityKey(keys.getPublic()));
    return new SigningCertificate(
        sign(subject, subject, keys.getPublic(), validity, extensions, keys.getPrivate()),
        keys.getPrivate());
  }

  /**
   * Creates the certificate of a server with a new key.
   *
   * @param name the common name
   * @param hosts the host names of the server, which may begin with {@code *.}, and its addresses
   */
  public static SigningCertificate server(
      String name, List<String> hosts, SigningCertificate authority, Validity validity) {
    KeyPair keys = generateKeys();
    byte[][] names = hosts.stream().map(CertificateWriter::alternativeName).toArray(byte[][]::new);
    byte[] extensions =
        Der.sequence(
            critical(BASIC_CONSTRAINTS, Der.sequence()),
            // digitalSignature
            critical(KEY_USAGE, Der.bits(7, (byte) 0x80)),
            extension(EXTENDED_KEY_USAGE, Der.sequence(Der.oid(SERVER_AUTHENTICATION))),
            extension(ALTERNATIVE_NAMES, Der.sequence(names)),
            extension(SUBJECT_KEY, Der.octets(keyId(keys.getPublic()))),
            authorityKey(authority.certificate().getPublicKey()));
    return new SigningCertificate(
        sign(
            authority.certificate().getSubjectX500Principal().getEncoded(),
            new X500Principal("CN=" + name).getEncoded(),
            keys.getPublic(),
            validity,
            extensions,
            authority.key()),
        keys.getPrivate());
  }

  private static byte[] alternativeName(String host) {
    if (ADDRESS_LITERAL.matcher(host).matches()) {
      return Der.taggedBytes(ADDRESS, InetAddress.ofLiteral(host).getAddress());
    }
    return Der.taggedBytes(DNS, Der.ascii(host));
  }

  private static byte[] authorityKey(PublicKey key) {
    return extension(AUTHORITY_KEY, Der.sequence(Der.taggedBytes(0, keyId(key))));
  }

  private static byte[] critical(String oid, byte[] content) {
    return Der.sequence(Der.oid(oid), Der.yes(), Der.octets(content));
  }

  private static byte[] extension(String oid, byte[] content) {
    return Der.sequence(Der.oid(oid), Der.octets(content));
  }

  /** Returns a key identifier: a truncated hash of the public key (RFC 7093). */
  private static byte[] keyId(PublicKey key) {
    return Arrays.copyOf(Sha256.of(key.getEncoded()), KEY_ID_BYTES);
  }

  private static X509Certificate sign(
      byte[] issuer,
      byte[] subject,
      PublicKey key,
      Validity validity,
      byte[] extensions,
      PrivateKey issuerKey) {
    byte[] content =
        Der.sequence(
            Der.tagged(0, Der.integer(2)), // version 3
            Der.integer(new BigInteger(127, RANDOM).setBit(126)),
            ECDSA_WITH_SHA256,
            issuer,
            Der.sequence(Der.time(validity.from()), Der.time(validity.until())),
            subject,
            key.getEncoded(),
            Der.tagged(3, extensions));
    try {
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(issuerKey, RANDOM);
      signature.update(content);
      byte[] certificate = Der.sequence(content, ECDSA_WITH_SHA256, Der.bits(0, signature.sign()));
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(certificate));
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  private static IllegalStateException unavailable(GeneralSecurityException e) {
    return new IllegalStateException("a certificate cannot be created", e);
  }
}
