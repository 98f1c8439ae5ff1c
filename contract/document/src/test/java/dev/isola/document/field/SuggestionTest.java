package dev.isola.document.field;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  @Test
  void fewOfManyUnknownFieldsGetAHint() {
    Map<String, Object> document = new LinkedHashMap<>();
    for (int i = 0; i < 80_000; i++) {
      document.put("image_" + i, 1);
    }
    List<Violation> violations = new ArrayList<>();
    DocumentReader reader = DocumentReader.of(document, violations);
    reader.expect("image");
    reader.rejectUnknownFields();

    assertThat(violations).hasSize(80_000);
    assertThat(violations).filteredOn(one -> one.problem().contains("did you mean")).hasSize(50);
  }
}
