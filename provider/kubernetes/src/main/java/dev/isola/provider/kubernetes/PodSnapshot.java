package dev.isola.provider.kubernetes;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A pod as the API server described it at one moment. Texts of the cluster are shortened.
 *
 * @param phase as Kubernetes names it
 * @param hostUsers whether root of the pod is root of its node
 * @param deleting whether its end was requested
 * @param destroyed whether a process of Isola requested its end
 * @param running whether the agent's process runs
 * @param waiting why the container does not run yet; empty if the cluster gives no reason
 * @param end how it ended; empty while it has not
 * @param outOfMemory whether the kernel killed the agent for lack of memory
 */
record PodSnapshot(
    String name,
    String uid,
    Optional<SandboxId> sandbox,
    Instant createdAt,
    String phase,
    String node,
    String runtimeClass,
    boolean hostUsers,
    boolean deleting,
    boolean destroyed,
    boolean running,
    Optional<Waiting> waiting,
    Optional<String> end,
    boolean outOfMemory,
    boolean shortLived,
    Map<String, String> annotations) {
  private static final int MAX_TEXT = 300;

  /** In seconds; what a cluster reports beyond is not used. */
  private static final int MAX_GRACE = 86_400;

  /** Reasons for which Kubernetes retries forever; a create fails at the first of them. */
  private static final Set<String> IMAGE_ERRORS =
      Set.of(
          "ErrImagePull",
          "ImagePullBackOff",
          "InvalidImageName",
          "ErrImageNeverPull",
          "ImageInspectError",
          "RegistryUnavailable",
          "SignatureValidationFailed");

  private static final Set<String> START_ERRORS =
      Set.of(
          "CreateContainerConfigError",
          "CreateContainerError",
          "RunContainerError",
          "CrashLoopBackOff");

  /** Why a container does not run yet. */
  record Waiting(String reason, String message) {
    boolean isImageError() {
      return IMAGE_ERRORS.contains(reason);
    }

    boolean isError() {
      return isImageError() || START_ERRORS.contains(reason);
    }

    @Override
    public String toString() {
      return message.isEmpty() ? reason : reason + ": " + message;
    }
  }

  static PodSnapshot of(JsonValue pod) {
    JsonValue metadata = pod.at("metadata");
    JsonValue labels = metadata.at("labels");
    JsonValue container = container(pod);
    String id = labels.text(PodLabels.SANDBOX);
    Map<String, String> annotations = new LinkedHashMap<>();
    for (String name : Set.of(PodLabels.TIMEOUT, PodLabels.FILTERED, PodLabels.FOLDERS)) {
      metadata.at("annotations").optionalText(name).ifPresent(text -> annotations.put(name, text));
    }
    return new PodSnapshot(
        metadata.text("name"),
        metadata.text("uid"),
        SandboxId.isValid(id) ? Optional.of(new SandboxId(id)) : Optional.empty(),
        instant(metadata.text("creationTimestamp")),
        pod.text("status", "phase"),
        pod.text("spec", "nodeName"),
        pod.text("spec", "runtimeClassName"),
        !pod.at("spec", "hostUsers").toString().equals("false"),
        metadata.has("deletionTimestamp"),
        metadata.number("deletionGracePeriodSeconds") == PodPlan.DESTROY_GRACE_SECONDS,
        container.at("state", "running").isObject(),
        waiting(pod, container),
        end(pod, container),
        container.text("state", "terminated", "reason").equals("OOMKilled"),
        labels.has(PodLabels.SHORT_LIVED),
        Map.copyOf(annotations));
  }

  private static JsonValue container(JsonValue pod) {
    return pod.at("status", "containerStatuses").items().stream()
        .filter(one -> one.text("name").equals(PodPlan.CONTAINER))
        .findFirst()
        .orElseGet(() -> pod.at("no such member"));
  }

  private static Optional<Waiting> waiting(JsonValue pod, JsonValue container) {
    JsonValue waiting = container.at("state", "waiting");
    if (waiting.isObject()) {
      return Optional.of(
          new Waiting(bounded(waiting.text("reason")), bounded(waiting.text("message"))));
    }
    return condition(pod, "PodScheduled", "False")
        .map(why -> new Waiting(bounded(why.text("reason")), bounded(why.text("message"))));
  }

  private static Optional<JsonValue> condition(JsonValue pod, String type, String status) {
    return pod.at("status", "conditions").items().stream()
        .filter(one -> one.text("type").equals(type) && one.text("status").equals(status))
        .findFirst();
  }

  /** Prefers what the cluster did to the pod (evicted, node lost) over how the process ended. */
  private static Optional<String> end(JsonValue pod, JsonValue container) {
    JsonValue terminated = container.at("state", "terminated");
    String phase = pod.text("status", "phase");
    boolean ended = terminated.isObject() || phase.equals("Failed") || phase.equals("Succeeded");
    Optional<String> disruption =
        condition(pod, "DisruptionTarget", "True")
            .map(why -> bounded(why.text("reason") + ": " + why.text("message")));
    boolean deleting = pod.at("metadata").has("deletionTimestamp");
    if (!ended && !deleting) {
      return Optional.empty();
    }
    if (disruption.isPresent()) {
      return Optional.of("its pod was disrupted, " + disruption.get());
    }
    Optional<String> reason = pod.at("status").optionalText("reason");
    if (reason.isPresent()) {
      return Optional.of(
          "its pod ended, " + bounded(reason.get() + ": " + pod.text("status", "message")));
    }
    if (terminated.isObject() && !(deleting && isAfterRequest(pod, terminated))) {
      return Optional.of(
          "its pod ended, "
              + bounded(
                  terminated.text("reason")
                      + " with exit code "
                      + terminated.number("exitCode")
                      + " "
                      + terminated.text("message")));
    }
    return Optional.of(deleting ? "its pod was deleted" : "its pod is " + bounded(phase));
  }

  /**
   * Returns whether a container ended after its pod was to be deleted, and therefore because of
   * that, unless the kernel killed it for lack of memory.
   */
  private static boolean isAfterRequest(JsonValue pod, JsonValue terminated) {
    JsonValue metadata = pod.at("metadata");
    Instant requested =
        instant(metadata.text("deletionTimestamp"))
            .minusSeconds(Math.clamp(metadata.number("deletionGracePeriodSeconds"), 0, MAX_GRACE));
    return !terminated.text("reason").equals("OOMKilled")
        && !instant(terminated.text("finishedAt")).isBefore(requested);
  }

  /**
   * Returns a moment before the first command of a pod, by the clock of its node, and after its
   * image was unpacked; if the node has not reported it, one before all files.
   */
  static Instant before(JsonValue pod) {
    Instant started = instant(container(pod).text("state", "running", "startedAt"));
    return started.isAfter(Instant.EPOCH) ? started.minusSeconds(1) : Instant.ofEpochSecond(1);
  }

  private static Instant instant(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException unknown) {
      return Instant.EPOCH;
    }
  }

  static String bounded(String text) {
    String plain = text.replaceAll("\\p{Cntrl}+", " ").strip();
    return plain.length() > MAX_TEXT ? plain.substring(0, MAX_TEXT) + "..." : plain;
  }

  /** Returns the pod with the information that its container has started. */
  PodSnapshot asRunning() {
    return with(true, end);
  }

  /** Returns the pod as one whose agent has not been booted. */
  PodSnapshot asUnbooted() {
    return with(false, end);
  }

  /** Returns the pod as one that has ended, unless it has ended anyway. */
  PodSnapshot asEnded(String cause) {
    return with(false, end.or(() -> Optional.of(cause)));
  }

  private PodSnapshot with(boolean nowRunning, Optional<String> ended) {
    return new PodSnapshot(
        name,
        uid,
        sandbox,
        createdAt,
        phase,
        node,
        runtimeClass,
        hostUsers,
        deleting,
        destroyed,
        nowRunning,
        waiting,
        ended,
        outOfMemory,
        shortLived,
        annotations);
  }

  /** Tells whether the pod has ended, or cannot start. */
  boolean hasFailed() {
    return end.isPresent() || waiting.filter(Waiting::isError).isPresent();
  }

  SandboxState state() {
    if (deleting) {
      return SandboxState.TERMINATING;
    }
    if (end.isPresent()) {
      return SandboxState.ERROR;
    }
    return running ? SandboxState.RUNNING : SandboxState.CREATING;
  }

  Optional<Duration> commandTimeout() {
    return Optional.ofNullable(annotations.get(PodLabels.TIMEOUT))
        .filter(text -> text.matches("[0-9]{1,15}"))
        .map(text -> Duration.ofMillis(Long.parseLong(text)));
  }
}
