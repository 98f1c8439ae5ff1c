package dev.isola.provider.kubernetes;

import dev.isola.link.AgentSandbox;
import dev.isola.link.Deadline;
import dev.isola.link.InstallationKey;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates sandboxes: everything or nothing. */
record PodCreator(
    KubernetesSettings settings,
    SandboxPods pods,
    NamespaceObjects objects,
    PodWatch watch,
    PodLinks links,
    PodRemover remover,
    Supplier<InstallationKey> key) {

  /** Creates a sandbox under its lock, or returns the existing one. */
  Sandbox create(SandboxSpec spec, PodRuntime runtime) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Optional<PodSnapshot> there = pods.find(spec.id());
    Optional<Sandbox> existing = there.flatMap(pod -> links.attach(spec.id(), pod));
    if (existing.isPresent()) {
      return existing.get();
    }
    if (there.isPresent()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the pod of an earlier sandbox " + spec.id() + " remains",
              "destroy it first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    remover.removeOrphans();
    watch.start();
    PodPlan plan = plan(spec, runtime);
    objects.ensure(plan.agent());
    PodBoot boot = new PodBoot(pods.cluster(), pods.instance());
    byte[] record =
        boot.record(spec, key.get().secretOf(spec.id()), runtime.hasOwnKernel()).encode();
    try {
      PodSnapshot created = PodSnapshot.of(pods.cluster().createPod(plan.body(), deadline));
      PodSnapshot running = awaitRunning(spec.id(), created, deadline);
      boot.send(running.name(), spec.id(), record, deadline);
      AgentSandbox sandbox = links.open(spec.id(), running);
      runtime.verify(pods.cluster(), settings, running, sandbox);
      SandboxInitializer.initialize(sandbox, spec, deadline::left);
      return sandbox;
    } catch (RuntimeException e) {
      throw rollBack(spec, deadline, e);
    }
  }

  private PodPlan plan(SandboxSpec spec, PodRuntime runtime) {
    String image =
        spec.image()
            .or(settings::image)
            .orElseThrow(
                () ->
                    Capability.unsupported(
                        "kubernetes",
                        "a sandbox without an image (set one with the setting image)"));
    return new PodPlan(
        pods.instance(),
        settings,
        spec,
        image,
        AgentConfigMap.of(AgentConfigMap.ownArchitecture()),
        runtime == PodRuntime.GVISOR);
  }

  private PodSnapshot awaitRunning(SandboxId id, PodSnapshot created, Deadline deadline) {
    Optional<PodSnapshot> reached;
    try {
      reached =
          watch.await(
              id,
              created.uid(),
              pod ->
                  pod.running()
                      || pod.end().isPresent()
                      || pod.waiting().filter(PodSnapshot.Waiting::isError).isPresent(),
              deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the creation was cancelled", "create it again")
          .sandbox(id)
          .exception(e);
    }
    if (reached.isEmpty()) {
      throw PodBoot.tooLate(id, deadline, hindrance(created), null);
    }
    PodSnapshot pod = reached.get();
    if (pod.waiting().isPresent() && pod.waiting().get().isImageError()) {
      throw Fault.of(
              ErrorCode.IMAGE_NOT_FOUND,
              "the node cannot pull the image: " + pod.waiting().get(),
              "check its name, or the credentials of its registry (setting pull_secrets)")
          .sandbox(id)
          .exception();
    }
    if (!pod.running() || pod.end().isPresent()) {
      throw PodBoot.failed(
          id,
          pod.end().or(() -> pod.waiting().map(Object::toString)).orElse("its pod ended"),
          null);
    }
    return pod;
  }

  /** Returns what the cluster says about a pod that does not start. */
  private String hindrance(PodSnapshot created) {
    try {
      Optional<String> warning = pods.cluster().warning(created.uid());
      Optional<String> waiting =
          pods.cluster()
              .pod(created.name(), Cluster.soon())
              .map(PodSnapshot::of)
              .flatMap(PodSnapshot::waiting)
              .map(Object::toString);
      return warning
          .or(() -> waiting)
          .or(() -> watch.failure().map(why -> why.fault().problem()))
          .orElse("the cluster gives no reason");
    } catch (SandboxException e) {
      return e.fault().problem();
    }
  }

  /** Removes everything, after which the outcome is known: nothing was created. */
  private RuntimeException rollBack(SandboxSpec spec, Deadline deadline, RuntimeException e) {
    remover.cleanUp(spec.id(), e);
    if (!(e instanceof OutcomeUnknown unknown)) {
      return e;
    }
    return Fault.of(
            deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
            unknown.fault().problem(),
            unknown.fault().remedy())
        .sandbox(spec.id())
        .exception(e);
  }
}
