package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxState;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Causes that a test cluster cannot produce at will. */
class PodSnapshotTest {
  private static PodSnapshot pod(String status, String metadata) throws IOException {
    return PodSnapshot.of(
        JsonValue.parse(
            ("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"labels\":{\"dev.isola.sandbox\":\"s1\"}"
                    + metadata
                    + "},\"status\":"
                    + status
                    + "}")
                .getBytes(UTF_8)));
  }

  private static PodSnapshot pod(String status) throws IOException {
    return pod(status, "");
  }

  private static String container(String state) {
    return "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"sandbox\",\"state\":"
        + state
        + "}]}";
  }

  @Test
  void evictedPodNamesTheShortage() throws IOException {
    PodSnapshot pod =
        pod(
            "{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"The node was low on"
                + " resource: memory.\"}");
    assertThat(pod.state()).isEqualTo(SandboxState.ERROR);
    assertThat(pod.end()).contains("its pod ended, Evicted: The node was low on resource: memory.");
  }

  @Test
  void lostNodeIsTheCauseOfADeletion() throws IOException {
    PodSnapshot pod =
        pod(
            "{\"phase\":\"Running\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":"
                + "\"True\",\"reason\":\"DeletionByTaintManager\",\"message\":\"node lost\"}]}",
            ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
    assertThat(pod.state()).isEqualTo(SandboxState.TERMINATING);
    assertThat(pod.end()).contains("its pod was disrupted, DeletionByTaintManager: node lost");
  }

  /** An agent that is asked to stop exits with 0, which is not why it ended. */
  @Test
  void containerThatEndedBecauseItsPodWasDeletedIsNotTheCause() throws IOException {
    String deleted =
        ",\"deletionTimestamp\":\"2026-01-01T00:00:30Z\",\"deletionGracePeriodSeconds\":30";
    String ended = "{\"terminated\":{\"reason\":\"%s\",\"finishedAt\":\"2026-01-01T00:00:%s\"}}";
    assertThat(pod(container(ended.formatted("Completed", "01Z")), deleted).end())
        .contains("its pod was deleted");
    assertThat(pod(container(ended.formatted("OOMKilled", "01Z")), deleted).end().orElse(""))
        .contains("OOMKilled");
    String before = ended.formatted("Error", "01Z").replace("2026-01-01", "2025-12-31");
    assertThat(pod(container(before), deleted).end().orElse("")).contains("Error");
  }

  @Test
  void memoryKillIsRecognized() throws IOException {
    PodSnapshot pod =
        pod(container("{\"terminated\":{\"reason\":\"OOMKilled\",\"exitCode\":137}}"));
    assertThat(pod.outOfMemory()).isTrue();
    assertThat(pod.end().orElse("")).contains("OOMKilled with exit code 137");
  }

  @Test
  void runningContainerIsARunningSandbox() throws IOException {
    PodSnapshot pod = pod(container("{\"running\":{}}"));
    assertThat(pod.state()).isEqualTo(SandboxState.RUNNING);
    assertThat(pod.end()).isEmpty();
    assertThat(pod(container("{\"waiting\":{\"reason\":\"ContainerCreating\"}}")).waiting())
        .hasValueSatisfying(waiting -> assertThat(waiting.isError()).isFalse());
  }

  @Test
  void textsAreShortenedAndPlain() throws IOException {
    PodSnapshot pod =
        pod(
            container(
                "{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"a\\u001b\\n"
                    + "x".repeat(10_000)
                    + "\"}}"));
    assertThat(pod.waiting())
        .hasValueSatisfying(
            waiting -> {
              assertThat(waiting.isImageError()).isTrue();
              assertThat(waiting.message()).hasSizeLessThan(400).startsWith("a x");
            });
  }

  @Test
  void documentOfAnotherShapeIsHarmless() throws IOException {
    PodSnapshot pod = PodSnapshot.of(JsonValue.parse("[1]".getBytes(UTF_8)));
    assertThat(pod.sandbox()).isEmpty();
    assertThat(pod.state()).isEqualTo(SandboxState.CREATING);
  }
}
