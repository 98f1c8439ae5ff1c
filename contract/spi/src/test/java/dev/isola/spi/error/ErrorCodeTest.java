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

/** E1, E2: every code has one exception type, one category and one HTTP status. */
class ErrorCodeTest {
  /** Clients and stored records rely on it: a row is added, never changed. */
  private static final String TABLE =
      """
      INVALID_REQUEST         InvalidRequest       CALLER    400
      INVALID_SPEC            InvalidRequest       CALLER    400
      PATH_OUTSIDE            InvalidRequest       CALLER    400
      NOT_A_FILE              InvalidRequest       CALLER    400
      NOT_A_FOLDER            InvalidRequest       CALLER    400
      IS_A_FOLDER             InvalidRequest       CALLER    400
      BAD_ARCHIVE             InvalidRequest       CALLER    400
      PERMISSION_DENIED       InvalidRequest       CALLER    400
      COMMAND_NOT_FOUND       InvalidRequest       CALLER    400
      COMMAND_NOT_EXECUTABLE  InvalidRequest       CALLER    400
      USER_NOT_FOUND          InvalidRequest       CALLER    400
      INIT_FAILED             InvalidRequest       CALLER    422
      UNAUTHENTICATED         Unauthenticated      CALLER    401
      FORBIDDEN               Forbidden            CALLER    403
      SANDBOX_NOT_FOUND       NotFound             CALLER    404
      PROVIDER_NOT_FOUND      NotFound             CALLER    404
      EXECUTION_NOT_FOUND     NotFound             CALLER    404
      FILE_NOT_FOUND          NotFound             CALLER    404
      PORT_NOT_OPEN           NotFound             CALLER    404
      IMAGE_NOT_FOUND         NotFound             CALLER    404
      SNAPSHOT_NOT_FOUND      NotFound             CALLER    404
      ROUTE_NOT_FOUND         NotFound             CALLER    404
      CONFLICT                Conflict             CALLER    409
      FILE_EXISTS             Conflict             CALLER    409
      FOLDER_NOT_EMPTY        Conflict             CALLER    409
      ILLEGAL_STATE           Conflict             CALLER    409
      UNSAVED_WORK            Conflict             CALLER    409
      SANDBOX_DESTROYED       Gone                 CALLER    410
      SNAPSHOT_DAMAGED        Gone                 CALLER    410
      RESOURCE_LIMIT          LimitExceeded        RESOURCE  429
      DISK_FULL               LimitExceeded        RESOURCE  507
      RATE_LIMITED            LimitExceeded        RESOURCE  429
      NOT_IMPLEMENTED         Unsupported          CALLER    501
      OUTCOME_UNKNOWN         OutcomeUnknown       PROVIDER  502
      PROVIDER_UNAVAILABLE    ProviderUnavailable  PROVIDER  503
      SPAWN_FAILED            ProviderUnavailable  PROVIDER  503
      EXEC_TIMEOUT            DeadlineExceeded     RESOURCE  504
      DEADLINE_EXCEEDED       DeadlineExceeded     RESOURCE  504
      CANCELLED               DeadlineExceeded     RESOURCE  504
      EXECUTION_FAILED        Internal             BUG       500
      INTERNAL                Internal             BUG       500
      """;

  static Stream<Arguments> rows() {
    return TABLE.lines().map(line -> Arguments.of((Object[]) line.split(" +")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void followsTheTable(String code, String type, Category category, int status) {
    SandboxException exception =
        Fault.of(ErrorCode.valueOf(code), "it failed", "try again").exception();

    assertThat(exception.getClass().getSimpleName()).isEqualTo(type);
    assertThat(exception.code()).hasToString(code);
    assertThat(exception.category()).isEqualTo(category);
    assertThat(exception.status()).isEqualTo(status);
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
