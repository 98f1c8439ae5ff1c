package dev.isola.spi.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * E1, E2: every code determines its exception type, its category, whether another provider may be
 * tried and whether the call may be retried.
 */
class ErrorCodeTest {
  /** Clients and stored records rely on it: add rows, never change them. */
  private static final String TABLE =
      """
      INVALID_REQUEST         InvalidRequest       CALLER    -         -
      INVALID_SPEC            InvalidRequest       CALLER    -         -
      PATH_OUTSIDE            InvalidRequest       CALLER    -         -
      NOT_A_FILE              InvalidRequest       CALLER    -         -
      NOT_A_FOLDER            InvalidRequest       CALLER    -         -
      IS_A_FOLDER             InvalidRequest       CALLER    -         -
      BAD_ARCHIVE             InvalidRequest       CALLER    -         -
      PERMISSION_DENIED       InvalidRequest       CALLER    -         -
      COMMAND_NOT_FOUND       InvalidRequest       CALLER    -         -
      COMMAND_NOT_EXECUTABLE  InvalidRequest       CALLER    -         -
      USER_NOT_FOUND          InvalidRequest       CALLER    -         -
      INIT_FAILED             InvalidRequest       CALLER    -         -
      BUILD_FAILED            InvalidRequest       CALLER    -         -
      UNAUTHENTICATED         Unauthenticated      CALLER    -         -
      FORBIDDEN               Forbidden            CALLER    -         -
      SANDBOX_NOT_FOUND       NotFound             CALLER    -         -
      PROVIDER_NOT_FOUND      NotFound             CALLER    -         -
      EXECUTION_NOT_FOUND     NotFound             CALLER    -         -
      FILE_NOT_FOUND          NotFound             CALLER    -         -
      PORT_NOT_OPEN           NotFound             CALLER    -         -
      IMAGE_NOT_FOUND         NotFound             CALLER    -         -
      SNAPSHOT_NOT_FOUND      NotFound             CALLER    -         -
      VOLUME_NOT_FOUND        NotFound             CALLER    -         -
      TEMPLATE_NOT_FOUND      NotFound             CALLER    -         -
      KEY_NOT_FOUND           NotFound             CALLER    -         -
      SECRET_NOT_FOUND        NotFound             CALLER    -         -
      ROUTE_NOT_FOUND         NotFound             CALLER    -         -
      METHOD_NOT_ALLOWED      InvalidRequest       CALLER    -         -
      CONFLICT                Conflict             CALLER    -         -
      FILE_EXISTS             Conflict             CALLER    -         -
      FOLDER_NOT_EMPTY        Conflict             CALLER    -         -
      ILLEGAL_STATE           Conflict             CALLER    -         -
      UNSAVED_WORK            Conflict             CALLER    -         -
      SANDBOX_DESTROYED       Gone                 CALLER    -         -
      SNAPSHOT_DAMAGED        Gone                 CALLER    -         -
      RESOURCE_LIMIT          LimitExceeded        RESOURCE  fallback  repeat
      DISK_FULL               LimitExceeded        RESOURCE  fallback  -
      RATE_LIMITED            LimitExceeded        RESOURCE  fallback  repeat
      NOT_IMPLEMENTED         Unsupported          CALLER    -         -
      OUTCOME_UNKNOWN         OutcomeUnknown       PROVIDER  -         -
      PROVIDER_UNAVAILABLE    ProviderUnavailable  PROVIDER  fallback  repeat
      SPAWN_FAILED            ProviderUnavailable  PROVIDER  fallback  -
      EXEC_TIMEOUT            DeadlineExceeded     RESOURCE  -         -
      DEADLINE_EXCEEDED       DeadlineExceeded     RESOURCE  fallback  -
      CANCELLED               DeadlineExceeded     RESOURCE  -         -
      EXECUTION_FAILED        Internal             BUG       -         -
      INTERNAL                Internal             BUG       -         -
      """;

  static Stream<Arguments> rows() {
    return TABLE.lines().map(line -> Arguments.of((Object[]) line.split(" +")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void followsTheTable(
      String code, String type, Category category, String fallback, String repeat) {
    SandboxException exception =
        Fault.of(ErrorCode.valueOf(code), "it failed", "try again").exception();

    assertThat(exception.getClass().getSimpleName()).isEqualTo(type);
    assertThat(exception.code()).hasToString(code);
    assertThat(exception.category()).isEqualTo(category);
    assertThat(exception.code().allowsFallback()).isEqualTo(fallback.equals("fallback"));
    assertThat(exception.code().isRetryable()).isEqualTo(repeat.equals("repeat"));
  }

  @Test
  void everyCodeIsInTheTable() {
    List<String> listed = TABLE.lines().map(line -> line.split(" +")[0]).toList();

    assertThat(listed)
        .containsExactlyElementsOf(Arrays.stream(ErrorCode.values()).map(Enum::name).toList());
  }

  @Test
  void everyTypeHasACode() {
    Set<String> made = TABLE.lines().map(line -> line.split(" +")[1]).collect(Collectors.toSet());

    assertThat(SandboxException.class.getPermittedSubclasses())
        .extracting(Class::getSimpleName)
        .containsExactlyInAnyOrderElementsOf(made);
  }
}
