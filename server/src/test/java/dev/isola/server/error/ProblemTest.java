package dev.isola.server.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** E2: every error is a problem with a remedy, and its status follows from its code. */
class ProblemTest {

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void problemOfEveryCodeHasAllFields(ErrorCode code) {
    Problem problem =
        Problem.of(
            Fault.of(code, "it failed", "do that")
                .sandbox(new SandboxId("box1"))
                .with("path", "/x")
                .exception(),
            "r1");

    assertThat(problem.status()).isEqualTo(ErrorStatus.of(code)).isBetween(400, 599);
    assertThat(problem.body())
        .containsEntry("type", "urn:isola:error:" + code.name())
        .containsEntry("status", ErrorStatus.of(code))
        .containsEntry("detail", "it failed")
        .containsEntry("code", code.name())
        .containsEntry("category", code.category().name())
        .containsEntry("remedy", "do that")
        .containsEntry("requestId", "r1")
        .containsEntry("sandbox", "box1")
        .containsKeys("title", "context");
  }

  @Test
  void internalErrorDisclosesOnlyTheRequestId() {
    Problem problem = Problem.of(new IllegalStateException("the secret is swordfish"), "r2");

    assertThat(problem.status()).isEqualTo(500);
    assertThat(problem.body()).containsEntry("requestId", "r2").containsEntry("code", "INTERNAL");
    assertThat(problem.body().toString())
        .doesNotContain("swordfish")
        .doesNotContain("IllegalState");
  }

  @Test
  void faultWithoutRemedyGetsADefault() {
    assertThat(Problem.of(Fault.of(ErrorCode.CANCELLED, "ended", ""), "r3").body())
        .containsEntry("remedy", "try again");
  }
}
