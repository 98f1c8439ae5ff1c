package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/**
 * What an agent is told before it listens, over a descriptor that only it can read. Made by a
 * provider, written to the agent's boot descriptor, then thrown away: it holds the secret.
 */
public final class BootRecord {
  /**
   * Whether the agent puts itself and its commands into namespaces of its own, with {@code
   * --detach}.
   */
  public enum Namespaces {
    NONE(0),
    /** A pid and a mount namespace if they can be had; the agent's {@code ready} line tells. */
    IF_POSSIBLE(1),
    REQUIRED(2);

    private final int value;

    Namespaces(int value) {
      this.value = value;
    }
  }

  private final byte[] encoded;
  private final SandboxId id;

  private BootRecord(SandboxId id, byte[] fields) {
    this.id = id;
    encoded = new byte[4 + fields.length];
    Wire.putInt(encoded, 0, fields.length);
    System.arraycopy(fields, 0, encoded, 4, fields.length);
  }

  /** Returns a fresh secret of 32 random bytes. */
  public static Secret newSecret() {
    byte[] bytes = new byte[Wire.SECRET_SIZE];
    new SecureRandom().nextBytes(bytes);
    return Secret.of(bytes);
  }

  /**
   * Returns a record for a sandbox that was booted with {@code encoded} before.
   *
   * @param made when that was, by the clock of the machine that the sandbox is on: what is older on
   *     its disk is not counted as written
   * @throws IllegalArgumentException when it is no record
   */
  public static byte[] forRestart(byte[] encoded, Instant made) {
    int length = encoded.length - 4;
    if (length < 0 || Wire.getInt(encoded, 0) != length) {
      throw new IllegalArgumentException("this is no boot record");
    }
    long nanos =
        Math.addExact(Math.multiplyExact(made.getEpochSecond(), 1_000_000_000L), made.getNano());
    byte[] more = new WireFieldsBuilder().add(FieldTag.DISK_SINCE_NS, nanos).payload();
    byte[] all = Arrays.copyOf(encoded, encoded.length + more.length);
    System.arraycopy(more, 0, all, encoded.length, more.length);
    Wire.putInt(all, 0, length + more.length);
    return all;
  }

  /**
   * Starts a record.
   *
   * @throws IllegalArgumentException when the secret has not 32 bytes
   */
  public static Builder builder(SandboxId id, Secret secret) {
    return new Builder(id, secret);
  }

  /** Returns the bytes to write to the boot descriptor; they contain the secret. */
  public byte[] encode() {
    return encoded.clone();
  }

  @Override
  public String toString() {
    return "boot record of sandbox " + id + ", ***";
  }

  /** Collects the fields of a record. */
  public static final class Builder {
    private final SandboxId id;
    private final WireFieldsBuilder fields = new WireFieldsBuilder();

    private Builder(SandboxId id, Secret secret) {
      byte[] key = secret.reveal();
      if (key.length != Wire.SECRET_SIZE) {
        throw new IllegalArgumentException("an agent's secret has 32 bytes, not " + key.length);
      }
      this.id = id;
      fields.add(FieldTag.SECRET, key).add(FieldTag.SANDBOX, id.value());
    }

    /** Sets the unix socket to listen on. */
    public Builder socket(Path path) {
      fields.add(FieldTag.SOCKET, path.toString());
      return this;
    }

    /** Confines file operations beneath {@code root}, which callers call {@code mount}. */
    public Builder confine(Path root, String mount) {
      fields.add(FieldTag.ROOT, root.toString()).add(FieldTag.MOUNT, mount);
      return this;
    }

    /** Sets the default working folder. */
    public Builder cwd(String folder) {
      fields.add(FieldTag.CWD, folder);
      return this;
    }

    /** Names a folder that was made for the sandbox, so that it is its user's. */
    public Builder workspace(Optional<String> folder) {
      fields.add(FieldTag.WORKSPACE, folder);
      return this;
    }

    /** Sets the default user of commands and files. */
    public Builder user(Optional<String> name) {
      fields.add(FieldTag.USER, name);
      return this;
    }

