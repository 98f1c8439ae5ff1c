package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Derives the secrets of all sandboxes from one key in the data folder. Nothing has to be stored
 * per sandbox, and the engine's labels reveal no secret.
 */
final class SandboxKeys {
  private static final int SIZE = 32;
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final Path file;
  private final InstanceId instance;
  private byte @Nullable [] key;

  SandboxKeys(Path dataFolder, InstanceId instance) {
    this.file = dataFolder.resolve("key");
    this.instance = instance;
  }

  /** Returns the secret of a sandbox's agent, which is always the same. */
  Secret agentSecret(SandboxId id) {
    return Secret.of(derived("agent", id));
  }

  /** Encrypts content so that only this instance can read it, and only for this sandbox. */
  String seal(SandboxId id, byte[] content) {
    byte[] nonce = new byte[NONCE];
    new SecureRandom().nextBytes(nonce);
    byte[] hidden = cipher(Cipher.ENCRYPT_MODE, id, nonce, content, 0);
    return Base64.getEncoder()
        .encodeToString(ByteBuffer.allocate(NONCE + hidden.length).put(nonce).put(hidden).array());
  }

  /**
   * Decrypts sealed content.
   *
   * @throws IOException if it was not sealed by this instance for this sandbox
   */
  byte[] open(SandboxId id, String sealed) throws IOException {
    try {
      byte[] all = Base64.getDecoder().decode(sealed);
      if (all.length > NONCE) {
        return cipher(Cipher.DECRYPT_MODE, id, all, all, NONCE);
      }
    } catch (IllegalArgumentException notOurs) {
      // Reported below.
    }
    throw new IOException("the boot record cannot be decrypted");
  }

  private byte[] cipher(int mode, SandboxId id, byte[] nonce, byte[] content, int from) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(
          mode,
          new SecretKeySpec(derived("boot", id), "AES"),
          new GCMParameterSpec(TAG_BITS, nonce, 0, NONCE));
      return cipher.doFinal(content, from, content.length - from);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("not sealed with this key", e);
    }
  }

  private byte[] derived(String use, SandboxId id) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key(), "HmacSHA256"));
      return mac.doFinal((use + " " + instance + " " + id).getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  private synchronized byte[] key() {
    byte[] known = key;
    if (known != null) {
      return known;
    }
    try {
      known = read();
      key = known;
      return known;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the key file of the sandboxes cannot be used: " + e.getMessage(),
              "check the permissions of " + file)
          .exception(e);
    }
  }

  private byte[] read() throws IOException {
    try {
      byte[] found = Files.readAllBytes(file);
      if (found.length != SIZE) {
        throw new IOException(file + " has " + found.length + " bytes instead of " + SIZE);
      }
      return found;
    } catch (NoSuchFileException none) {
      return make();
    }
  }

  /** Creates the key. If two processes create one at the same time, both use the first. */
  private byte[] make() throws IOException {
    byte[] fresh = new byte[SIZE];
    new SecureRandom().nextBytes(fresh);
    Path draft = file.resolveSibling("key." + ProcessHandle.current().pid());
    Files.deleteIfExists(draft);
    try (SeekableByteChannel out =
        Files.newByteChannel(
            draft,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      out.write(ByteBuffer.wrap(fresh));
    }
    try {
      Files.createLink(file, draft); // Unlike a move, a link never replaces.
      return fresh;
    } catch (FileAlreadyExistsException first) {
      return Files.readAllBytes(file);
    } finally {
      Files.deleteIfExists(draft);
    }
  }
}
