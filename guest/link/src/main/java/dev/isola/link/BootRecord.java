package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Configuration of an agent, passed to it over a descriptor that only it can read, before it
 * listens. A provider builds it, writes it to the agent's boot descriptor and discards it, because
 * it holds the secret.
 */
public final class BootRecord {
  /** Whether the agent puts itself and its commands into new namespaces, with {@code --detach}. */
  public enum Namespaces {
    NONE(0),
    /** A pid and a mount namespace if available; the agent's {@code ready} line reports which. */
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

  /** Returns a new secret of 32 random bytes. */
  public static Secret newSecret() {
    byte[] bytes = new byte[Wire.SECRET_SIZE];
    new SecureRandom().nextBytes(bytes);
    return Secret.of(bytes);
  }

  /**
   * Returns a record to restart a sandbox that was booted with {@code encoded}.
   *
   * @param createdAt when the sandbox was created, by the clock of its machine; files that changed
   *     earlier do not count as written
   * @throws IllegalArgumentException when {@code encoded} is not a boot record
   */
  public static byte[] forRestart(byte[] encoded, Instant createdAt) {
    return append(
        encoded, new WireFieldsBuilder().add(FieldTag.DISK_SINCE_NS, Timestamps.nanos(createdAt)));
  }

  /**
   * Returns a record to boot or restart a virtual machine with {@code encoded}, which has neither a
   * time nor a seed.
   *
   * @param seed 32 random bytes
   * @throws IllegalArgumentException when {@code encoded} is not a boot record
   */
  public static byte[] forMachine(byte[] encoded, Instant now, byte[] seed) {
    return append(
        encoded,
        new WireFieldsBuilder()
            .add(FieldTag.TIME_NS, Timestamps.nanos(now))
            .add(FieldTag.NONCE, seed));
  }

  private static byte[] append(byte[] encoded, WireFieldsBuilder fields) {
    int length = encoded.length - 4;
    if (length < 0 || Wire.getInt(encoded, 0) != length) {
      throw new IllegalArgumentException("not a boot record");
    }
    byte[] added = fields.payload();
    byte[] combined = Arrays.copyOf(encoded, encoded.length + added.length);
    System.arraycopy(added, 0, combined, encoded.length, added.length);
    Wire.putInt(combined, 0, length + added.length);
    return combined;
  }

  /**
   * Returns a builder.
   *
   * @throws IllegalArgumentException when the secret does not have 32 bytes
   */
  public static Builder builder(SandboxId id, Secret secret) {
    return new Builder(id, secret);
  }

  /**
   * Returns a builder with what every sandbox gets from its spec: working folder, environment,
   * limit of file descriptors, deadline and linger.
   *
   * @param variables of the image or the provider; those of the spec take precedence
   */
  public static Builder forSpec(
      SandboxSpec spec, String instance, Secret secret, Map<String, String> variables) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("LANG", "C.UTF-8");
    env.putAll(variables);
    env.put("ISOLA_SANDBOX", spec.id().value());
    env.put("ISOLA_INSTANCE", instance);
    env.putAll(spec.environment());
    Builder builder =
        builder(spec.id(), secret)
            .cwd(spec.workingFolder())
            .env(env)
            .fileDescriptors(spec.limits().fileDescriptors());
    spec.deadline().ifPresent(builder::deadline);
    spec.linger().ifPresent(builder::linger);
    return builder;
  }

  /** Returns the bytes to write to the boot descriptor. They contain the secret. */
  public byte[] encode() {
    return encoded.clone();
  }

  /** Returns the fields alone. They contain the secret. */
  byte[] fields() {
    return Arrays.copyOfRange(encoded, 4, encoded.length);
  }

  @Override
  public String toString() {
    return "boot record of sandbox " + id + ", ***";
  }

  /** Builds a boot record. */
  public static final class Builder {
    private static final int RLIMIT_NPROC = 6;
    private static final int RLIMIT_NOFILE = 7;

    private final SandboxId id;
    private final WireFieldsBuilder fields = new WireFieldsBuilder();

    private Builder(SandboxId id, Secret secret) {
      byte[] key = secret.reveal();
      if (key.length != Wire.SECRET_SIZE) {
        throw new IllegalArgumentException(
            "an agent's secret must have 32 bytes, but has " + key.length);
      }
      this.id = id;
      fields.add(FieldTag.SECRET, key).add(FieldTag.SANDBOX, id.value());
    }

    /** Sets the unix socket to listen on. */
    public Builder socket(Path path) {
      fields.add(FieldTag.SOCKET, path.toString());
      return this;
    }

    /** Confines file operations beneath {@code root}, which requests name {@code mount}. */
    public Builder confine(Path root, String mount) {
      fields.add(FieldTag.ROOT, root.toString()).add(FieldTag.MOUNT, mount);
      return this;
    }

    /** Sets the default working folder. */
    public Builder cwd(String folder) {
      fields.add(FieldTag.CWD, folder);
      return this;
    }

    /** Names a folder created for the sandbox, which the agent gives to the sandbox's user. */
    public Builder workspace(Optional<String> folder) {
      fields.add(FieldTag.WORKSPACE, folder);
      return this;
    }

    /** Sets the default user of commands and files. */
    public Builder user(Optional<String> name) {
      fields.add(FieldTag.USER, name);
      return this;
    }

    /** Adds to the environment of every command. */
    public Builder env(Map<String, String> variables) {
      variables.forEach((key, value) -> fields.add(FieldTag.ENV, key + "=" + value));
      return this;
    }

