package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SecretTest {

  private record Holder(String name, Secret secret) {}

  static LongStream seeds() {
    return Generator.seeds(200);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void neverPrints(long seed) {
    String value = new Generator(seed).text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", 4, 64);
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
