package dev.isola.engine.secret;

import dev.isola.engine.api.SecretKeyRotation;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Settings whose values the ledger stores encrypted: {@code v1:KEY ID:BASE64}, where the last part
 * is the nonce and the encrypted value.
 */
public final class SealedSettings {
  private static final String VERSION = "v1";

  private final Ledger ledger;
  private final EncryptionKeys keys;

  /** Held by writers, so that no value is written with a key that a rotation has dropped. */
  private final ReentrantLock lock = new ReentrantLock();

  public SealedSettings(Ledger ledger, EncryptionKeys keys) {
    this.ledger = ledger;
    this.keys = keys;
  }

  /** Stores a value, replacing an earlier one. */
  public void put(SealedScope scope, String name, byte[] value) {
    update(scope, name, before -> value);
  }

  /**
   * Replaces a value by what {@code change} returns for the present one. Only one update runs at a
   * time.
   */
  public void update(SealedScope scope, String name, Function<Optional<byte[]>, byte[]> change) {
    lock.lock();
    try {
      byte[] value = change.apply(get(scope, name));
      ledger.settings().put(scope.scope(), name, seal(currentKey(), scope, name, value));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a value.
   *
   * @throws dev.isola.spi.error.Internal if it cannot be decrypted, with the reason
   */
  public Optional<byte[]> get(SealedScope scope, String name) {
    return ledger.settings().get(scope.scope(), name).map(stored -> open(scope, name, stored));
  }

  /**
   * Stores a value unless there is one.
   *
   * @return the stored value, which another server may have stored first
   */
  public byte[] putIfAbsent(SealedScope scope, String name, byte[] value) {
    lock.lock();
    try {
      Optional<byte[]> stored = get(scope, name);
      if (stored.isPresent()) {
        return stored.get();
      }
      return open(
          scope,
          name,
          ledger
              .settings()
              .putIfAbsent(scope.scope(), name, seal(currentKey(), scope, name, value)));
    } finally {
      lock.unlock();
    }
  }

  /** Removes a value and returns whether it existed. Needs no key. */
  public boolean remove(SealedScope scope, String name) {
    lock.lock(); // a rotation must not write it again
    try {
      return ledger.settings().remove(scope.scope(), name);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the names that have a value. Needs no key. */
  public Set<String> names(SealedScope scope) {
    return ledger.settings().all(scope.scope()).keySet();
  }

  /** A value was encrypted again, or everything was and the old key is dropped next. */
  enum RotationStep {
    KEY_CREATED,
    VALUE_WRITTEN,
    VALUES_CHECKED
  }

  /**
   * Encrypts all values with another key, then drops the old key. Until then every value can be
   * decrypted, whether it was encrypted again or not; a rotation that was interrupted is continued
   * by the next one.
   *
   * @throws dev.isola.spi.error.Internal if a value cannot be decrypted; the old key is kept
   */
  public SecretKeyRotation rotateKey() {
    return rotateKey(step -> {});
  }

  SecretKeyRotation rotateKey(Consumer<RotationStep> reached) {
    lock.lock();
    try {
      EncryptionKey key = keys.beginRotation();
      reached.accept(RotationStep.KEY_CREATED);
      int count = 0;
      for (SealedScope scope : SealedScope.values()) {
        for (var stored : ledger.settings().all(scope.scope()).entrySet()) {
          if (!isSealedWith(key, stored.getValue())) {
            byte[] value = open(scope, stored.getKey(), stored.getValue());
            ledger
                .settings()
                .put(scope.scope(), stored.getKey(), seal(key, scope, stored.getKey(), value));
            count++;
            reached.accept(RotationStep.VALUE_WRITTEN);
          }
        }
      }
      requireAllSealedWith(key);
      reached.accept(RotationStep.VALUES_CHECKED);
      keys.finishRotation();
      return new SecretKeyRotation(key.id(), count);
    } finally {
      lock.unlock();
    }
  }

  private void requireAllSealedWith(EncryptionKey key) {
    for (SealedScope scope : SealedScope.values()) {
      ledger
          .settings()
          .all(scope.scope())
          .forEach(
              (name, stored) -> {
                if (!isSealedWith(key, stored)) {
                  throw unreadable(scope, name, "it was written during the rotation of the key");
                }
                byte[] _ = open(scope, name, stored);
              });
    }
  }

  /**
   * Returns the key for new values. The default key is created, but only if nothing was encrypted
   * with one that is missing now.
   */
  private EncryptionKey currentKey() {
    return keys.current()
        .orElseGet(
            () -> {
              if (!isEmpty()) {
                throw keys.missing();
              }
              return keys.create();
            });
  }

  private boolean isEmpty() {
    for (SealedScope scope : SealedScope.values()) {
      if (!names(scope).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  private static String seal(EncryptionKey key, SealedScope scope, String name, byte[] value) {
    return VERSION
        + ":"
        + key.id()
        + ":"
        + Base64.getEncoder().encodeToString(key.encrypt(scope.context(name), value));
  }

  private static boolean isSealedWith(EncryptionKey key, String stored) {
    return stored.startsWith(VERSION + ":" + key.id() + ":");
  }

  private byte[] open(SealedScope scope, String name, String stored) {
    List<EncryptionKey> all = keys.all();
    if (all.isEmpty()) {
      throw unreadable(scope, name, keys.missing().fault().problem());
    }
    String[] parts = stored.split(":", -1);
    if (parts.length != 3 || !parts[0].equals(VERSION)) {
      throw unreadable(scope, name, "this version of Isola does not know its format");
    }
    for (EncryptionKey key : all) {
      if (key.id().equals(parts[1])) {
        try {
          return key.decrypt(scope.context(name), Base64.getDecoder().decode(parts[2]));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
          throw unreadable(scope, name, "it was changed or moved in the ledger");
        }
      }
    }
    throw unreadable(
        scope, name, "it was not encrypted with " + all.getFirst() + " but with key " + parts[1]);
  }

  private static SandboxException unreadable(SealedScope scope, String name, String why) {
    String what =
        switch (scope) {
          case SECRET_ENV -> "the secret variables of sandbox " + name + " cannot be decrypted: ";
          case SECRET -> "secret " + name + " cannot be decrypted: ";
          case SANDBOX_AUTHORITY ->
              "the certificate authority of sandbox " + name + " cannot be decrypted: ";
          case INSTALLATION ->
              "what the servers of this installation share cannot be decrypted (" + name + "): ";
        };
    String remedy =
        switch (scope) {
          case SECRET ->
              "restore the key (secrets.key in docs/config.md), or remove the secret and set it again";
          case SECRET_ENV, SANDBOX_AUTHORITY ->
              "restore the key (secrets.key in docs/config.md), or create a new sandbox";
          case INSTALLATION ->
              "give all servers of the installation the same secrets.key (docs/config.md)";
        };
    return Fault.of(ErrorCode.INTERNAL, what + why, remedy).exception();
  }
}
