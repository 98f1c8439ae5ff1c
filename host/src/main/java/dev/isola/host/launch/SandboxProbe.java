package dev.isola.host.launch;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.isola.link.InstalledProgram;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reports the last boot of the smallest sandbox, which tells more than the presence of a program.
 * The results are in the data folder, so that short-lived commands do not boot again. A boot
 * follows only if there is no result yet for this program, configuration, version of Isola and boot
 * of the host, or if the last one failed a while ago.
 */
public final class SandboxProbe {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final String FILE = "trials";
  private static final String FOLDER = "trial";
  private static final String LOCK = "trial.lock";

  /** One for each lock file: the kernel's locks do not exclude other threads of a process. */
  private static final Map<Path, ReentrantLock> LOCKS = new ConcurrentHashMap<>();

  private static final int MAX_PROBLEM_LENGTH = 400;

  private final ProviderContext context;
  private final Path file;
  private final InstalledProgram agent;
  private final InstalledProgram launcher;
  private final Path lockFile;

  public SandboxProbe(ProviderContext context) {
    this.context = context;
    this.file = context.dataFolder().resolve(FILE);
    this.lockFile = context.dataFolder().resolve(LOCK).toAbsolutePath().normalize();
    Path programs = context.dataFolder().resolve("bin");
    this.agent = InstalledProgram.agent(programs);
    this.launcher = LauncherBinary.in(programs);
  }

  /**
   * A probe.
   *
   * @param kind names the result among those of the provider
   * @param subject what is probed; must change whenever the program or its configuration does
   * @param timeout the startup timeout of the sandbox
   * @param failureTtl the time after which a failure is tried again
   * @param memory whether it also forks the sandbox with its processes
   */
  public record ProbeRequest(
      String kind,
      String subject,
      Isolator isolator,
      Duration timeout,
      Duration failureTtl,
      boolean memory) {
    public ProbeRequest(
        String kind, String subject, Isolator isolator, Duration timeout, Duration failureTtl) {
      this(kind, subject, isolator, timeout, failureTtl, false);
    }
  }

  /** Removes the results of a provider, so that its next health check boots a sandbox. */
  public static void discardResults(Path dataFolder) throws IOException {
    Files.deleteIfExists(dataFolder.resolve(FILE));
  }

  /** Returns why the probe fails; empty if it succeeds. */
  public Optional<String> failure(ProbeRequest request) {
    ReentrantLock lock = LOCKS.computeIfAbsent(lockFile, _ -> new ReentrantLock());
    lock.lock();
    try {
      String identity = identity(request);
      Optional<Optional<String>> last = lastResult(request, identity);
      if (last.isPresent()) {
        return last.get();
      }
      // A probe may need the result of another one, which this thread then makes meanwhile.
      Optional<String> problem = lock.getHoldCount() > 1 ? attempt(request) : attemptAlone(request);
      if (problem.isEmpty() || !Thread.currentThread().isInterrupted()) {
        store(request, identity, problem); // a server that stops says nothing about the runtime
      }
      return problem;
    } finally {
      lock.unlock();
    }
  }

  /** Settings of the kernel may differ after each boot of the host. */
  private String identity(ProbeRequest request) {
    return String.join(
        " ",
        request.subject(),
        agent.path().getFileName().toString(),
        launcher.path().getFileName().toString(),
        bootId());
  }

  private static String bootId() {
    try {
      return Files.readString(BOOT_ID).strip();
    } catch (IOException hidden) {
      return "";
    }
  }

  /** Holds the lock of all processes, and destroys what a process that was killed has left. */
  private Optional<String> attemptAlone(ProbeRequest request) {
    ProviderContext apart = probeContext(); // creates the data folder
    try (FileChannel running = FileChannel.open(lockFile, CREATE, WRITE)) {
      if (running.tryLock() != null) {
        destroyLeftovers(apart, request);
      }
      return attempt(request);
    } catch (IOException e) {
      throw unusable(lockFile, e);
    }
  }

