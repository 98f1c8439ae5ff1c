package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndedPodsTest {
  private static final SandboxId ID = new SandboxId("s1");

  private Instant now = Instant.EPOCH;
  private final EndedPods ended = new EndedPods(() -> now);

  private static PodSnapshot pod() throws Exception {
    return PodSnapshot.of(
        JsonValue.parse(
            "{\"metadata\":{\"name\":\"p1\",\"uid\":\"u1\"}}".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void causeIsShownUntilTheSandboxIsDestroyed() throws Exception {
    ended.add(ID, pod(), "its node was drained");
    List<InventoryItem> shown = ended.without(List.of());
    assertThat(shown).hasSize(1);
    assertThat(shown.getFirst().details())
        .containsEntry(InventoryItem.END_REASON, "its node was drained");
    assertThat(ended.without(shown)).as("a pod that the cluster still has").isEmpty();
    ended.remove(ID);
    assertThat(ended.without(List.of())).isEmpty();
  }

  @Test
  void causeIsForgottenAfterMinutes() throws Exception {
    ended.add(ID, pod(), "its pod was deleted");
    now = now.plus(Duration.ofMinutes(4));
    assertThat(ended.without(List.of())).hasSize(1);
    now = now.plus(Duration.ofMinutes(2));
    assertThat(ended.without(List.of())).isEmpty();
  }
}
