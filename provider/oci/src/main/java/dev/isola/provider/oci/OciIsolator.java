package dev.isola.provider.oci;

import dev.isola.host.launch.Checkpoints;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.LaunchPlan;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.host.program.Version;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.Prerequisite;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Isolates with an OCI runtime, which runs a bundle next to the staged root. */
final class OciIsolator implements Isolator {
  private final OciRuntime runtime;
  private final RuntimeProbe probe;

  OciIsolator(OciRuntime runtime, RuntimeProbe probe) {
    this.runtime = runtime;
    this.probe = probe;
  }

  @Override
  public Traits traits() {
    return runtime.traits();
  }

  @Override
  public List<Prerequisite> prerequisites() {
    return probe.prerequisites();
  }

  @Override
  public Health health() {
    return probe.health();
  }

  @Override
  public SandboxKernel kernel() {
    return runtime.kernel();
  }

  @Override
  public boolean refusesBootId() {
    return runtime.refusesBootId();
  }

  @Override
  public boolean supportsBridge() {
    return runtime.supportsBridge();
  }

  @Override
  public Set<Class<? extends Capability>> unsupportedCapabilities() {
    return probe.version().map(runtime::unsupportedCapabilities).orElse(Set.of());
  }

  @Override
  public Optional<Checkpoints> checkpoints() {
    return runtime.checkpoints(probe);
  }

  @Override
  public void plan(LaunchPlan plan, StagedSandbox staged) {
    String program = probe.requirePath();
    // On an image the root is a writable layer.
    boolean readOnly = runtime.makesReadOnly() && !staged.image();
    boolean users = runtime.entersUserNamespace(staged);
    String owner = Long.toString(users ? 0 : staged.users().firstId());
    plan.step(
        "bundle",
        owner,
        OciBundle.of(
            staged,
            readOnly,
            runtime.kernel(),
            users,
            runtime.mounts(staged, probe.version().orElse(Version.of("0")))));
    if (users && checkpoints().isPresent()) { // one that starts as another user is not saved
      plan.step("beside", Checkpoints.state(staged.folder()).toString(), "state", "writable");
    }
    runtime.prepare(plan, staged);
    plan.run(runtime.commandLine(program, staged));
  }

  @Override
  public void verify(RunningSandbox running) {
    runtime.verify(running);
  }
}
