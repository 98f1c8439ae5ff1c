package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentConnector;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Boots the agent of a new pod, as soon as an event tells that its container has started. The
 * status of the pod tells it up to a second later, because the kubelet asks its runtime once a
 * second. Events may be lost, so there are rare attempts without one.
 */
record PodStart(Cluster cluster, PodWatch watch, PodBoot boot) {
  /** How long to wait for an event before an attempt without one. */
  private static final Duration UNREPORTED = Duration.ofSeconds(1);

  /** The first pause after a failed attempt in a container that runs. */
  private static final Duration BUSY = Duration.ofMillis(50);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(2);

  /**
   * A pod whose agent runs.
   *
   * @param connector whose first connection exists already
   */
  record Started(PodSnapshot pod, AgentConnector connector) {}

  /** Returns when the agent serves. */
  Started start(SandboxId id, PodSnapshot created, byte[] record, Deadline deadline) {
    PodSnapshot pod = awaitNode(id, created, deadline);
    Duration pause = UNREPORTED;
    boolean ran = false;
    String hindrance = "";
    while (true) {
      if (!pod.running() || ran) {
        pod = awaitChange(id, pod, deadline.within(pause));
      }
      requireStarting(id, pod);
      if (deadline.over()) {
        throw PodBoot.tooLate(id, deadline, pod.running() ? hindrance : reason(created), null);
      }
      PodExecConnector connector = new PodExecConnector(cluster, pod.name(), pod.uid());
      switch (boot.send(pod.name(), id, record, deadline)) {
        case PodBoot.Attempt.Booted booted -> {
          return new Started(pod, new BootedConnector(booted.channel(), connector));
        }
        case PodBoot.Attempt.BootedBefore _ -> {
          return new Started(pod, connector);
        }
        case PodBoot.Attempt.NotYet why -> hindrance = why.reason();
      }
      pause = pod.running() && !ran ? BUSY : longer(pause);
      ran = pod.running();
    }
  }

  private static Duration longer(Duration pause) {
    Duration longer = pause.multipliedBy(5).dividedBy(4);
    return longer.compareTo(MAX_PAUSE) > 0 ? MAX_PAUSE : longer;
  }

  private PodSnapshot awaitNode(SandboxId id, PodSnapshot created, Deadline deadline) {
    PodSnapshot pod =
        await(id, created, now -> !now.node().isEmpty() || now.hasFailed(), deadline)
            .orElseThrow(() -> PodBoot.tooLate(id, deadline, reason(created), null));
    requireStarting(id, pod);
    return pod;
  }

  /** Returns when the pod begins to run, fails, or at the deadline. */
  private PodSnapshot awaitChange(SandboxId id, PodSnapshot before, Deadline deadline) {
    return await(
            id, before, now -> now.hasFailed() || (now.running() && !before.running()), deadline)
        .orElse(before);
  }

  private Optional<PodSnapshot> await(
      SandboxId id, PodSnapshot pod, Predicate<PodSnapshot> condition, Deadline deadline) {
    try {
      return watch.await(id, pod.uid(), condition, deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the creation was cancelled", "create it again")
          .sandbox(id)
          .exception(e);
    }
  }

  private static void requireStarting(SandboxId id, PodSnapshot pod) {
    if (pod.waiting().filter(PodSnapshot.Waiting::isImageError).isPresent()) {
      throw Fault.of(
              ErrorCode.IMAGE_NOT_FOUND,
              "the node cannot pull the image: " + pod.waiting().get(),
              "check its name, or the credentials of its registry (setting pull_secrets)")
          .sandbox(id)
          .exception();
    }
    if (pod.hasFailed()) {
      throw PodBoot.failed(
          id,
          pod.end().or(() -> pod.waiting().map(Object::toString)).orElse("its pod ended"),
          null);
    }
  }

  /** Returns what the cluster says about a pod that does not start. */
  private String reason(PodSnapshot created) {
    try {
      Optional<String> warning = cluster.warning(created.uid());
      Optional<String> waiting =
          cluster
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
}
