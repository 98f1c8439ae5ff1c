package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.IoErrors;
import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import dev.isola.server.Tls;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The certificate authority of this installation for one domain. It is created once and kept in the
 * data folder, because every client must trust it. The certificates that it issues to the server
 * exist in memory only. Clients accept it for names of the domain and for nothing else.
 */
final class LocalCertificateAuthority {
  /** The folder in the data folder, with a folder for each domain. */
  static final String FOLDER = "e2b-tls";

  static final String CERTIFICATE = "ca.pem";
  static final String KEY = "ca.key";

  private static final Duration LIFETIME = Duration.ofDays(3650);
  private static final Duration SERVER_LIFETIME = Duration.ofDays(90);

  /** The clocks of clients may be slow. */
  private static final Duration CLOCK_SKEW = Duration.ofDays(1);

  private static final int MAX_COMMON_NAME = 64;
  private static final Pattern PEM_KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private final String domain;
  private final Path file;
  private final SigningCertificate authority;
  private final boolean created;
  private final InstantSource clock;

  private LocalCertificateAuthority(
      String domain,
      Path file,
      SigningCertificate authority,
      boolean created,
      InstantSource clock) {
    this.domain = domain;
    this.file = file;
    this.authority = authority;
    this.created = created;
    this.clock = clock;
  }

  /**
   * Opens the authority of a domain. Creates one if there is none, or if it is about to expire.
   *
   * @throws dev.isola.spi.error.InvalidRequest when its files are damaged or cannot be written
   */
  static LocalCertificateAuthority open(DataFolder data, String domain, InstantSource clock) {
    Path all = data.createIfMissing().resolve(FOLDER);
    Path folder = all.resolve(domain);
    Path certificate = folder.resolve(CERTIFICATE);
    Path key = folder.resolve(KEY);
    try {
      if (Files.exists(certificate) && Files.exists(key)) {
        SigningCertificate stored = read(certificate, key);
        Instant end = stored.certificate().getNotAfter().toInstant();
        if (end.isAfter(clock.instant().plus(SERVER_LIFETIME))) {
          return new LocalCertificateAuthority(domain, certificate, stored, false, clock);
        }
      }
      SigningCertificate fresh =
          CertificateWriter.authority(
              commonName("Isola local CA for " + domain), domain, validity(clock, LIFETIME));
      createFolder(all);
      createFolder(folder);
      // Without both files the authority is created again, so no crash leaves an unequal pair.
      Files.deleteIfExists(certificate);
      write(key, "rw-------", "PRIVATE KEY", fresh.key().getEncoded());
      write(certificate, "rw-r--r--", "CERTIFICATE", fresh.certificate().getEncoded());
      return new LocalCertificateAuthority(domain, certificate, fresh, true, clock);
    } catch (IOException e) {
      throw unusable(folder, IoErrors.describe(e), e);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw unusable(folder, "a file is damaged", e);
    }
  }

  private static Validity validity(InstantSource clock, Duration lifetime) {
    Instant now = clock.instant();
    return new Validity(now.minus(CLOCK_SKEW), now.plus(lifetime));
  }

  private static String commonName(String text) {
    return text.length() <= MAX_COMMON_NAME ? text : text.substring(0, MAX_COMMON_NAME);
  }

  private static SigningCertificate read(Path certificateFile, Path keyFile)
      throws IOException, GeneralSecurityException {
    X509Certificate certificate =
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(certificateFile)));
    Matcher found = PEM_KEY.matcher(Files.readString(keyFile, StandardCharsets.ISO_8859_1));
    if (!found.find()) {
      throw new GeneralSecurityException("there is no private key in the file");
    }
    PrivateKey key =
        KeyFactory.getInstance("EC")
            .generatePrivate(
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(1))));
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(key);
    byte[] signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    if (!signature.verify(signed)) {
      throw new GeneralSecurityException("the private key does not match the certificate");
    }
    return new SigningCertificate(certificate, key);
  }

  private static void createFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
    }
  }

  /** Writes a file that has its content and its mode as soon as it has its name. */
  private static void write(Path file, String mode, String kind, byte[] content)
      throws IOException {
    Path draft = Files.createTempFile(file.getParent(), ".new", ""); // readable by its owner only
    try {
      Files.writeString(
          draft,
          "-----BEGIN %s-----\n%s\n-----END %s-----\n"
              .formatted(
                  kind,
                  Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content),
                  kind));
      Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString(mode));
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  private static SandboxException unusable(Path folder, String why, Exception cause) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the certificate authority in " + folder + " cannot be used: " + why,
            "restore its files, or remove the folder: then a new authority is created, which"
                + " clients must trust again")
        .exception(cause);
  }

  /** Issues a certificate to the server, with a new key. */
  Tls issue() {
    SigningCertificate server =
        CertificateWriter.server(
            commonName(domain),
            List.of(domain, "*." + domain),
            authority,
            validity(clock, SERVER_LIFETIME));
    return Tls.of(List.of(server.certificate(), authority.certificate()), server.key());
  }

  /** Returns what clients have to do to trust a new authority; empty if it existed before. */
  List<String> usage(int port) {
    if (!created) {
      return List.of();
    }
    return List.of(
        "created a certificate authority for %s, valid until %s: %s"
            .formatted(
                domain,
                authority
                    .certificate()
                    .getNotAfter()
                    .toInstant()
                    .atZone(ZoneOffset.UTC)
                    .toLocalDate(),
                file),
        "to trust it, set NODE_EXTRA_CA_CERTS=%s for Node.js, SSL_CERT_FILE=%s for Python, or use curl --cacert %s"
            .formatted(file, file, file),
        "E2B's SDKs need E2B_DOMAIN=%s:%d and E2B_API_KEY, and no URL".formatted(domain, port));
  }
}
