package dev.isola.provider.subprocess;

import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.BootRecord.Namespaces;
import dev.isola.link.UnixSocketConnector;
import dev.isola.spi.Bytes;
import dev.isola.spi.Destroy;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.Requirement;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
import dev.isola.spi.SpecSupport;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.LimitKind;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs commands as plain processes of this user: no isolation, but everything else of the contract. Each sandbox is a
 * guest agent in a folder of its own; its files are confined to its workspace, its processes end with it.
 *
 * <p>Everything that is known of a sandbox lies in its folder, so that any process of this instance can find it, attach
 * to it and destroy it.
 */
final class SubprocessProvider implements Provider {
  static final String NAME = "subprocess";

  private static final Set<Class<? extends Capability>> CAPABILITIES =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class);
  private static final int RLIMIT_NOFILE = 7;

  private final ProviderContext context;
  private final AgentStarter starter;
  private final Path sandboxes;
  private final Map<SandboxId, AgentSandbox> attached = new ConcurrentHashMap<>();
  private final Map<SandboxId, ReentrantLock> busy = new ConcurrentHashMap<>();
  private volatile @Nullable ProviderInfo info;

  SubprocessProvider(ProviderContext context) {
    this.context = context;
    this.starter =
        new AgentStarter(context.dataFolder().resolve("bin"), context.instance().value());
    this.sandboxes = context.dataFolder().resolve("sandboxes");
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo known = info;
    if (known == null) {
      known = describe(starter.namespacesAvailable());
      info = known;
    }
    return known;
  }

  private static ProviderInfo describe(boolean namespaces) {
    return new ProviderInfo(
        NAME,
        "plain processes of this user; no isolation",
        ApiVersion.CURRENT,
        Isolation.PROCESS,
        CAPABILITIES,
        new SpecSupport(
            false,
            ProcessUser.isRoot(),
            Set.of(NetworkMode.HOST),
            namespaces ? Set.of(Volume.Type.BIND) : Set.of(),
            Set.of(LimitKind.FILE_DESCRIPTORS, LimitKind.TIMEOUT)),
        List.of(
            new Requirement(
                "pid and mount namespaces",
                false,
                namespaces,
                namespaces ? "to be had" : "not to be had for this user",
                namespaces
                    ? ""
                    : "allow user namespaces: sysctl -w user.max_user_namespaces=10000, and on"
                        + " Debian kernel.unprivileged_userns_clone=1, on Ubuntu"
                        + " kernel.apparmor_restrict_unprivileged_userns=0")),
        namespaces
            ? "a pid namespace: the kernel ends every process with the agent"
            : "subreaper and kill loop: found through /proc, stopped, killed until none is left",
        Duration.ofMillis(10));
  }

  @Override
  public Health health() {
    try {
      Files.createDirectories(sandboxes);
      dev.isola.link.AgentBinary.install(context.dataFolder().resolve("bin"));
      return new Health.Healthy("the guest agent is in place");
    } catch (IOException e) {
      return new Health.Unhealthy(
          "the data folder cannot be written: " + e.getMessage(),
          "make " + context.dataFolder() + " writable, or choose another with --data");
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().what(), e.fault().remedy());
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    SpecCheck.refuseWhatCannotBe(spec);
    return exclusively(
        spec.id(),
        () -> {
          Optional<Sandbox> existing = attachLocked(spec.id());
          if (existing.isPresent()) {
            return existing.get();
          }
          SandboxFolder folder = folder(spec.id());
          if (folder.exists()) {
            throw Fault.of(
                    ErrorCode.CONFLICT,
                    "there are remains of a sandbox " + spec.id(),
                    "destroy it first, or use another id")
                .sandbox(spec.id())
                .exception();
          }
          removeWhatShortLivedOwnersLeft();
          try {
            return make(spec, folder);
          } catch (IOException e) {
            cleanUp(spec.id(), e);
            throw Fault.of(
                    ErrorCode.SPAWN_FAILED,
                    "the sandbox's folder cannot be made: " + e.getMessage(),
                    "check space and rights of " + sandboxes)
                .sandbox(spec.id())
                .exception(e);
          } catch (RuntimeException e) {
            cleanUp(spec.id(), e);
            throw e;
          }
        });
  }

  private Sandbox make(SandboxSpec spec, SandboxFolder folder) throws IOException {
    long deadline = System.nanoTime() + spec.startupTimeout().toNanos();
    new UnixSocketConnector(folder.socket()); // refuses a path that is too long before anything is made
    folder.make();
    SandboxRecord record =
        SandboxRecord.intent(
            spec,
            context.instance().value(),
            context.clock().instant(),
            folder,
            BootRecord.newSecret());
    record.write(folder.record());
    if (record.ownWorkspace()) {
      Files.createDirectory(record.workspace());
      ProcessUser.give(record.workspace(), spec.user());
    }
    AgentProcess agent =
        starter.start(spec.id(), boot(spec, record, folder), spec.startupTimeout());
    record = record.withAgent(agent);
    record.write(folder.record());
    AgentSandbox sandbox = sandbox(record, folder);
    attached.put(spec.id(), sandbox);
    sandbox.ping();
    seed(sandbox, spec);
    initialize(sandbox, spec, Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
    return sandbox;
  }

  private static BootRecord boot(SandboxSpec spec, SandboxRecord record, SandboxFolder folder) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("HOME", record.workspace().toString());
    env.put("LANG", "C.UTF-8");
    env.putAll(spec.env());
    BootRecord.Builder boot =
        BootRecord.builder(spec.id(), record.secret())
            .socket(folder.socket())
            .lock(folder.lock())
            .confine(record.workspace(), spec.workspaceMount())
            .cwd(spec.workingFolder())
            .user(spec.user())
            .env(env)
            .rlimit(
                RLIMIT_NOFILE, spec.limits().fileDescriptors(), spec.limits().fileDescriptors())
            .namespaces(
                spec.volumes().isEmpty() ? Namespaces.IF_POSSIBLE : Namespaces.REQUIRED);
    spec.ttl().ifPresent(boot::deadline);
    spec.linger().ifPresent(boot::linger);
    for (Volume volume : spec.volumes()) {
      boot.bind(Path.of(volume.source()), volume.destination(), volume.readOnly());
    }
    return boot.build();
  }

  private static void seed(Sandbox sandbox, SandboxSpec spec) {
    for (Map.Entry<String, Bytes> file : spec.seedFiles().entrySet()) {
      sandbox
          .files()
          .write(
              file.getKey(),
              new ByteArrayInputStream(file.getValue().toArray()),
              WriteOptions.DEFAULT);
    }
  }

  private static void initialize(Sandbox sandbox, SandboxSpec spec, Duration left) {
    if (spec.init().isEmpty()) {
      return;
    }
    ExecResult result = sandbox.run(spec.init().get().withTimeout(left));
    if (!result.succeeded()) {
      throw Fault.of(
              ErrorCode.SPAWN_FAILED,
              "the init command failed with " + result.exit() + ": " + result.stderr().text(),
              "correct the init command")
          .sandbox(spec.id())
          .exception();
    }
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return exclusively(id, () -> attachLocked(id));
  }

  private Optional<Sandbox> attachLocked(SandboxId id) {
    SandboxFolder folder = folder(id);
    Optional<SandboxRecord> record = recordIn(folder);
    if (record.isEmpty() || !isAlive(record.get())) {
      return Optional.empty();
    }
    AgentSandbox known = attached.get(id);
    if (known != null && known.state() == SandboxState.RUNNING) {
      return Optional.of(known);
    }
    AgentSandbox sandbox = sandbox(record.get(), folder);
    try {
      sandbox.ping();
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    }
    attached.put(id, sandbox);
    return Optional.of(sandbox);
  }

  private AgentSandbox sandbox(SandboxRecord record, SandboxFolder folder) {
    return AgentSandbox.builder(
            record.id(), new UnixSocketConnector(folder.socket()), record.secret())
        .capabilities(CAPABILITIES)
        .commandTimeout(record.commandTimeout())
        .build();
  }

  @Override
  public List<Sighting> inventory() {
    List<Sighting> found = new ArrayList<>();
    for (SandboxFolder folder : folders()) {
      Optional<SandboxRecord> record = recordIn(folder);
      if (record.isPresent() && record.get().instance().equals(context.instance().value())) {
        found.add(sighting(record.get(), folder));
      }
    }
    return found;
  }

  private Sighting sighting(SandboxRecord record, SandboxFolder folder) {
    Map<String, String> details = new LinkedHashMap<>();
    details.put("folder", folder.path().toString());
    details.put("workspace", record.workspace().toString());
    record.agent().ifPresent(agent -> details.put("agentPid", Long.toString(agent.pid())));
    return new Sighting(
        record.id(),
        isAlive(record) ? SandboxState.RUNNING : SandboxState.ERROR,
        record.createdAt(),
        details);
  }

  @Override
  public void destroy(SandboxId id, Destroy how) {
    exclusively(
        id,
        () -> {
          destroyLocked(id, how);
          return id;
        });
    busy.remove(id);
  }

  private void destroyLocked(SandboxId id, Destroy how) {
    SandboxFolder folder = folder(id);
    AgentSandbox sandbox = attached.remove(id);
    if (!folder.exists()) {
      return;
    }
    Optional<SandboxRecord> record = recordIn(folder);
    if (record.isPresent()) {
      end(record.get(), sandbox == null ? sandbox(record.get(), folder) : sandbox, how);
    }
    try {
      folder.remove();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folder of sandbox " + id + " cannot be removed: " + e.getMessage(),
              "remove what holds it and destroy again")
          .sandbox(id)
          .exception(e);
    }
  }

  /** Ends all processes: by asking the agent, and by force when it does not answer in half of the time. */
  private void end(SandboxRecord record, AgentSandbox sandbox, Destroy how) {
    long start = System.nanoTime();
    List<AgentProcess> processes = processesOf(record);
    if (!processes.isEmpty()) {
      try {
        sandbox.shutdown();
      } catch (SandboxException silent) {
        processes.forEach(AgentProcess::kill);
      }
      long half = start + how.timeout().toNanos() / 2;
      awaitEnd(processes, half);
      processes.forEach(AgentProcess::kill);
    }
    sandbox.markDestroyed("it was destroyed");
    sandbox.close();
    long until = start + how.timeout().toNanos();
    List<AgentProcess> left = processesOf(record);
    while (!left.isEmpty()) {
      if (System.nanoTime() - until >= 0) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "processes of sandbox " + record.id() + " are left: " + left,
                "destroy again, or end them by hand")
            .sandbox(record.id())
            .exception();
      }
      awaitEnd(left, System.nanoTime() + Duration.ofMillis(100).toNanos());
      left = processesOf(record);
    }
  }

  private static void awaitEnd(List<AgentProcess> processes, long until) {
    while (processes.stream().anyMatch(AgentProcess::alive) && System.nanoTime() - until < 0) {
      LockSupport.parkNanos(500_000);
    }
  }

  /**
   * Returns the agent; where it is not known, or has no namespace whose end is everybody's, whatever bears our marks.
   */
  private List<AgentProcess> processesOf(SandboxRecord record) {
    if (record.agent().isPresent() && record.agent().get().namespaces()) {
      return record.agent().filter(AgentProcess::alive).stream().toList();
    }
    return AgentProcess.marked(record.instance(), record.id().value());
  }

  private boolean isAlive(SandboxRecord record) {
    return record.agent().isPresent()
        ? record.agent().get().alive()
        : !AgentProcess.marked(record.instance(), record.id().value()).isEmpty();
  }

  /** What an owner left behind that never comes back: it was killed before it could destroy its sandbox. */
  private void removeWhatShortLivedOwnersLeft() {
    for (SandboxFolder folder : folders()) {
      Optional<SandboxRecord> record = recordIn(folder);
      if (record.isPresent()
          && record.get().shortLived()
          && record.get().agent().isPresent()
          && !isAlive(record.get())) {
        try {
          folder.remove();
        } catch (IOException heldBySomebody) {
          continue; // the inventory goes on showing it
        }
      }
    }
  }

  private void cleanUp(SandboxId id, Exception because) {
    try {
      destroyLocked(id, Destroy.FORCE);
    } catch (SandboxException e) {
      because.addSuppressed(e);
    }
  }

  private List<SandboxFolder> folders() {
    List<SandboxFolder> found = new ArrayList<>();
    if (Files.isDirectory(sandboxes)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(sandboxes)) {
        entries.forEach(entry -> found.add(new SandboxFolder(entry)));
      } catch (IOException e) {
        throw unreadable(e);
      }
    }
    return found;
  }

  private Optional<SandboxRecord> recordIn(SandboxFolder folder) {
    try {
      return SandboxRecord.read(folder.record());
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private SandboxException unreadable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the data folder cannot be read: " + e.getMessage(),
            "check the rights of " + sandboxes)
        .exception(e);
  }

  private SandboxFolder folder(SandboxId id) {
    return new SandboxFolder(sandboxes.resolve(id.value()));
  }

  /** Create, attach and destroy of one sandbox follow one another. */
  private <T> T exclusively(SandboxId id, java.util.function.Supplier<T> action) {
    ReentrantLock lock = busy.computeIfAbsent(id, ignored -> new ReentrantLock());
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    attached.values().forEach(AgentSandbox::close);
    attached.clear();
  }
}
