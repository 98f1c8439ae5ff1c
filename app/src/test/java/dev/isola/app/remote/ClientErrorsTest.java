package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.server.error.ErrorStatus;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** E1, A1: the exceptions of the SDK match those of the contract. Only this module sees both. */
class ClientErrorsTest {
  private static IsolaException thrown(String code, int status) {
    return new Problem(code, "CALLER", status, "it", "", Optional.empty(), "", Map.of())
        .exception();
  }

  @ParameterizedTest
  @EnumSource
  void everyContractCodeMapsToTheClassOfTheSameName(ErrorCode code) {
    SandboxException there = Fault.of(code, "it", "").exception();
    // A status that maps to no class, so that only the code decides.
    assertThat(thrown(code.name(), 418).getClass().getSimpleName())
        .isEqualTo(there.getClass().getSimpleName());
  }

  @ParameterizedTest
  @EnumSource
  void statusDecidesForUnknownCodes(ErrorCode code) {
    SandboxException there = Fault.of(code, "it", "").exception();
    assertThat(thrown("SOMETHING_NEW", ErrorStatus.of(code)).getClass().getSimpleName())
        .isEqualTo(there.getClass().getSimpleName());
  }

  @ParameterizedTest
  @EnumSource
  void sdkRetriesWhatTheContractAllows(ErrorCode code) {
    assertThat(thrown(code.name(), ErrorStatus.of(code)).isRetryable())
        .isEqualTo(code.isRetryable());
  }

  @Test
  void exceptionClassesMatchTheContract() {
    List<String> here = names(IsolaException.class);
    assertThat(here).isNotEmpty().isEqualTo(names(SandboxException.class));
  }

  private static List<String> names(Class<?> root) {
    return Stream.of(root.getPermittedSubclasses()).map(Class::getSimpleName).sorted().toList();
  }

  @ParameterizedTest
  @EnumSource
  void commandLineKeepsEveryCode(ErrorCode code) {
    assertThat(RemoteFault.of(thrown(code.name(), ErrorStatus.of(code))).code()).isEqualTo(code);
  }
}
