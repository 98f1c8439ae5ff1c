package dev.isola.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.EgressRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G2: the presets of Isola and of the operator. */
class PresetReaderTest {
  @TempDir Path folder;

  private Map<String, List<EgressRule>> read(String yaml) throws IOException {
    Path file = Files.writeString(folder.resolve("presets.yaml"), yaml);
    return PresetReader.read(Optional.of(file));
  }

  @Test
  void operatorReplacesAndAdds() throws IOException {
    Map<String, List<EgressRule>> presets =
        read("github: [mirror.example]\nmodels: [{allow: api.example, ports: [443]}]\n");

    assertThat(presets.get("github")).containsExactly(EgressRule.allow("mirror.example"));
    assertThat(presets.get("models")).hasSize(1);
    assertThat(presets.get("package-registries"))
        .extracting(EgressRule::destination)
        .contains("pypi.org", "registry.npmjs.org");
    assertThat(presets.get("none")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"[]", "a: b", "a: [b c]", "a: [{allow: x.example, port: 1}]", "a: [", "a: {b: c}"})
  void invalidFileIsRefused(String yaml) {
    assertThatThrownBy(() -> read(yaml))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("presets.yaml");
  }

  @Test
  void missingFileIsRefused() {
    assertThatThrownBy(() -> PresetReader.read(Optional.of(folder.resolve("none.yaml"))))
        .isInstanceOf(InvalidRequest.class);
  }
}
