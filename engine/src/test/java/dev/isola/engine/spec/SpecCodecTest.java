package dev.isola.engine.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.spec.SandboxSpec;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The stored form of requests. */
class SpecCodecTest {
  private static final SandboxId ID = new SandboxId("box1");

  private static String stored(String image) {
    return SpecCodec.encode(
        CreateRequest.auto(
            SandboxSpec.builder(ID)
                .image(image)
                .secretEnv("KEY", Secret.of("planted-value"))
                .build()));
  }

  @Test
  void storedSpecIsDecodedOnce() {
    String text = stored("python");
    CreateRequest first = SpecCodec.decode(text, ID);
    assertThat(SpecCodec.decode(text, ID)).isSameAs(first);
    assertThat(SpecCodec.decode(new String(text.toCharArray()), ID)).isSameAs(first);
    assertThat(SpecCodec.secretNames(text, ID)).containsExactly("KEY");
    assertThat(text).doesNotContain("planted-value");
    assertThat(SpecCodec.decode(stored("node"), ID).spec().image()).contains("node");
  }

  @Test
  void textWithoutAnIdIsNotSharedBetweenSandboxes() {
    SandboxId other = new SandboxId("box2");
    assertThat(SpecCodec.decode("{}", ID).spec().id()).isEqualTo(ID);
    assertThat(SpecCodec.decode("{}", other).spec().id()).isEqualTo(other);
  }

  @Test
  void damagedSpecIsRefusedEveryTime() {
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(() -> SpecCodec.decode("{\"image\":1}", ID))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("box1");
    }
  }

  @Test
  void leastRecentlyUsedSpecsAreForgotten() {
    DecodedSpecs.Spec spec =
        new DecodedSpecs.Spec(CreateRequest.auto(SandboxSpec.builder(ID).build()), List.of());
    DecodedSpecs specs = new DecodedSpecs(160);
    List<String> texts = List.of("a".repeat(10), "b".repeat(10), "c".repeat(10));
    texts.forEach(text -> specs.add(text, spec));
    specs.add("x".repeat(11), spec);
    assertThat(specs.find("x".repeat(11))).as("too long").isEmpty();
    for (char letter = 'd'; letter < 'd' + 14; letter++) {
      assertThat(specs.find(texts.getFirst())).isPresent();
      specs.add(String.valueOf(letter).repeat(10), spec);
    }
    assertThat(specs.find(texts.get(0))).isPresent();
    assertThat(specs.find(texts.get(1))).isEmpty();
    assertThat(specs.find("q".repeat(10))).isPresent();
  }
}
