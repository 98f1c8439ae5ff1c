package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentSandbox;
import dev.isola.link.InstallationKey;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates sandboxes: everything or nothing. */
record PodCreator(
    KubernetesSettings settings,
    SandboxPods pods,
    NamespaceObjects objects,
    Optional<WorkspaceClaims> claims,
    PodWatch watch,
    PodLinks links,
    PodRemover remover,
    Supplier<InstallationKey> key) {

  /** The API server refuses a create that changes a quota at the same time as another one. */
  private static final int ATTEMPTS = 3;

  /** Creates a sandbox under its lock, or returns the existing one. */
  Sandbox create(SandboxSpec spec, PodIsolation isolation) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    remover.removeOrphans(deadline);
    PodPlan plan = plan(spec, isolation);
    for (int attempt = 1; ; attempt++) {
      try {
        byte[] record = record(spec, isolation);
        return start(spec, isolation, post(plan, record, deadline), record, deadline);
      } catch (Conflict e) {
        Optional<Sandbox> existing = existing(spec.id());
        if (existing.isPresent()) {
          return existing.get();
        }
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /**
   * Creates the pod, and its claim before it.
   *
   * @throws Conflict if there is one of its name, and then only
   */
  private PodSnapshot post(PodPlan plan, byte[] record, Deadline deadline) {
    boolean claimed = false;
    try {
      if (claims.isPresent()) {
        claims.get().create(plan.spec(), StoredPod.of(plan, record), deadline);
        claimed = true;
      }
      return pods.resources().isPresent()
          ? pods.resources().get().create(plan, watch, deadline)
          : PodSnapshot.of(pods.cluster().createPod(plan.body(), deadline));
    } catch (Conflict there) {
      if (claimed) {
        claims.get().remove(plan.spec().id(), false, deadline);
      }
      throw there;
    } catch (RuntimeException e) {
      throw rollBack(plan.spec(), deadline, e);
    }
  }

  private byte[] record(SandboxSpec spec, PodIsolation isolation) {
    return new PodBoot(pods.cluster(), pods.instance())
        .record(spec, key.get().secretOf(spec.id()), isolation.runtime().hasOwnKernel())
        .encode();
  }

  /** Returns the sandbox of this id; empty if there is none, or if it has ended. */
  Optional<Sandbox> attach(SandboxId id) {
    Optional<StoredPod> stopped =
        claims.filter(all -> all.stoppedPod(id).isPresent()).flatMap(all -> all.find(id));
    return stopped.isPresent()
        ? Optional.of(links.attachStopped(id, stopped.get().described()))
        : pods.find(id).flatMap(pod -> links.attach(id, pod));
  }

  /** Returns the sandbox of this id that another process created; empty if there is none. */
  private Optional<Sandbox> existing(SandboxId id) {
    Optional<Sandbox> existing = attach(id);
    boolean there = pods.find(id).isPresent() || claims.filter(all -> all.exists(id)).isPresent();
    if (there && existing.isEmpty()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the pod or the claim of an earlier sandbox " + id + " remains",
              "destroy it first, or use another id")
          .sandbox(id)
          .exception();
    }
    return existing;
  }

  private Sandbox start(
      SandboxSpec spec,
      PodIsolation isolation,
      PodSnapshot created,
      byte[] record,
      Deadline deadline) {
    try {
      PodBoot boot = new PodBoot(pods.cluster(), pods.instance());
      PodStart.Started started =
          new PodStart(pods.cluster(), watch, boot).start(spec.id(), created, record, deadline);
      AgentSandbox sandbox = links.open(spec.id(), started);
      isolation.verify(pods.cluster(), settings, started.pod(), sandbox);
      pods.resources().ifPresent(all -> all.recordBoot(spec.id(), started.pod(), deadline));
      SandboxInitializer.initialize(sandbox, spec, deadline::left);
      return sandbox;
    } catch (RuntimeException e) {
      throw rollBack(spec, deadline, e);
    }
  }

  private PodPlan plan(SandboxSpec spec, PodIsolation isolation) {
    String image =
        spec.image()
            .or(settings::image)
            .orElseThrow(
                () ->
                    Capability.unsupported(
                        "kubernetes",
                        "a sandbox without an image (set one with the setting image)"));
    return new PodPlan(pods.instance(), settings, spec, image, objects.ensure(), isolation);
  }

  /** Removes everything, after which the outcome is known: nothing was created. */
  private RuntimeException rollBack(SandboxSpec spec, Deadline deadline, RuntimeException e) {
    objects.forget();
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
