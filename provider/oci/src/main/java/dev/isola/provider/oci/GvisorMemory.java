package dev.isola.provider.oci;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.program.GvisorRelease;
import dev.isola.spi.provider.ProviderConfig;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Detects whether running sandboxes can be saved: the version must be known to do it, and a sandbox
 * that is forked for a trial must continue.
 */
final class GvisorMemory {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration FAILURE_TTL = Duration.ofMinutes(10);

  private final ProviderConfig config;
  private final SandboxProbe probes;
  private final Supplier<Optional<String>> platform;
  private final Map<String, Optional<String>> problems = new ConcurrentHashMap<>();

  GvisorMemory(ProviderConfig config, SandboxProbe probes, Supplier<Optional<String>> platform) {
    this.config = config;
    this.probes = probes;
    this.platform = platform;
  }

  /** Returns why sandboxes cannot be saved; empty if they can. */
  Optional<String> problem(RuntimeProbe installed) {
    Optional<HostProgram> program = installed.program();
    if (program.isEmpty() || !SandboxUserIds.rangesAvailable()) {
      return Optional.of("it needs root");
    }
    if (installed.version().filter(found -> new GvisorRelease(found).savesMemory()).isEmpty()) {
      return Optional.of("it needs release " + GvisorRelease.MEMORY + " or newer");
    }
    String subject = installed.subject(program.get());
    Optional<String> known = problems.get(subject);
    if (known == null) { // not while the map is locked: the trial asks as well
      known = failure(subject);
      problems.put(subject, known);
    }
    return known;
  }

  private Optional<String> failure(String subject) {
    OciRuntime runtime = new GvisorRuntime(platform);
    OciIsolator isolator = new OciIsolator(runtime, new RuntimeProbe(runtime, config, probes));
    return probes.failure(
        new SandboxProbe.ProbeRequest("memory", subject, isolator, TIMEOUT, FAILURE_TTL, true));
  }
}
