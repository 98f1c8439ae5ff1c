package dev.isola.spi.error;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** E1, E2: an error has a code, sandbox, time, context, cause and remedy. */
class FaultTest {

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void theMessageSaysWhatHappenedAndWhatToDoNext(ErrorCode code) {
    assertThat(Fault.of(code, "the disk is full", "remove some files").exception())
        .hasMessage("the disk is full; remove some files");
  }

  @Test
  void messageWithoutARemedyIsTheProblem() {
    assertThat(Fault.of(ErrorCode.INTERNAL, "it broke", "").exception()).hasMessage("it broke");
  }

  @Test
  void exceptionCarriesAllFields() {
    IOException cause = new IOException("pipe");
    Instant before = Instant.now();
    SandboxException exception =
        Fault.of(ErrorCode.RESOURCE_LIMIT, "too large", "split it")
            .sandbox(new SandboxId("box1"))
            .with("resource", "file size")
            .with("limit", "10")
            .with("actual", "11")
            .exception(cause);

    assertThat(exception).isInstanceOf(LimitExceeded.class).hasCause(cause);
    assertThat(exception.sandbox()).contains(new SandboxId("box1"));
    assertThat(exception.context())
        .containsExactly(
            Map.entry("resource", "file size"),
            Map.entry("limit", "10"),
            Map.entry("actual", "11"));
    assertThat(exception.at()).isBetween(before, Instant.now());
    assertThat(exception.fault().remedy()).isEqualTo("split it");
  }

  @Test
  void theContextCannotBeChanged() {
    Map<String, String> context = new HashMap<>(Map.of("a", "1"));
    Fault fault =
        new Fault(ErrorCode.INTERNAL, "what", "remedy", Optional.empty(), context, Instant.EPOCH);
    context.put("b", "2");

    assertThat(fault.context()).containsOnlyKeys("a");
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> fault.context().put("c", "3"));
  }
}
