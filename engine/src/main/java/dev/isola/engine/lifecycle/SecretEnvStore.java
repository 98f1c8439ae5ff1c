package dev.isola.engine.lifecycle;

import dev.isola.codec.json.Json;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SettingEntries;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Stores the values of secret variables for as long as the sandbox may have to be created again, by
 * a fork or a restore. The ledger holds them encrypted and bound to the id of the sandbox; the key
 * is in a separate file.
 */
public final class SecretEnvStore {
  private static final String SCOPE = "secret-env";
  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int KEY_BYTES = 32;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Ledger ledger;
  private final Path keyFile;

  /**
   * @param folder the data folder, where the key is created on first use
   */
  public SecretEnvStore(Ledger ledger, Path folder) {
    this.ledger = ledger;
    this.keyFile = folder.resolve("secrets.key");
  }

  private SettingEntries settings() {
    return ledger.settings();
  }

  /** Stores the secrets of a sandbox after its intent was recorded and before it is created. */
  void put(SandboxId id, Map<String, Secret> values) {
    if (values.isEmpty()) {
      return;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    values.forEach(
        (name, value) -> texts.put(name, new String(value.reveal(), StandardCharsets.UTF_8)));
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, id, Json.bytes(texts));
    byte[] all = ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed).array();
    settings().put(SCOPE, id.value(), Base64.getEncoder().encodeToString(all));
  }

  /**
   * Returns the secrets of a sandbox; empty if it has none.
   *
   * @throws dev.isola.spi.error.Internal if they cannot be decrypted
   */
  public Map<String, Secret> get(SandboxId id) {
    Optional<String> stored = settings().get(SCOPE, id.value());
    if (stored.isEmpty()) {
      return Map.of();
    }
    ByteBuffer all = ByteBuffer.wrap(Base64.getDecoder().decode(stored.get()));
    byte[] nonce = new byte[NONCE_BYTES];
    all.get(nonce);
    byte[] sealed = new byte[all.remaining()];
    all.get(sealed);
    Map<String, Secret> values = new LinkedHashMap<>();
    Json.parseObject(cipher(Cipher.DECRYPT_MODE, nonce, id, sealed))
        .forEach((name, value) -> values.put(name, Secret.of(String.valueOf(value))));
    return values;
  }

  /** Removes the secrets of a destroyed sandbox. */
  void remove(SandboxId id) {
    settings().remove(SCOPE, id.value());
  }

  /** Removes secrets that a crash left behind, whose sandboxes do not exist. */
  public void removeOrphans() {
    for (String name : settings().all(SCOPE).keySet()) {
      Optional<SandboxEntry> entry = ledger.sandboxes().find(new SandboxId(name));
      if (entry.filter(one -> one.state() != SandboxState.DESTROYED).isEmpty()) {
        settings().remove(SCOPE, name);
      }
    }
  }

  private byte[] cipher(int mode, byte[] nonce, SandboxId id, byte[] content) {
    try {
      Cipher cipher = Cipher.getInstance(CIPHER);
      cipher.init(
          mode,
          new SecretKeySpec(mode == Cipher.ENCRYPT_MODE ? readOrCreateKey() : readKey(), "AES"),
          new GCMParameterSpec(TAG_BITS, nonce));
      cipher.updateAAD(id.value().getBytes(StandardCharsets.US_ASCII));
      return cipher.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw unreadable(id, "they were not encrypted with the key in " + keyFile);
    } catch (NoSuchFileException e) {
      throw unreadable(id, keyFile + " is missing");
    } catch (IOException e) {
      throw unreadable(id, keyFile + ": " + e.getMessage());
    }
  }

  private SandboxException unreadable(SandboxId id, String why) {
    return Fault.of(
            ErrorCode.INTERNAL,
            "the secret variables of sandbox " + id + " cannot be read or stored: " + why,
            "restore that file, or create a new sandbox")
        .sandbox(id)
        .exception();
  }

  private byte[] readOrCreateKey() throws IOException {
    try {
      return readKey();
    } catch (NoSuchFileException absent) {
      byte[] newKey = new byte[KEY_BYTES];
      RANDOM.nextBytes(newKey);
      Files.createDirectories(keyFile.toAbsolutePath().getParent());
      Path part =
          Files.createTempFile(
              keyFile.toAbsolutePath().getParent(),
              "secrets",
              ".part",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        try (SeekableByteChannel out =
            Files.newByteChannel(part, Set.of(StandardOpenOption.WRITE))) {
          out.write(ByteBuffer.wrap(newKey));
        }
        Files.createLink(keyFile, part); // atomic, and never replaces an existing key
        return newKey;
      } catch (FileAlreadyExistsException first) {
        return readKey();
      } finally {
        Files.deleteIfExists(part);
      }
    }
  }

  private byte[] readKey() throws IOException {
    byte[] key = Files.readAllBytes(keyFile);
    if (key.length != KEY_BYTES) {
      throw new IOException("has " + key.length + " bytes instead of " + KEY_BYTES);
    }
    return key;
  }
}
