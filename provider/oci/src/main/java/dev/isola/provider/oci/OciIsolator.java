package dev.isola.provider.oci;

import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Plan;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.Prerequisite;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Isolates by an OCI runtime: a bundle beside the staged root, and the runtime run on it. */
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
  public List<Prerequisite> requirements() {
    return probe.requirements();
  }

  @Override
  public Health health() {
    return probe.health();
  }

  @Override
  public Optional<String> socketFolder() {
    return runtime.socketFolder();
  }

  @Override
  public boolean ownKernel() {
    return runtime.ownKernel();
  }

  @Override
  public boolean bridges() {
    return runtime.bridges();
  }

  @Override
  public Set<Class<? extends Capability>> lacks() {
    return probe.version().map(runtime::lacks).orElse(Set.of());
  }

  @Override
  public void plan(Plan plan, Staged staged) {
    String program = probe.need();
    // A sandbox on an image writes to a layer of its own.
    boolean readOnly = runtime.makesReadOnly() && !staged.image();
    boolean users = runtime.entersUsers(staged);
    String owner = Long.toString(users ? 0 : staged.users().first());
    plan.step(
        "bundle",
        owner,
        Bundle.of(staged, readOnly, !runtime.ownKernel(), users, runtime.mounts()));
    runtime.prepare(plan, staged);
    plan.run(runtime.words(program, staged));
  }

  @Override
  public void verify(Running running) {
    runtime.verify(running);
  }
}
