package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The objects of the kind {@code Sandbox} of the project agent-sandbox. Its controller creates one
 * pod of the same name for each, and another one whenever that pod is deleted. The agent of such a
 * replacement has no boot record, so it is not the sandbox: an annotation of the object names the
 * only pod that is, and it is written when the agent of that pod has been booted and verified.
 */
record SandboxResources(Cluster cluster, InstanceId instance, String provider) {
  static final String GROUP = "agents.x-k8s.io";
  static final Health.Unhealthy UNDEFINED =
      new Health.Unhealthy(
          "the cluster has no resource sandboxes." + GROUP + " of version v1beta1",
          "install agent-sandbox 1.0 or later, its controller included, or set mode to pods");

  private static final String VERSION = GROUP + "/v1beta1";

  /** Names the uid of the pod whose agent has the boot record. */
  private static final String BOOTED = "dev.isola.pod";

  private static final String REPLACED = "its pod was deleted";
  private static final String FAILED = "ReconcilerError";
  private static final int MAX_FAILURES = 3;
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration POLL = Duration.ofMillis(50);

  private String path() {
    return "/apis/" + VERSION + "/namespaces/" + cluster.namespace() + "/sandboxes";
  }

  private String name(SandboxId id) {
    return PodLabels.name(instance, id);
  }

  /** Tells whether the cluster has this kind of object. */
  boolean areDefined() {
    return cluster.client().get("/apis/" + VERSION, Cluster.soon()).stream()
        .flatMap(found -> found.at("resources").items().stream())
        .anyMatch(one -> one.text("name").equals("sandboxes"));
  }

  /** Returns the object with the pod of a plan as its template. */
  static Map<String, Object> body(PodPlan plan) {
    Map<String, Object> pod = plan.body();
    Map<String, String> labels =
        PodLabels.labels(plan.instance(), plan.settings().provider(), plan.spec());
    Map<String, String> annotations = PodLabels.annotations(plan.spec());
    return Json.object(
        "apiVersion",
        VERSION,
        "kind",
        "Sandbox",
        "metadata",
        Json.object(
            "name",
            PodLabels.name(plan.instance(), plan.spec().id()),
            "labels",
            labels,
            "annotations",
            annotations),
        "spec",
        Json.object(
            "operatingMode",
            "Running",
            "service",
            false,
            "podTemplate",
            Json.object(
                "metadata",
                Json.object("labels", labels, "annotations", annotations),
                "spec",
                Objects.requireNonNull(pod.get("spec")))));
  }

  /** Lets the API server check an object without creating it. */
  void check(PodPlan plan) {
    JsonValue accepted =
        cluster.client().create(path() + "?dryRun=All", body(plan), Cluster.soon());
    assert accepted.isObject();
  }

  /**
   * Creates the object and waits for its pod, which must be that of the plan.
   *
   * @throws Conflict if there is one of its name, and then only
   */
  PodSnapshot create(PodPlan plan, PodWatch watch, Deadline deadline) {
    SandboxId id = plan.spec().id();
    String uid = cluster.client().create(path(), body(plan), deadline).text("metadata", "uid");
    List<String> others = new ArrayList<>(); // of an earlier object of this name
    int failures = 0;
    while (true) {
      Optional<PodSnapshot> appeared = await(watch, id, others, deadline.within(LOOK));
      Optional<JsonValue> pod = cluster.pod(name(id), Cluster.soon());
      if (pod.filter(found -> owner(found).equals(uid)).isPresent()) {
        PodComparison.require(id, plan.body(), pod.get());
        return PodSnapshot.of(pod.get());
      }
      appeared.ifPresent(other -> others.add(other.uid()));
      String reason = reason(id);
      failures = reason.startsWith(FAILED) ? failures + 1 : 0;
      if (failures == MAX_FAILURES) {
        throw PodBoot.failed(id, "the controller of agent-sandbox made no pod, " + reason, null);
      }
      if (deadline.over()) {
        throw PodBoot.tooLate(
            id, deadline, "the controller of agent-sandbox made no pod, " + reason, null);
      }
    }
  }