    /** Adds to the environment that every command starts from. */
    public Builder env(Map<String, String> variables) {
      variables.forEach((key, value) -> fields.add(FieldTag.ENV, key + "=" + value));
      return this;
    }

    /** Sets the deadline, from when the agent reads the record. */
    public Builder deadline(Duration fromStart) {
      fields.add(FieldTag.TIMEOUT_MS, Math.max(1, fromStart.toMillis()));
      return this;
    }

    /** Sets how long the agent goes on with no server connected. */
    public Builder linger(Duration patience) {
      fields.add(FieldTag.LINGER_MS, patience.toMillis());
      return this;
    }

    public Builder namespaces(Namespaces wanted) {
      fields.add(FieldTag.NAMESPACES, wanted.value);
      return this;
    }

    /** Adds a mount to make in the mount namespace before serving. */
    public Builder bind(Path source, String destination, boolean readOnly) {
      byte[] from = source.toString().getBytes(UTF_8);
      byte[] to = destination.getBytes(UTF_8);
      byte[] value = new byte[5 + from.length + to.length];
      value[0] = (byte) (readOnly ? 1 : 0);
      Wire.putInt(value, 1, from.length);
      System.arraycopy(from, 0, value, 5, from.length);
      System.arraycopy(to, 0, value, 5 + from.length, to.length);
      fields.add(FieldTag.BIND, value);
      return this;
    }

    /**
     * Covers a folder with an empty one in the mount namespace; the confined root stays visible.
     */
    public Builder hide(Path folder) {
      fields.add(FieldTag.HIDE, folder.toString());
      return this;
    }

    /** Keeps a folder visible that lies beneath a hidden one. */
    public Builder keepVisible(Path folder) {
      fields.add(FieldTag.KEEP, folder.toString());
      return this;
    }

    /** Has the agent refuse system calls that no command of a sandbox needs. */
    public Builder seccomp(boolean setuidFiles) {
      fields.add(FieldTag.SECCOMP, setuidFiles ? 1 : 2);
      return this;
    }

    /**
     * Has the agent hide system calls that PRoot does not know, so that programs use older ones,
     * which it does. Refuses nothing.
     */
    public Builder hideNewSyscalls() {
      fields.add(FieldTag.SECCOMP, 3);
      return this;
    }

    /**
     * Sets how much may be written to what lies in {@code /.isola/layer} of the sandbox; where
     * there is no such folder, to its root.
     */
    public Builder diskLimit(long bytes) {
      fields.add(FieldTag.DISK_LIMIT, bytes);
      return this;
    }

    /** Sets how many processes commands may start, for an agent that has a pid namespace. */
    public Builder processLimit(int count) {
      fields.add(FieldTag.PROCESS_LIMIT, count);
      return this;
    }

    /**
     * Sets how many processors a command runs on, of those the agent may use: the number that
     * programs find when they ask how many there are.
     */
    public Builder processors(int count) {
      fields.add(FieldTag.PROCESSORS, count);
      return this;
    }

    /**
     * Has the agent serve {@code sudo} to members of the groups {@code sudo} and {@code wheel}, as
     * soon as the sandbox has one, where set-user-id programs do not work.
     */
    public Builder sudo() {
      fields.add(FieldTag.SUDO, 1);
      return this;
    }

    /** Sets a file that the agent holds an exclusive {@code flock} on while it lives. */
    public Builder lock(Path file) {
      fields.add(FieldTag.LOCK, file.toString());
      return this;
    }

    /**
     * Adds a limit that every command starts from; {@code kind} is Linux's number of the RLIMIT.
     */
    public Builder rlimit(int kind, long soft, long hard) {
      byte[] value = new byte[17];
      value[0] = (byte) kind;
      Wire.putLong(value, 1, soft);
      Wire.putLong(value, 9, hard);
      fields.add(FieldTag.RLIMIT, value);
      return this;
    }

    public BootRecord build() {
      return new BootRecord(id, fields.payload());
    }
  }
}
