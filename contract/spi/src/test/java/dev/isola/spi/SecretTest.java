package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class SecretTest {

  private record Holder(String name, Secret secret) {}

  @Property(tries = 200)
  void neverPrints(@ForAll @AlphaChars @StringLength(min = 4, max = 64) String value) {
    Secret secret = Secret.of(value);

    assertThat(secret).hasToString("***");
    assertThat("" + secret + Optional.of(secret) + List.of(secret) + Map.of(1, secret))
        .doesNotContain(value);
    assertThat(new Holder("x", secret).toString()).doesNotContain(value);
    assertThat(String.format("%s", secret)).doesNotContain(value);
  }

  @Test
  void comparesByValueAndHidesItInTheHash() {
    assertThat(Secret.of("one")).isEqualTo(Secret.of("one".getBytes(StandardCharsets.UTF_8)));
    assertThat(Secret.of("one")).isNotEqualTo(Secret.of("two")).isNotEqualTo(Secret.of("one1"));
    assertThat(Secret.of("one")).hasSameHashCodeAs(Secret.of("two"));
  }

  @Test
  void copiesInAndOut() {
    byte[] value = {1, 2, 3};
    Secret secret = Secret.of(value);
    value[0] = 9;
    secret.reveal()[1] = 9;

    assertThat(secret.reveal()).containsExactly(1, 2, 3);
  }
}
