package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NearMissTest {
  private static final List<String> NAMES =
      List.of("image", "env", "cwd", "workspacePath", "workspaceMount", "cpu", "memory", "gpus");

  @ParameterizedTest
  @CsvSource({
    "imgae,image",
    "Image,image",
    "images,image",
    "envs,env",
    "ENV,env",
    "workspace_path,workspacePath",
    "workspace-mount,workspaceMount",
    "memoryMB,memory",
    "cpuCount,cpu",
    "mem,memory",
    "gpu,gpus"
  })
  void guesses(String wrong, String meant) {
    assertThat(NearMiss.of(wrong, NAMES)).contains(meant);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "colour", "x", "timeout", "xyzw"})
  void doesNotGuessWildly(String wrong) {
    assertThat(NearMiss.of(wrong, NAMES)).isEmpty();
  }

  @Test
  void doesNotLookAtWhatIsTooLongToBeAName() {
    assertThat(NearMiss.of("image".repeat(1000), NAMES)).isEmpty();
    assertThat(NearMiss.of("image", List.of())).isEmpty();
  }

  @Test
  void aHintIsTheEndOfASentence() {
    assertThat(NearMiss.hint("imgae", NAMES)).isEqualTo(", did you mean 'image'?");
    assertThat(NearMiss.hint("colour", NAMES)).isEmpty();
  }
}
