package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key from which the secrets of all sandboxes are derived, so that none has to be stored. Every
 * process of the installation reads the same file.
 */
public final class InstallationKey {
  private static final int SIZE = 32;
  private static final String ALGORITHM = "HmacSHA256";

  private final Secret key;

  private InstallationKey(Secret key) {
    this.key = key;
  }

  /** Reads the key in a data folder; the first call creates it. */
  public static InstallationKey in(Path folder) {
    Path file = folder.resolve("key");
    return read(file, () -> readOrCreate(file));
  }

  /** Reads a key that the operator gave to several servers of an installation. */
  public static InstallationKey of(Path file) {
    return read(file, () -> Files.readAllBytes(file));
  }

  private interface Source {
    byte[] read() throws IOException;
  }

  private static InstallationKey read(Path file, Source source) {
    try {
      byte[] key = source.read();
      if (key.length != SIZE) {
        throw new IOException("it has " + key.length + " bytes instead of " + SIZE);
      }
      return new InstallationKey(Secret.of(key));
    } catch (IOException e) {
      throw unusable(file, e);
    }
  }

  private static SandboxException unusable(Path file, IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the key file " + file + " cannot be used: " + cause.getMessage(),
            "check its permissions; without it no sandbox of this installation can be attached")
        .exception(cause);
  }

  /**
   * Makes the key in a data folder the one that several servers share.
   *
   * @param exchange offers a key to the other servers, and returns the one that all of them use
   * @throws dev.isola.spi.error.Conflict if the folder has another key already
   */
  public static void share(Path folder, UnaryOperator<byte[]> exchange) {
    Path file = folder.resolve("key");
    try {
      byte[] offered = Files.exists(file) ? Files.readAllBytes(file) : random();
      byte[] common = exchange.apply(offered);
      create(file, common);
      if (!MessageDigest.isEqual(Files.readAllBytes(file), common)) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the key file " + file + " differs from the key of the other servers",
                "use a new data folder for this server")
            .exception();
      }
    } catch (IOException e) {
      throw unusable(file, e);
    }
  }

  private static byte[] readOrCreate(Path file) throws IOException {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException none) {
      create(file, random());
      return Files.readAllBytes(file);
    }
  }

  private static byte[] random() {
    byte[] key = new byte[SIZE];
    new SecureRandom().nextBytes(key);
    return key;
  }

  /** Links a complete file to its name, so that no process reads a part, and one process wins. */
  private static void create(Path file, byte[] key) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    Path draft =
        Files.createTempFile(
            folder,
            "key",
            ".new",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.write(draft, key);
      Files.createLink(file, draft);
    } catch (FileAlreadyExistsException e) {
      // Another process created it.
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** Returns the secret of the channel of a sandbox. */
  public Secret secretOf(SandboxId id) {
    return derive(id.value());
  }

  /**
   * Returns a secret of a sandbox that its agent does not know, for one purpose.
   *
   * @param purpose a constant that no other use has
   */
  public Secret secretOf(SandboxId id, String purpose) {
    return derive(purpose + "\n" + id.value()); // no id has a line break
  }

  private Secret derive(String text) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key.reveal(), ALGORITHM));
      return Secret.of(mac.doFinal(text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, e);
    }
  }
}
