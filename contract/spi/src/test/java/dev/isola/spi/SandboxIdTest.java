package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P2: ids can be part of a host name. */
class SandboxIdTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "0", "box1", "abcdefghijklmnopqrstuvwxyz012345"})
  void acceptsLowerCaseLettersAndDigits(String text) {
    assertThat(new SandboxId(text)).hasToString(text);
    assertThat(new InstanceId(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "A",
        "a-b",
        "a_b",
        "a.b",
        "é",
        "٣",
        "a b",
        "a\0",
        "0123456789012345678901234567890123"
      })
  void rejectsInvalidIds(String text) {
    assertThat(SandboxId.isValid(text)).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new SandboxId(text))
        .withMessageContaining("use 1 to 32 lower-case letters and digits");
    assertThatIllegalArgumentException().isThrownBy(() -> new InstanceId(text));
  }

  @Test
  void randomIdsAreValidAndDiffer() {
    Random random = new Random(7);
    Set<SandboxId> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      seen.add(SandboxId.random(random));
    }

    assertThat(seen).hasSize(10_000);
    assertThat(seen).allSatisfy(id -> assertThat(id.value()).matches("[a-z0-9]{20}"));
  }

  @Test
  void randomIdsComeFromTheGeneratorAlone() {
    assertThat(SandboxId.random(new Random(3))).isEqualTo(SandboxId.random(new Random(3)));
  }

  @Test
  void sortsByText() {
    assertThat(
            List.of(new SandboxId("b"), new SandboxId("a1"), new SandboxId("a")).stream().sorted())
        .map(SandboxId::value)
        .containsExactly("a", "a1", "b");
  }
}
