package dev.isola.egress.http;

import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import java.io.ByteArrayInputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The certificate authority of one sandbox, which its programs trust. It issues the certificates
 * with which the proxy opens TLS. Its key stays on the host: a guest process cannot use it against
 * another sandbox, nor against other connections of its own.
 */
public final class SandboxAuthority {
  private static final Duration LIFETIME = Duration.ofDays(3650);

  /** Long enough for a connection, short enough that none outlives its authority. */
  private static final Duration LEAF_LIFETIME = Duration.ofDays(7);

  private static final Duration LEAF_RENEWAL = Duration.ofDays(1);

  /** The clock of a sandbox may be slow, in particular after it was suspended. */
  private static final Duration CLOCK_SKEW = Duration.ofDays(2);

  private static final int MAX_LEAVES = 64;
  private static final int MAX_SESSIONS = 64;
  private static final int FORMAT = 1;

  /** Clients open many connections at once, and complete their handshakes. */
  private static final int MAX_UNFINISHED = 256;

  private static final int UNFINISHED_PER_SECOND = 10;

  /** A denial inside of TLS is a courtesy: beyond that, denied connections are reset. */
  private static final int MAX_REFUSED = 64;

  private static final int REFUSED_PER_SECOND = 2;

  private final SigningCertificate authority;
  private final InstantSource clock;
  private final HandshakeBudget handshakes;
  private final HandshakeBudget refusals;
  private final ReentrantLock lock = new ReentrantLock();

  /** The least recently used host is first. */
  private final Map<String, Leaf> leaves = new LinkedHashMap<>(16, 0.75f, true);

  private record Leaf(SSLContext context, Instant until) {}

  private SandboxAuthority(SigningCertificate authority, InstantSource clock) {
    this.authority = authority;
    this.clock = clock;
    this.handshakes = new HandshakeBudget(clock, MAX_UNFINISHED, UNFINISHED_PER_SECOND);
    this.refusals = new HandshakeBudget(clock, MAX_REFUSED, REFUSED_PER_SECOND);
  }

  /** Returns the budget of handshakes that clients do not complete. */
  HandshakeBudget handshakes() {
    return handshakes;
  }

  /** Returns the budget of handshakes on denied connections. */
  HandshakeBudget refusals() {
    return refusals;
  }

  /** Creates an authority with a new key. */
  public static SandboxAuthority create(String sandboxId, InstantSource clock) {
    Instant now = clock.instant();
    return new SandboxAuthority(
        CertificateWriter.authority(
            "Isola sandbox " + sandboxId, new Validity(now.minus(CLOCK_SKEW), now.plus(LIFETIME))),
        clock);
  }

  /** Returns the authority with its private key, to be stored encrypted. */
  public byte[] encode() {
    try {
      byte[] key = authority.key().getEncoded();
      byte[] certificate = authority.certificate().getEncoded();
      return ByteBuffer.allocate(1 + Integer.BYTES + key.length + certificate.length)
          .put((byte) FORMAT)
          .putInt(key.length)
          .put(key)
          .put(certificate)
          .array();
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException("a certificate cannot be encoded", e);
    }
  }

  /**
   * Restores an authority from {@link #encode}.
   *
   * @throws IllegalArgumentException if the bytes are damaged
   */
  public static SandboxAuthority decode(byte[] encoded, InstantSource clock) {
    try {
      ByteBuffer in = ByteBuffer.wrap(encoded);
      int format = in.get();
      int length = in.getInt();
      if (format != FORMAT || length < 0 || length > in.remaining()) {
        throw damaged(null);
      }
      byte[] key = new byte[length];
      in.get(key);
      byte[] certificate = new byte[in.remaining()];
      in.get(certificate);
      PrivateKey signer =
          KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key));
      X509Certificate issuer =
          (X509Certificate)
              CertificateFactory.getInstance("X.509")
                  .generateCertificate(new ByteArrayInputStream(certificate));
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(signer);
      byte[] signed = signature.sign();
      signature.initVerify(issuer.getPublicKey());
      if (!signature.verify(signed)) {
        throw damaged(null);
      }
      return new SandboxAuthority(new SigningCertificate(issuer, signer), clock);
    } catch (GeneralSecurityException | BufferUnderflowException e) {
      throw damaged(e);
    }
  }

  private static IllegalArgumentException damaged(@Nullable Exception e) {
    return new IllegalArgumentException("the stored certificate authority is damaged", e);
  }

  /** Returns the certificate that programs in the sandbox are to trust. */
  public String certificatePem() {
    try {
      return "-----BEGIN CERTIFICATE-----\n"
          + Base64.getMimeEncoder(64, new byte[] {'\n'})
              .encodeToString(authority.certificate().getEncoded())
          + "\n-----END CERTIFICATE-----\n";
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException("a certificate cannot be encoded", e);
    }
  }

  /** Returns a context that presents a certificate for the host. */
  SSLContext serverContext(String host) {
    lock.lock();
    try {
      Instant now = clock.instant();
      Leaf leaf = leaves.get(host);
      if (leaf == null || now.isAfter(leaf.until().minus(LEAF_RENEWAL))) {
        leaf = issue(host, now);
        leaves.put(host, leaf);
        if (leaves.size() > MAX_LEAVES) {
          leaves.remove(leaves.keySet().iterator().next());
        }
      }
      return leaf.context();
    } finally {
      lock.unlock();
    }
  }

  private Leaf issue(String host, Instant now) {
    Instant until = now.plus(LEAF_LIFETIME);
    SigningCertificate leaf =
        CertificateWriter.server(
            "Isola egress",
            List.of(host),
            authority,
            new Validity(
                later(now.minus(CLOCK_SKEW), authority.certificate().getNotBefore().toInstant()),
                until));
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          new KeyManager[] {
            new LeafCertificateKeys(
                leaf.key(), List.of(leaf.certificate(), authority.certificate()))
          },
          null,
          null);
      context.getServerSessionContext().setSessionCacheSize(MAX_SESSIONS);
      return new Leaf(context, until);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a certificate for the sandbox cannot be used", e);
    }
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
