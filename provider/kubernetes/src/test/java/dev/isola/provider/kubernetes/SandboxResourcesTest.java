package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sandboxes as objects of agent-sandbox: what is created, and what their pods may be. */
class SandboxResourcesTest {
  private static final SandboxId ID = new SandboxId("s1");
  private static final KubernetesSettings SETTINGS =
      KubernetesSettings.of(new ProviderConfig(Map.of("mode", "agent-sandbox")));
  private static final PodPlan PLAN =
      new PodPlan(
          new InstanceId("i1"),
          SETTINGS,
          SandboxSpec.builder(ID).build(),
          "image",
          AgentConfigMap.of(new InstanceId("i1"), AgentConfigMap.ownArchitecture()),
          new PodIsolation(PodRuntime.HOST_KERNEL, true));

  private static JsonValue json(String text) {
    try {
      return JsonValue.parse(text.getBytes(UTF_8));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonValue resource(String booted) {
    return json(
        """
        {"metadata": {"name": "p", "uid": "r", "labels": {"dev.isola.sandbox": "s1"},
         "annotations": {"dev.isola.pod": "%s"}}}
        """
            .formatted(booted));
  }

  private static PodSnapshot pod(String uid) {
    return PodSnapshot.of(
        json(
            """
            {"metadata": {"name": "p", "uid": "%s", "labels": {"dev.isola.sandbox": "s1"}},
             "status": {"phase": "Running",
              "containerStatuses": [{"name": "sandbox", "state": {"running": {}}}]}}
            """
                .formatted(uid)));
  }

  private static Optional<SandboxState> state(Optional<JsonValue> resource, String pod) {
    return SandboxResources.view(resource, pod.isEmpty() ? Optional.empty() : Optional.of(pod(pod)))
        .map(PodSnapshot::state);
  }

  @Test
  void onlyThePodWithTheBootRecordRuns() {
    assertThat(state(Optional.of(resource("u1")), "u1")).contains(SandboxState.RUNNING);
    assertThat(state(Optional.of(resource("u1")), "u2")).contains(SandboxState.ERROR);
    assertThat(state(Optional.of(resource("u1")), "")).contains(SandboxState.ERROR);
    assertThat(state(Optional.of(resource("")), "u1")).contains(SandboxState.CREATING);
    assertThat(state(Optional.of(resource("")), "")).contains(SandboxState.CREATING);
    assertThat(state(Optional.empty(), "u1")).contains(SandboxState.CREATING);
    assertThat(state(Optional.empty(), "")).isEmpty();
  }

  @Test
  void replacedPodIsTheCause() {
    assertThat(
            SandboxResources.view(Optional.of(resource("u1")), Optional.of(pod("u2")))
                .flatMap(PodSnapshot::end))
        .contains("its pod was deleted");
  }

  @Test
  void objectsAndPodsAreListedOnce() {
    assertThat(SandboxResources.views(List.of(resource("u1")), List.of(pod("u1")))).hasSize(1);
    assertThat(SandboxResources.views(List.of(resource("u1")), List.of())).hasSize(1);
    assertThat(SandboxResources.views(List.of(), List.of(pod("u1")))).hasSize(1);
  }

  @Test
  void templateIsThePodOfThePlan() {
    JsonValue body = json(Json.text(SandboxResources.body(PLAN)));
    JsonValue pod = json(Json.text(PLAN.body()));

    assertThat(body.text("apiVersion")).isEqualTo("agents.x-k8s.io/v1beta1");
    assertThat(body.at("spec", "podTemplate", "spec")).hasToString(pod.at("spec").toString());
    for (String member : List.of("labels", "annotations")) {
      assertThat(body.at("spec", "podTemplate", "metadata", member))
          .hasToString(pod.at("metadata", member).toString());
    }
    assertThat(body.at("spec", "service")).hasToString("false");
  }

  @Test
  void modesDoNotShareSandboxes() {
    assertThat(SETTINGS.provider()).isEqualTo("agent-sandbox");
    assertThat(KubernetesSettings.of(new ProviderConfig(Map.of())).provider())
        .isEqualTo("kubernetes");
    assertThatThrownBy(() -> KubernetesSettings.of(new ProviderConfig(Map.of("mode", "vm"))))
        .hasMessageContaining("mode");
  }

  /** The pod as an API server stores it, with a change. */
  private static JsonValue stored(String from, String to) {
    String planned = Json.text(PLAN.body());
    String stored =
        planned
            .replace("\"readOnly\":false", "\"recursiveReadOnly\":null")
            .replace("\"cpu\":\"1000m\"", "\"cpu\":\"1\"")
            .replace("\"memory\":\"1024Mi\"", "\"memory\":\"1Gi\"")
            .replace("\"restartPolicy\"", "\"schedulerName\":\"default\",\"restartPolicy\"");
    assertThat(stored).isNotEqualTo(planned);
    String changed = stored.replace(from, to);
    assertThat(changed).as("the change").isNotEqualTo(stored);
    return json(changed);
  }

  private static void assertRefused(String from, String to, String reason) {
    assertThatThrownBy(() -> PodComparison.require(ID, PLAN.body(), stored(from, to)))
        .isInstanceOfSatisfying(
            SandboxException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE))
        .hasMessageContaining(reason);
  }

  @Test
  void podThatTheClusterChangedIsRefused() {
    PodComparison.require(ID, PLAN.body(), stored("\"hostname\"", "\"priority\":0,\"hostname\""));

    assertRefused("\"hostUsers\":false", "\"hostUsers\":true", "hostUsers is true");
    assertRefused("\"hostUsers\":false", "\"x\":1", "hostUsers is null");
    assertRefused("\"hostname\"", "\"hostNetwork\":true,\"hostname\"", "hostNetwork is true");
    assertRefused(
        "\"containers\":[", "\"containers\":[{\"name\":\"proxy\"},", "containers has 2 items");
    assertRefused(
        "\"hostname\"", "\"initContainers\":[{\"name\":\"i\"}],\"hostname\"", "initContainers");
    assertRefused("\"image\":\"image\"", "\"image\":\"other\"", "image is \"other\"");
    assertRefused("--boot-listen", "--listen", "command[1]");
    assertRefused("[\"ALL\"]", "[]", "drop has 0 items");
    assertRefused(
        "\"privileged\":false",
        "\"privileged\":false,\"seccompProfile\":{\"type\":\"Unconfined\"}",
        "securityContext.seccompProfile");
    assertRefused("\"type\":\"RuntimeDefault\"", "\"type\":\"Unconfined\"", "seccompProfile.type");
    assertRefused("\"volumes\":[", "\"volumes\":[{\"name\":\"h\",\"hostPath\":{}},", "volumes has");
  }
}
