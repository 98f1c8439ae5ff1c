package dev.isola.engine.secret;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The keys of an installation. New values are encrypted with the current key; the others only
 * decrypt values from before a change of the key.
 *
 * <p>A key in a file is read at each use, so that a file that is removed, replaced or made readable
 * to others takes effect. Other keys are read once, when the server starts.
 */
public final class EncryptionKeys {
  /** The name of the default file in the data folder. */
  public static final String FILE = "secrets.key";

  private final KeySource source;
  private final boolean isDefault;
  private final Optional<EncryptionKey> fixed;
  private final Optional<EncryptionKey> old;

  private EncryptionKeys(
      KeySource source,
      boolean isDefault,
      Optional<EncryptionKey> fixed,
      Optional<EncryptionKey> old) {
    this.source = source;
    this.isDefault = isDefault;
    this.fixed = fixed;
    this.old = old;
  }

  /**
   * Opens the keys.
   *
   * @param data the data folder, which has the key by default
   * @param source the configured source of the key
   * @param old the source of the key that {@code source} replaces
   * @param variables the environment of the server
   * @throws dev.isola.spi.error.Internal if a configured key cannot be read, with the reason
   */
  public static EncryptionKeys open(
      Path data,
      Optional<KeySource> source,
      Optional<KeySource> old,
      Map<String, String> variables) {
    KeySource chosen = source.orElseGet(() -> new KeySource.File(data.resolve(FILE)));
    EncryptionKeys keys =
        new EncryptionKeys(
            chosen,
            source.isEmpty(),
            chosen instanceof KeySource.File
                ? Optional.empty()
                : Optional.of(read(chosen, variables)),
            old.map(one -> read(one, variables)));
    if (keys.current().isEmpty() && !keys.isDefault) {
      throw KeyFault.of(chosen + " does not exist", KeyText.REMEDY);
    }
    return keys;
  }

  private static EncryptionKey read(KeySource source, Map<String, String> variables) {
    return switch (source) {
      case KeySource.File(Path path) ->
          new KeyFile(path)
              .read()
              .orElseThrow(() -> KeyFault.of(path + " does not exist", KeyText.REMEDY));
      case KeySource.Variable(String name) -> {
        String text = variables.get(name);
        if (text == null || text.isBlank()) {
          throw KeyFault.of(
              "the environment variable " + name + " is not set or empty", KeyText.REMEDY);
        }
        yield KeyText.parse(
            text.getBytes(StandardCharsets.UTF_8), "the environment variable " + name);
      }
      case KeySource.Program(String command) -> new KeyCommand(command, KeyCommand.DEADLINE).run();
    };
  }

  private Optional<KeyFile> file() {
    return source instanceof KeySource.File(Path path)
        ? Optional.of(new KeyFile(path))
        : Optional.empty();
  }

  /** Returns the key for new values; empty if its file does not exist. */
  Optional<EncryptionKey> current() {
    return fixed.or(() -> file().flatMap(one -> one.readNext().or(one::read)));
  }

  /** Creates the default key. */
  EncryptionKey create() {
    if (!isDefault) {
      throw missing();
    }
    return file().orElseThrow().create();
  }

  /** Returns all keys, the current one first. */
  List<EncryptionKey> all() {
    List<EncryptionKey> keys = new ArrayList<>();
    fixed.ifPresent(keys::add);
    file().flatMap(KeyFile::readNext).ifPresent(keys::add);
    file().flatMap(KeyFile::read).ifPresent(keys::add);
    old.ifPresent(keys::add);
    return keys;
  }

  /** Returns whether an earlier rotation did not complete. */
  public boolean isRotating() {
    return file().flatMap(KeyFile::readNext).isPresent();
  }

  SandboxException missing() {
    return KeyFault.of(
        source instanceof KeySource.File(Path path) ? path + " is missing" : source + " is missing",
        "restore it from a backup, or remove all secrets and all sandboxes with secret variables");
  }

  /**
   * Makes another key the current one: the configured one if {@code secrets.old_key} is set,
   * otherwise a new one beside the old one, or that of a rotation that did not complete.
   *
   * @throws dev.isola.spi.error.InvalidRequest if only the operator can replace the key
   */
  EncryptionKey beginRotation() {
    if (old.isPresent()) {
      return current().orElseThrow(this::missing);
    }
    KeyFile key =
        file()
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.INVALID_REQUEST,
                            "the server cannot replace a key that it gets from " + source,
                            "set secrets.key to the new key and secrets.old_key to the present one,"
                                + " restart the server, and rotate again")
                        .exception());
    if (key.read().isEmpty() && key.readNext().isEmpty()) {
      return create();
    }
    return key.createNext();
  }

  /** Drops the old key. Every value is encrypted with the current one. */
  void finishRotation() {
    if (old.isEmpty()) {
      file().filter(one -> one.readNext().isPresent()).ifPresent(KeyFile::replaceByNext);
    }
  }
}