    /** Sets the deadline, counted from when the agent reads the record. */
    public Builder deadline(Duration fromStart) {
      fields.add(FieldTag.TIMEOUT_MS, Math.max(1, fromStart.toMillis()));
      return this;
    }

    /** Sets how long the agent keeps running without a connected server. */
    public Builder linger(Duration timeout) {
      fields.add(FieldTag.LINGER_MS, timeout.toMillis());
      return this;
    }

    public Builder namespaces(Namespaces wanted) {
      fields.add(FieldTag.NAMESPACES, wanted.value);
      return this;
    }

    /** Adds a bind mount to create in the mount namespace before serving. */
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

    /** Makes the agent refuse system calls that no command needs. */
    public Builder seccomp(boolean setuidFiles) {
      fields.add(FieldTag.SECCOMP, setuidFiles ? 1 : 2);
      return this;
    }

    /**
     * Makes the agent hide system calls that PRoot does not support, so that programs fall back to
     * older ones. Refuses nothing.
     */
    public Builder hideNewSyscalls() {
      fields.add(FieldTag.SECCOMP, 3);
      return this;
    }

    /**
     * Limits how much the sandbox may write beneath {@code /.isola/layer}, or to its root when that
     * folder does not exist.
     */
    public Builder diskLimit(long bytes) {
      fields.add(FieldTag.DISK_LIMIT, bytes);
      return this;
    }

    /** Limits how many processes commands may start; requires an agent with a pid namespace. */
    public Builder processLimit(int count) {
      fields.add(FieldTag.PROCESS_LIMIT, count);
      return this;
    }

    /**
     * Sets on how many of the agent's processors a command runs, which is the number that programs
     * detect.
     */
    public Builder processors(int count) {
      fields.add(FieldTag.PROCESSORS, count);
      return this;
    }

    /**
     * Makes the agent serve {@code sudo} to members of the groups {@code sudo} and {@code wheel}
     * where set-user-id programs do not work.
     */
    public Builder sudo() {
      fields.add(FieldTag.SUDO, 1);
      return this;
    }

    /**
     * Makes the agent pass connections to other hosts to the server. It needs CAP_NET_ADMIN over a
     * network namespace of its own, and drops it.
     */
    public Builder egress() {
      fields.add(FieldTag.EGRESS, 1);
      return this;
    }

    /**
     * Makes the agent remove every network interface but loopback from its network namespace, for
     * which it needs CAP_NET_ADMIN. It drops that capability.
     */
    public Builder isolateNetwork() {
      fields.add(FieldTag.ISOLATE, 1);
      return this;
    }

    /**
     * Adds the variables of the image, which the agent's own environment has, before the others.
     */
    public Builder inheritEnvironment() {
      fields.add(FieldTag.INHERIT, 1);
      return this;
    }

    /** Sets a file on which the agent holds an exclusive {@code flock} while it lives. */
    public Builder lock(Path file) {
      fields.add(FieldTag.LOCK, file.toString());
      return this;
    }

    /** Limits how many files every process of a command may have open. */
    public Builder fileDescriptors(int count) {
      return rlimit(RLIMIT_NOFILE, count);
    }

    /** Limits how many threads every user has, where the host does not count them. */
    public Builder userThreads(int count) {
      return rlimit(RLIMIT_NPROC, count);
    }

    private Builder rlimit(int kind, long count) {
      byte[] value = new byte[17];
      value[0] = (byte) kind;
      Wire.putLong(value, 1, count);
      Wire.putLong(value, 9, count);
      fields.add(FieldTag.RLIMIT, value);
      return this;
    }

    /** Sets the host name of a virtual machine. */
    public Builder hostName(String name) {
      fields.add(FieldTag.HOST_NAME, name);
      return this;
    }

    /** Sets the clock of a virtual machine. */
    public Builder time(Instant now) {
      fields.add(FieldTag.TIME_NS, Timestamps.nanos(now));
      return this;
    }

    /**
     * Sets the bytes from which the random number generator of a virtual machine is seeded.
     *
     * @throws IllegalArgumentException when the seed does not have 32 bytes
     */
    public Builder seed(byte[] random) {
      if (random.length != Wire.NONCE_SIZE) {
        throw new IllegalArgumentException("a seed must have 32 bytes, but has " + random.length);
      }
      fields.add(FieldTag.NONCE, random);
      return this;
    }

    /** Sets up {@code eth0} of a virtual machine: {@code ADDRESS/PREFIX GATEWAY}. */
    public Builder network(String address) {
      fields.add(FieldTag.NETWORK, address);
      return this;
    }

    /**
     * Sets the content of {@code /etc/resolv.conf} of a virtual machine, or of a sandbox with
     * {@link #egress}.
     */
    public Builder resolvConf(String content) {
      fields.add(FieldTag.RESOLV_CONF, content);
      return this;
    }

    /** Limits how many threads a virtual machine has, those of its kernel included. */
    public Builder threadLimit(long count) {
      fields.add(FieldTag.THREAD_LIMIT, count);
      return this;
    }

    /** Adds a file system in memory to a virtual machine. */
    public Builder tmpfs(String path, long bytes) {
      fields.add(FieldTag.TMPFS, path + " " + bytes);
      return this;
    }

    public BootRecord build() {
      return new BootRecord(id, fields.payload());
    }
  }
}
