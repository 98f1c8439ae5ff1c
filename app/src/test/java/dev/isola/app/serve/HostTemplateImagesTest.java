package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.image.ImageStore;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostTemplateImagesTest {
  @Test
  void validNamesAreKept() {
    assertThat(HostTemplateImages.name("python:3.14")).isEqualTo("python:3.14");
    assertThat(HostTemplateImages.name("registry.example/team/app:1.0"))
        .isEqualTo("registry.example/team/app:1.0");
  }

  /** "Aa" and "BB" have the same hash code, so a short hash would not tell them apart. */
  @Test
  void twoLongReferencesNeverShareAnImage() {
    String prefix = "registry.example/" + "a".repeat(70);
    List<String> names =
        List.of(
                prefix + "/Aa:1",
                prefix + "/BB:1",
                prefix + "/AaAa:1",
                prefix + "/BBBB:1",
                prefix + "/AaBB:1",
                prefix + ":1",
                prefix + "@sha256:" + "0".repeat(64),
                prefix + "@sha256:" + "0".repeat(63) + "1")
            .stream()
            .map(HostTemplateImages::name)
            .toList();
    assertThat(names).doesNotHaveDuplicates().allMatch(ImageStore::isValidName);
  }
}
