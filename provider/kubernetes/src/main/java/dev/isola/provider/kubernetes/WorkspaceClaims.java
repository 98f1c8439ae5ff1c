package dev.isola.provider.kubernetes;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.link.InstallationKey;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The claims with the workspaces of sandboxes. A claim also has what is needed to create the pod
 * again, encrypted. A config map of the same name marks a sandbox as stopped, so that every process
 * of the instance sees the same; it names the pod that was stopped.
 */
record WorkspaceClaims(
    Cluster cluster,
    KubernetesSettings.Storage storage,
    InstanceId instance,
    String provider,
    Supplier<InstallationKey> key) {
  private static final String WORKSPACE = "workspace";
  private static final String STOPPED = "stopped";
  private static final String POD = "dev.isola.pod";
  private static final String STORED_POD = "dev.isola.stored-pod";
  private static final int HASH = 24;
  private static final Duration POLL = Duration.ofMillis(50);

  /** The API server limits all annotations of an object to 256 KiB. */
  private static final int MAX_STORED = 200_000;

  /** How long a claim without a pod may belong to a sandbox that is being created. */
  private static final Duration CREATION = Duration.ofMinutes(1);

  /** Returns the name of the claim of a sandbox. */
  static String name(InstanceId instance, SandboxId id) {
    return "isola-" + instance + "-w-" + Sha256.hex(id.value()).substring(0, HASH);
  }

  private String name(SandboxId id) {
    return name(instance, id);
  }

  private Secret secret(SandboxId id) {
    return key.get().secretOf(id, StoredPod.PURPOSE);
  }

  /**
   * Creates the claim of a sandbox.
   *
   * @throws Conflict if there is one of its name
   */
  void create(SandboxSpec spec, StoredPod pod, Deadline deadline) {
    String stored = pod.seal(secret(spec.id()), instance, spec.id());
    if (stored.length() > MAX_STORED) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the environment of sandbox "
                  + spec.id()
                  + " is too large for the annotation of a claim: "
                  + stored.length()
                  + " of "
                  + MAX_STORED
                  + " bytes",
              "use a smaller environment, or the setting workspace=ephemeral")
          .sandbox(spec.id())
          .exception();
    }
    Map<String, Object> size = Map.of("requests", Map.of("storage", storage.size()));
    Map<String, Object> claim =
        Json.object("accessModes", List.of(storage.accessMode()), "resources", size);
    storage.storageClass().ifPresent(found -> claim.put("storageClassName", found));
    JsonValue created =
        cluster
            .client()
            .create(
                cluster.claims(),
                Json.object(
                    "apiVersion",
                    "v1",
                    "kind",
                    "PersistentVolumeClaim",
                    "metadata",
                    metadata(spec.id(), WORKSPACE, Map.of(STORED_POD, stored)),
                    "spec",
                    claim),
                deadline);
    assert created.isObject();
  }

  private Map<String, Object> metadata(SandboxId id, String kind, Map<String, String> annotations) {
    Map<String, String> labels = new LinkedHashMap<>(PodLabels.ofInstance(instance));
    labels.put(PodLabels.SANDBOX, id.value());
    labels.put(PodLabels.PROVIDER, provider);
    labels.put(ClaimVolumes.KIND, kind);
    return Json.object("name", name(id), "labels", labels, "annotations", annotations);
  }

  /** Tells whether an object is that of a sandbox: clients of the cluster may edit its labels. */
  private boolean isOf(JsonValue object, SandboxId id) {
    JsonValue metadata = object.at("metadata");
    return metadata.text("name").equals(name(id))
        && metadata.text("labels", PodLabels.INSTANCE).equals(instance.value())
        && metadata.text("labels", PodLabels.PROVIDER).equals(provider)
        && metadata.text("labels", PodLabels.SANDBOX).equals(id.value());
  }

  private Optional<JsonValue> claim(SandboxId id) {
    return cluster.find(cluster.claims(), name(id)).filter(found -> isOf(found, id));
  }

  /** Tells whether a sandbox has a claim, which may be about to be removed. */
  boolean exists(SandboxId id) {
    return claim(id).isPresent();
  }

  /**
   * Returns what the claim of a sandbox has; empty if there is no claim.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it is not what this instance stored
   */
  Optional<StoredPod> find(SandboxId id) {
    return claim(id).map(found -> stored(id, found));
  }

  private StoredPod stored(SandboxId id, JsonValue claim) {
    try {
      String text = claim.at("metadata", "annotations").text(STORED_POD);
      return StoredPod.unseal(text, secret(id), instance, id);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the claim "
                  + name(id)
                  + " of sandbox "
                  + id
                  + " cannot be used: the description of its pod was changed, or this server has"
                  + " another key",
              "use the key of the server that created it (setting key_file), or destroy the"
                  + " sandbox")
          .sandbox(id)
          .exception(e);
    }
  }

  /** Returns the uid of the pod whose sandbox was stopped; empty if it is not stopped. */
  Optional<String> stoppedPod(SandboxId id) {
    return cluster
        .find(cluster.configMaps(), name(id))
        .filter(found -> isOf(found, id))
        .map(found -> found.at("metadata", "annotations").text(POD));
  }

  /** Records that a sandbox is stopped. Nothing of its pod is needed any more. */
  void markStopped(SandboxId id, String pod) {
    cluster.ensure(
        cluster.configMaps(),
        name(id),
        Json.object(
            "apiVersion",
            "v1",
            "kind",
            "ConfigMap",
            "metadata",
            metadata(id, STOPPED, Map.of(POD, pod)),
            "immutable",
            true));
  }

  /** Records that a sandbox runs. */
  void unmark(SandboxId id) {
    if (stoppedPod(id).isPresent()) {
      cluster.delete(cluster.configMaps(), name(id));
    }
  }

  /**
   * Removes the claim of a sandbox, whose pod is gone, and returns when the cluster has done so.
   */
  void remove(SandboxId id, boolean force, Deadline deadline) {
    unmark(id);
    if (!exists(id)) {
      return;
    }
    cluster.delete(cluster.claims(), name(id));
    if (!force && !deadline.await(POLL, () -> !exists(id))) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "the cluster did not remove the claim "
                  + name(id)
                  + " of sandbox "
                  + id
                  + " within "
                  + deadline.whole().toMillis()
                  + " ms",
              "see kubectl describe persistentvolumeclaim " + name(id))
          .sandbox(id)
          .exception();
    }
  }

  /**
   * Returns an inventory of pods with the stopped sandboxes and with the claims that have no pod.
   *
   * @param ended sandboxes whose end is known, which need no item for their claim
   */
  List<InventoryItem> addTo(
      List<InventoryItem> pods, List<InventoryItem> ended, InstantSource clock) {
    Map<SandboxId, InventoryItem> items = new LinkedHashMap<>();
    pods.forEach(item -> items.put(item.id(), item));
    Map<SandboxId, JsonValue> marks = list(cluster.configMaps(), STOPPED);
    Map<SandboxId, JsonValue> claims = list(cluster.claims(), WORKSPACE);
    Set<SandboxId> explained = ended.stream().map(InventoryItem::id).collect(Collectors.toSet());
    claims.forEach(
        (id, claim) -> {
          if (marks.containsKey(id)) {
            items.put(id, item(id, claim, SandboxState.STOPPED));
          } else if (!items.containsKey(id) && !explained.contains(id)) {
            items.put(id, item(id, claim, withoutPod(claim, clock.instant())));
          }
        });
    return List.copyOf(items.values());
  }

  private static SandboxState withoutPod(JsonValue claim, Instant now) {
    if (claim.at("metadata").has("deletionTimestamp")) {
      return SandboxState.TERMINATING;
    }
    return createdAt(claim).plus(CREATION).isAfter(now)
        ? SandboxState.CREATING
        : SandboxState.ERROR;
  }

  private Map<SandboxId, JsonValue> list(String list, String kind) {
    Map<SandboxId, JsonValue> found = new HashMap<>();
    String selector = PodLabels.selector(instance, provider) + "," + ClaimVolumes.KIND + "=" + kind;
    for (JsonValue object : cluster.list(list, selector)) {
      String id = object.text("metadata", "labels", PodLabels.SANDBOX);
      if (SandboxId.isValid(id) && isOf(object, new SandboxId(id))) {
        found.put(new SandboxId(id), object);
      }
    }
    return found;
  }

  private InventoryItem item(SandboxId id, JsonValue claim, SandboxState state) {
    Map<String, String> details = new LinkedHashMap<>();
    details.put("claim", name(id));
    details.put("namespace", cluster.namespace());
    if (state == SandboxState.ERROR) {
      details.put(InventoryItem.END_REASON, "its pod is gone, and only its claim remains");
    }
    return new InventoryItem(id, state, createdAt(claim), details);
  }

  private static Instant createdAt(JsonValue object) {
    try {
      return Instant.parse(object.text("metadata", "creationTimestamp"));
    } catch (DateTimeParseException unknown) {
      return Instant.EPOCH;
    }
  }
}
