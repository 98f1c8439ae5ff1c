package dev.isola.compat.e2b.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import org.junit.jupiter.api.Test;

class E2bErrorTest {
  @Test
  void startupFailureMessageContainsCommandAndOutput() {
    Fault fault =
        Fault.of(ErrorCode.INIT_FAILED, "the start command failed", "correct it")
            .with("command", "python3 server.py")
            .with("output", "python3: not found\n")
            .with("startOutput", "");
    E2bError error = E2bError.control(fault);
    assertThat(error.status()).isEqualTo(422);
    assertThat(error.body())
        .containsEntry(
            "message",
            """
            the start command failed (correct it)
            command: python3 server.py
            output: python3: not found\
            """);
  }

  @Test
  void otherErrorMessagesDoNotContainTheContext() {
    Fault fault = Fault.of(ErrorCode.INTERNAL, "failed", "").with("output", "hidden");
    assertThat(E2bError.control(fault).body()).containsEntry("message", "failed");
  }
}