  private static Optional<PodSnapshot> await(
      PodWatch watch, SandboxId id, List<String> others, Deadline deadline) {
    try {
      return watch.await(id, pod -> !others.contains(pod.uid()), deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the creation was cancelled", "create it again")
          .sandbox(id)
          .exception(e);
    }
  }

  private static String owner(JsonValue pod) {
    return pod.at("metadata", "ownerReferences").items().stream()
        .filter(one -> one.flag("controller"))
        .map(one -> one.text("uid"))
        .findFirst()
        .orElse("");
  }

  /** Returns what the controller reports about an object. */
  private String reason(SandboxId id) {
    return cluster.find(path(), name(id)).stream()
        .flatMap(found -> found.at("status", "conditions").items().stream())
        .filter(one -> one.text("type").equals("Ready"))
        .map(one -> PodSnapshot.bounded(one.text("reason") + ": " + one.text("message")))
        .findFirst()
        .orElse("and reports nothing: check that it runs");
  }

  /** Records which pod is the sandbox, before its creation succeeds. */
  void recordBoot(SandboxId id, PodSnapshot pod, Deadline deadline) {
    String owner =
        cluster
            .pod(pod.name(), deadline)
            .filter(now -> now.text("metadata", "uid").equals(pod.uid()))
            .map(SandboxResources::owner)
            .orElseThrow(() -> PodBoot.failed(id, "its pod was replaced while it started", null));
    Map<String, Object> change =
        Json.object(
            "metadata", Json.object("uid", owner, "annotations", Map.of(BOOTED, pod.uid())));
    try {
      if (cluster.client().patch(path() + "/" + name(id), change, deadline).isPresent()) {
        return;
      }
    } catch (Conflict another) {
      // It has been replaced.
    }
    throw PodBoot.failed(id, "its Sandbox was deleted while it started", null);
  }

  /** Returns the object of a sandbox. */
  Optional<JsonValue> find(SandboxId id) {
    return cluster
        .find(path(), name(id))
        .filter(found -> found.text("metadata", "labels", PodLabels.PROVIDER).equals(provider))
        .filter(found -> found.text("metadata", "labels", PodLabels.SANDBOX).equals(id.value()));
  }

  /** Returns the objects with these labels. */
  List<JsonValue> list(String selector) {
    return cluster.list(path(), selector);
  }

  /**
   * Returns a sandbox as its object and its pod describe it; empty if there is neither.
   *
   * @param resource read before the pod
   */
  static Optional<PodSnapshot> view(Optional<JsonValue> resource, Optional<PodSnapshot> pod) {
    if (resource.isEmpty()) {
      return pod.map(PodSnapshot::asUnbooted); // just made, or about to be removed
    }
    String booted = resource.get().text("metadata", "annotations", BOOTED);
    if (booted.isEmpty()) {
      return pod.map(PodSnapshot::asUnbooted).or(() -> resource.map(PodSnapshot::of));
    }
    return pod.filter(found -> found.uid().equals(booted))
        .map(PodSnapshot::asRunning)
        .or(() -> resource.map(found -> PodSnapshot.of(found).asEnded(REPLACED)));
  }

  /** Returns the sandboxes of all objects and of all pods. */
  static List<PodSnapshot> views(List<JsonValue> resources, List<PodSnapshot> pods) {
    Map<String, PodSnapshot> byName = new HashMap<>();
    pods.forEach(pod -> byName.put(pod.name(), pod));
    List<PodSnapshot> views = new ArrayList<>();
    for (JsonValue resource : resources) {
      Optional<PodSnapshot> pod =
          Optional.ofNullable(byName.remove(resource.text("metadata", "name")));
      view(Optional.of(resource), pod).ifPresent(views::add);
    }
    byName.values().forEach(pod -> view(Optional.empty(), Optional.of(pod)).ifPresent(views::add));
    return views;
  }

  /** Requests the removal of an object, and with it the end of its pod. */
  void delete(SandboxId id) {
    cluster.delete(path(), name(id));
  }

  /** Returns when the object is gone, which may take a finalizer of another program. */
  void awaitRemoval(SandboxId id, Deadline deadline) {
    if (!deadline.await(POLL, () -> find(id).isEmpty())) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "the Sandbox " + name(id) + " was not removed in time",
              "look for its finalizers with kubectl get sandbox -o yaml")
          .sandbox(id)
          .exception();
    }
  }

  /**
   * Removes the object of a sandbox whose pod was deleted, in the background, so that the
   * controller does not keep a pod for it. If that fails, the inventory shows that it has ended.
   */
  void ended(SandboxId id, PodSnapshot pod) {
    boolean deleted = pod.deleting() || pod.end().isEmpty();
    if (deleted && !pod.destroyed()) {
      Thread.ofVirtual().name("kubernetes-ended").start(() -> removeEnded(id, pod));
    }
  }

  private void removeEnded(SandboxId id, PodSnapshot pod) {
    try {
      Optional<JsonValue> found =
          find(id).filter(one -> one.text("metadata", "annotations", BOOTED).equals(pod.uid()));
      if (found.isPresent()) {
        Map<String, Object> sameObject = Map.of("uid", found.get().text("metadata", "uid"));
        Optional<JsonValue> deleted =
            cluster
                .client()
                .delete(
                    path() + "/" + name(id),
                    Json.object("propagationPolicy", "Background", "preconditions", sameObject),
                    Cluster.soon());
        assert deleted.isEmpty() || deleted.get().isObject();
      }
    } catch (SandboxException e) {
      // As documented.
    }
  }
}
