package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SuggestionTest {
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
  void suggestsSimilarNames(String wrong, String meant) {
    assertThat(Suggestion.closest(wrong, NAMES)).contains(meant);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "colour", "x", "timeout", "xyzw"})
  void doesNotSuggestDistantNames(String wrong) {
    assertThat(Suggestion.closest(wrong, NAMES)).isEmpty();
  }

  @Test
  void ignoresLongInput() {
    assertThat(Suggestion.closest("image".repeat(1000), NAMES)).isEmpty();
    assertThat(Suggestion.closest("image", List.of())).isEmpty();
  }

  @Test
  void hintIsAMessageSuffix() {
    assertThat(Suggestion.hint("imgae", NAMES)).isEqualTo(", did you mean 'image'?");
    assertThat(Suggestion.hint("colour", NAMES)).isEmpty();
  }
}