  private Optional<String> attempt(ProbeRequest request) {
    SandboxSpec spec = spec(request);
    SandboxSpec fork = spec(request);
    try (LocalProvider provider = provider(probeContext(), request)) {
      try {
        Sandbox sandbox = provider.create(spec);
        if (request.memory()) {
          try (ForkPoint point = sandbox.as(MemoryForking.class).orElseThrow().createForkPoint()) {
            point.create(fork);
          }
        }
        return Optional.empty();
      } catch (SandboxException e) {
        String what = e.fault().problem();
        return Optional.of(what.substring(0, Math.min(what.length(), MAX_PROBLEM_LENGTH)));
      } finally {
        provider.destroy(fork.id(), DestroyOptions.FORCE);
        provider.destroy(spec.id(), DestroyOptions.FORCE);
      }
    }
  }

  /** The caller holds the lock that every probe holds, so no other probe needs these sandboxes. */
  private static void destroyLeftovers(ProviderContext apart, ProbeRequest request) {
    try (LocalProvider provider = provider(apart, request)) {
      for (InventoryItem left : provider.inventory()) {
        provider.destroy(left.id(), DestroyOptions.FORCE);
      }
    }
  }

  private static LocalProvider provider(ProviderContext apart, ProbeRequest request) {
    return new LocalProvider(apart, new IsolatedBooter(apart, request.isolator()));
  }

  /**
   * Returns the spec of a short-lived sandbox: if this process is killed, it ends by itself and the
   * next probe removes what is left. Its id is shorter by as much as its folder is longer, so that
   * the paths of its sockets are not too long where those of other sandboxes are not.
   */
  private static SandboxSpec spec(ProbeRequest request) {
    String id = SandboxId.random(new SecureRandom()).value();
    return SandboxSpec.builder(new SandboxId(id.substring(FOLDER.length() + 1)))
        .startupTimeout(request.timeout())
        .deadline(request.timeout().plusSeconds(30))
        .linger(Duration.ZERO)
        .build();
  }

  /**
   * Returns a context with a separate folder: in the provider's own folder, a server's
   * reconciliation would find a sandbox that is not in its ledger and remove it during the probe.
   */
  private ProviderContext probeContext() {
    Path folder = context.dataFolder().resolve(FOLDER);
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
    } catch (IOException e) {
      throw unusable(folder, e);
    }
    return new ProviderContext(context.instance(), folder, context.sharedFolder(), context.clock());
  }

  private static SandboxException unusable(Path path, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            path + " cannot be created: " + e.getMessage(),
            "check the permissions of the data folder")
        .exception(e);
  }

  private Optional<Optional<String>> lastResult(ProbeRequest request, String identity) {
    Properties results = read();
    if (!identity.equals(results.getProperty(request.kind() + ".identity"))) {
      return Optional.empty();
    }
    String problem = results.getProperty(request.kind() + ".problem", "");
    if (problem.isEmpty()) {
      return Optional.of(Optional.empty());
    }
    try {
      String retry = results.getProperty(request.kind() + ".retry", "");
      return context.clock().instant().isBefore(Instant.parse(retry))
          ? Optional.of(Optional.of(problem))
          : Optional.empty();
    } catch (DateTimeParseException damaged) {
      return Optional.empty();
    }
  }

  private Properties read() {
    Properties results = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      results.load(in);
    } catch (IOException | IllegalArgumentException missingOrDamaged) {
      return new Properties();
    }
    return results;
  }

  /** Stores a result; if that fails, the next call probes again. */
  private void store(ProbeRequest request, String identity, Optional<String> problem) {
    Properties results = read();
    results.setProperty(request.kind() + ".identity", identity);
    Instant retry = context.clock().instant().plus(request.failureTtl());
    results.setProperty(request.kind() + ".retry", retry.toString());
    results.setProperty(request.kind() + ".problem", problem.orElse(""));
    try {
      Path temporary = Files.createTempFile(context.dataFolder(), FILE, ".new");
      try {
        try (OutputStream out = Files.newOutputStream(temporary)) {
          results.store(out, null);
        }
        Files.move(
            temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(temporary);
      }
    } catch (IOException readOnly) {
      // Not stored.
    }
  }
}
