package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;

/**
 * Record of a sandbox, written before anything of it exists, so that another process can find,
 * reach and remove it. Contains the agent's secret; only the owner can read the file.
 *
 * @param workspace the working folder of commands
 * @param ownWorkspace whether it was created for this sandbox and is removed with it
 * @param shortLived whether its owner never returns to it
 * @param stopped whether its processes were ended and its files kept for a restart
 * @param agent empty until the agent has reported that it is ready
 */
public record SandboxRecord(
    SandboxId id,
    String instance,
    Instant createdAt,
    Path workspace,
    boolean ownWorkspace,
    Secret secret,
    Optional<Duration> commandTimeout,
    boolean shortLived,
    boolean stopped,
    Optional<AgentProcess> agent) {

  /** The line of the file by which programs other than the server recognize a stopped sandbox. */
  public static final String STOPPED = "stopped=true";

  /** Overwrites an incomplete file. */
  private static final Set<StandardOpenOption> CREATE_OPTIONS =
      Set.of(
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.WRITE);

  /** A creation that started earlier than this has been abandoned. */
  private static final Duration CREATION_TIMEOUT = Duration.ofHours(1);

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  public static SandboxRecord forSpec(
      SandboxSpec spec, String instance, Instant now, SandboxFolder folder, Secret secret) {
    return new SandboxRecord(
        spec.id(),
        instance,
        now,
        spec.workspacePath().orElse(folder.workspace()),
        spec.workspacePath().isEmpty(),
        secret,
        spec.limits().timeout(),
        spec.linger().isPresent() && spec.linger().get().isZero(),
        false,
        Optional.empty());
  }

  /** Returns the record with the running agent. */
  public SandboxRecord withAgent(AgentProcess process) {
    return with(false, Optional.of(process));
  }

  SandboxRecord withStopped() {
    return with(true, agent);
  }

  private SandboxRecord with(boolean isStopped, Optional<AgentProcess> process) {
    return new SandboxRecord(
        id,
        instance,
        createdAt,
        workspace,
        ownWorkspace,
        secret,
        commandTimeout,
        shortLived,
        isStopped,
        process);
  }

  public boolean isAlive() {
    return agent.isPresent()
        ? agent.get().isAlive()
        : !AgentProcess.findByCommandLine(instance, id.value()).isEmpty();
  }

  /**
   * Returns true when the owner never returns and the agent has ended, or never started because the
   * owner was killed during creation.
   */
  public boolean isAbandoned(Instant now) {
    return shortLived
        && !stopped
        && (agent.isPresent()
            ? !agent.get().isAlive()
            : createdAt.plus(CREATION_TIMEOUT).isBefore(now));
  }

  /**
   * Returns the live processes to wait for: the agent if it has a pid namespace, otherwise all
   * processes with this sandbox on their command line.
   */
  public List<AgentProcess> processes() {
    return agent.filter(AgentProcess::namespaces).isPresent()
        ? agent.filter(AgentProcess::isAlive).stream().toList()
        : AgentProcess.findByCommandLine(instance, id.value());
  }

  /** Replaces the record atomically. */
  public void write(Path file) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    writeNew(temporary);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Writes the first record of a sandbox. An incomplete record counts as none. */
  void writeNew(Path file) throws IOException {
    Properties properties = new Properties();
    properties.setProperty("id", id.value());
    properties.setProperty("instance", instance);
    properties.setProperty("createdAt", createdAt.toString());
    properties.setProperty("workspace", workspace.toString());
    properties.setProperty("ownWorkspace", Boolean.toString(ownWorkspace));
    properties.setProperty("secret", HexFormat.of().formatHex(secret.reveal()));
    properties.setProperty("shortLived", Boolean.toString(shortLived));
    properties.setProperty("stopped", Boolean.toString(stopped));
    commandTimeout.ifPresent(limit -> properties.setProperty("commandTimeout", limit.toString()));
    agent.ifPresent(
        process -> {
          properties.setProperty("agentPid", Long.toString(process.pid()));
          properties.setProperty("agentStart", Long.toString(process.startTime()));
          properties.setProperty("agentNamespaces", Boolean.toString(process.namespaces()));
        });
    try (OutputStream out =
        Channels.newOutputStream(Files.newByteChannel(file, CREATE_OPTIONS, OWNER_ONLY))) {
      properties.store(out, null);
    }
  }

  /** Reads a record; empty when it does not exist or is incomplete. */
  public static Optional<SandboxRecord> read(Path file) throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      properties.load(in);
      return Optional.of(
          new SandboxRecord(
              new SandboxId(require(properties, "id")),
              require(properties, "instance"),
              Instant.parse(require(properties, "createdAt")),
              Path.of(require(properties, "workspace")),
              Boolean.parseBoolean(require(properties, "ownWorkspace")),
              Secret.of(HexFormat.of().parseHex(require(properties, "secret"))),
              Optional.ofNullable(properties.getProperty("commandTimeout")).map(Duration::parse),
              Boolean.parseBoolean(require(properties, "shortLived")),
              Boolean.parseBoolean(properties.getProperty("stopped")),
              Optional.ofNullable(properties.getProperty("agentPid"))
                  .map(pid -> agentOf(properties, pid))));
    } catch (NoSuchFileException | RuntimeException missingOrDamaged) {
      return Optional.empty();
    }
  }

  private static AgentProcess agentOf(Properties properties, String pid) {
    return new AgentProcess(
        Long.parseLong(pid),
        Long.parseLong(require(properties, "agentStart")),
        Boolean.parseBoolean(require(properties, "agentNamespaces")));
  }

  private static String require(Properties properties, String name) {
    String value = properties.getProperty(name);
    if (value == null) {
      throw new IllegalArgumentException("the record has no " + name);
    }
    return value;
  }
}
