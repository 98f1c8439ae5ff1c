package dev.isola.provider.kubernetes;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.InstanceId;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Named volumes as persistent volume claims. The name of a claim is a hash, because names of
 * volumes distinguish upper case and may be longer; an annotation has the name.
 */
record ClaimVolumes(Cluster cluster, KubernetesSettings.Storage storage, InstanceId instance)
    implements Volumes {
  static final String KIND = "dev.isola.kind";
  static final String VOLUME = "volume";
  static final String NAME = "dev.isola.volume";

  private static final int HASH = 24;
  private static final Duration REMOVAL = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(50);

  /** Returns the name of the claim for a volume. */
  static String claim(InstanceId instance, String name) {
    return "isola-" + instance + "-v-" + Sha256.hex(name).substring(0, HASH);
  }

  @Override
  public void create(String name) {
    requireValid(name);
    Optional<JsonValue> there = find(name);
    if (there.isPresent() && isEnding(there.get())) {
      throw inUse(name, "it is being destroyed", "retry when it is gone");
    }
    if (there.isEmpty()) {
      cluster.ensure(cluster.claims(), claim(instance, name), body(name));
    }
  }

  @Override
  public List<String> list() {
    return cluster.list(cluster.claims(), selector()).stream()
        .filter(claim -> !isEnding(claim))
        .map(claim -> claim.at("metadata", "annotations").text(NAME))
        .filter(VolumeMount::isValidName)
        .sorted()
        .toList();
  }

  @Override
  public void destroy(String name) {
    requireValid(name);
    Optional<JsonValue> claim = find(name);
    if (claim.isEmpty()) {
      return;
    }
    Optional<String> user = user(claim(instance, name));
    if (user.isPresent()) {
      throw inUse(name, "pod " + user.get() + " mounts it", "destroy its sandbox first");
    }
    cluster.delete(cluster.claims(), claim(instance, name));
    Deadline deadline = Deadline.in(REMOVAL);
    String uid = claim.get().text("metadata", "uid");
    if (!deadline.await(
        POLL, () -> find(name).filter(now -> now.text("metadata", "uid").equals(uid)).isEmpty())) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "the cluster did not remove volume " + name + " within " + REMOVAL.toSeconds() + " s",
              "see kubectl describe persistentvolumeclaim " + claim(instance, name))
          .exception();
    }
  }

  private Optional<JsonValue> find(String name) {
    return cluster.find(cluster.claims(), claim(instance, name));
  }

  private static boolean isEnding(JsonValue claim) {
    return claim.at("metadata").has("deletionTimestamp");
  }

  /** Returns a pod of this instance that mounts a claim. */
  private Optional<String> user(String claim) {
    return cluster.list(cluster.pods(), PodLabels.INSTANCE + "=" + instance).stream()
        .filter(
            pod ->
                pod.at("spec", "volumes").items().stream()
                    .anyMatch(
                        volume -> volume.text("persistentVolumeClaim", "claimName").equals(claim)))
        .map(pod -> pod.text("metadata", "name"))
        .findFirst();
  }

  private String selector() {
    return PodLabels.INSTANCE + "=" + instance + "," + KIND + "=" + VOLUME;
  }

  private Map<String, Object> body(String name) {
    Map<String, String> labels = new LinkedHashMap<>(PodLabels.ofInstance(instance));
    labels.put(KIND, VOLUME);
    Map<String, Object> spec =
        Json.object(
            "accessModes",
            List.of(storage.accessMode()),
            "resources",
            Map.of("requests", Map.of("storage", storage.size())));
    storage.storageClass().ifPresent(found -> spec.put("storageClassName", found));
    return Json.object(
        "apiVersion",
        "v1",
        "kind",
        "PersistentVolumeClaim",
        "metadata",
        Json.object(
            "name", claim(instance, name), "labels", labels, "annotations", Map.of(NAME, name)),
        "spec",
        spec);
  }

  private static void requireValid(String name) {
    if (!VolumeMount.isValidName(name)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + name + "' is not a valid volume name",
              "use at most 128 letters, digits, . _ and -")
          .exception();
    }
  }

  private static SandboxException inUse(String name, String why, String remedy) {
    return Fault.of(ErrorCode.CONFLICT, "volume " + name + " cannot be used: " + why, remedy)
        .exception();
  }
}
