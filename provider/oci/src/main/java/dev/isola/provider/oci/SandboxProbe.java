package dev.isola.provider.oci;

import dev.isola.host.launch.IsolatedBooter;
import dev.isola.host.launch.Isolator;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.DestroyOptions;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Probes whether a runtime can create sandboxes on this host by creating one. Results are cached in
 * the data folder, so that short-lived commands do not repeat the probe.
 */
final class SandboxProbe {
  private static final Duration SUCCESS_TTL = Duration.ofHours(1);
  private static final int MAX_PROBLEM_LENGTH = 400;

  private final ProviderContext context;
  private final Path file;
  private final ReentrantLock lock = new ReentrantLock();

  SandboxProbe(ProviderContext context) {
    this.context = context;
    this.file = context.dataFolder().resolve("trials");
  }

  /**
   * A probe.
   *
   * @param key identifies the result; must change whenever the result may
   * @param timeout the startup timeout of the sandbox
   * @param failureTtl how long a failure is cached
   * @param memory whether it also forks the sandbox with its processes
   */
  record ProbeRequest(
      String key, Isolator isolator, Duration timeout, Duration failureTtl, boolean memory) {
    ProbeRequest(String key, Isolator isolator, Duration timeout, Duration failureTtl) {
      this(key, isolator, timeout, failureTtl, false);
    }
  }

  /** Returns why the probe fails; empty if it succeeds. */
  Optional<String> failure(ProbeRequest request) {
    lock.lock();
    try {
      Optional<Optional<String>> cached = cached(request);
      if (cached.isPresent()) {
        return cached.get();
      }
      Optional<String> problem = attempt(request);
      if (problem.isEmpty() || !Thread.currentThread().isInterrupted()) {
        store(request.key(), problem); // a server that stops says nothing about the runtime
      }
      return problem;
    } finally {
      lock.unlock();
    }
  }

  private Optional<String> attempt(ProbeRequest request) {
    SandboxSpec spec = spec(request);
    SandboxSpec fork = spec(request);
    ProviderContext apart = probeContext();
    try (LocalProvider provider =
        new LocalProvider(apart, new IsolatedBooter(apart, request.isolator()))) {
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

  /**
   * Returns the spec of a short-lived sandbox: if this process is killed, it ends by itself and the
   * next create cleans up.
   */
  private static SandboxSpec spec(ProbeRequest request) {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
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
    Path folder = context.dataFolder().resolve("trial");
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folder " + folder + " cannot be created: " + e.getMessage(),
              "check the permissions of the data folder")
          .exception(e);
    }
    return new ProviderContext(context.instance(), folder, context.sharedFolder(), context.clock());
  }

  private Optional<Optional<String>> cached(ProbeRequest request) {
    String found = read().getProperty(request.key());
    if (found == null || found.indexOf(' ') < 0) {
      return Optional.empty();
    }
    Instant at = Instant.ofEpochSecond(Long.parseLong(found.substring(0, found.indexOf(' '))));
    Optional<String> problem =
        Optional.of(found.substring(found.indexOf(' ') + 1)).filter(text -> !text.isEmpty());
    Instant until = at.plus(problem.isPresent() ? request.failureTtl() : SUCCESS_TTL);
    return context.clock().instant().isBefore(until) ? Optional.of(problem) : Optional.empty();
  }

  private Properties read() {
    Properties cached = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      cached.load(in);
    } catch (IOException | IllegalArgumentException missingOrDamaged) {
      return new Properties();
    }
    return cached;
  }

  /** Caches a result; if that fails, the next call probes again. */
  private void store(String what, Optional<String> problem) {
    Properties cached = read();
    cached.setProperty(what, context.clock().instant().getEpochSecond() + " " + problem.orElse(""));
    try {
      Path temporary = Files.createTempFile(context.dataFolder(), "trials", ".new");
      try {
        try (OutputStream out = Files.newOutputStream(temporary)) {
          cached.store(out, null);
        }
        Files.move(
            temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(temporary);
      }
    } catch (IOException readOnly) {
      // Not cached.
    }
  }
}
